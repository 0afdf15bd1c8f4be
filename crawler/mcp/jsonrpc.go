package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxDepth is how deep a message may nest, in objects and arrays. An input
// schema takes two levels for each of its own, so this leaves about sixty.
const MaxDepth = 128

const (
	maxBatch     = 1000 // messages of one array that are read
	maxFaults    = 20   // faults kept of one message
	maxClip      = 200  // bytes of server text quoted in a fault or an error
	maxVersions  = 64   // revisions read from a list
	maxStringLen = 256  // bytes of a revision, a name, a version
)

// ReadMessages reads one JSON-RPC message or an array of them by the rules of
// JSON-RPC 2.0 (https://www.jsonrpc.org/specification). Member names are
// compared exactly: "Result" is an unknown member, not the result. Of a member
// that occurs twice the last is used, as every other reading in this module
// does, and the fault is kept.
//
// The faults returned beside the messages are those that belong to none of
// them; no message at all comes back for what is not JSON or nests too deep.
// The messages hold parts of data, which must not be changed afterwards.
func ReadMessages(data []byte) ([]*Message, []Fault) {
	var faults []Fault
	if rest, found := bytes.CutPrefix(data, []byte("\xef\xbb\xbf")); found {
		faults = append(faults, Fault{FaultEncoding, "the text starts with a byte order mark"})
		data = rest
	}
	data = bytes.Trim(data, " \t\r\n")
	if !utf8.Valid(data) {
		faults = append(faults, Fault{FaultEncoding, "the text holds bytes that are not UTF-8"})
	}
	if depthOf(data) > MaxDepth {
		return nil, append(faults, Fault{FaultDepth, fmt.Sprintf("nested deeper than %d levels, not read", MaxDepth)})
	}
	if !json.Valid(data) {
		return nil, append(faults, Fault{FaultNotJSON, fmt.Sprintf("not JSON: %s", quote(data))})
	}
	if data[0] != '[' {
		return []*Message{readMessage(data)}, faults
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return nil, append(faults, Fault{FaultNotJSON, err.Error()})
	}
	faults = append(faults, Fault{FaultBatch, fmt.Sprintf("an array of %d messages", len(parts))})
	if len(parts) > maxBatch {
		faults = append(faults, Fault{FaultTruncated, fmt.Sprintf("only the first %d messages of the array are read", maxBatch)})
		parts = parts[:maxBatch]
	}
	messages := make([]*Message, 0, len(parts))
	for _, part := range parts {
		messages = append(messages, readMessage(part))
	}
	return messages, faults
}

// readMessage reads one message from valid JSON within MaxDepth.
func readMessage(raw []byte) *Message {
	m := &Message{Raw: raw}
	if len(raw) == 0 || raw[0] != '{' {
		m.null = string(raw) == "null"
		m.fault(FaultShape, "the message is not an object: "+quote(raw))
		return m
	}
	members, order := walkObject(raw, m)
	for _, name := range order {
		switch name {
		case "jsonrpc", "id", "method", "params", "result", "error":
		default:
			m.fault(FaultUnknown, fmt.Sprintf("member %q", clip(name)))
		}
	}
	version, versioned := members["jsonrpc"]
	m.versioned = versioned
	if text, ok := stringOf(version); !ok || text != "2.0" {
		if versioned {
			m.fault(FaultVersion, "jsonrpc is "+quote(version))
		} else {
			m.fault(FaultVersion, "jsonrpc is missing")
		}
	}
	if id, ok := members["id"]; ok {
		m.ID = id
		if kind := kindOf(id); kind != 's' && kind != 'n' && kind != '0' {
			m.fault(FaultIDType, "id is "+quote(id))
		}
	}
	m.Params = members["params"]
	m.Result = members["result"]
	failure, failed := members["error"]
	if method, ok := members["method"]; ok {
		if m.Method, ok = stringOf(method); !ok || m.Method == "" {
			m.fault(FaultShape, "method is "+quote(method))
		}
		if m.Method != "" {
			return m
		}
	}
	if failed {
		m.readError(failure)
	}
	switch {
	case m.Result != nil && failed:
		m.fault(FaultBoth, "result and error are both present")
	case m.Result == nil && !failed:
		m.fault(FaultNeither, "neither result nor error is present")
	}
	return m
}

// readError keeps what can be used of an error member. Anything but null makes
// the message an error: a caller must not take it for a success.
func (m *Message) readError(raw json.RawMessage) {
	if kindOf(raw) == '0' {
		m.fault(FaultError, "error is null")
		return
	}
	e := &RPCError{}
	m.Error = e
	object, ok := Object(raw)
	if !ok {
		e.Message, _ = stringOf(raw)
		m.fault(FaultError, "error is not an object: "+quote(raw))
		return
	}
	e.Data = object["data"]
	code, exact, ok := integerOf(object["code"])
	e.Code = code
	if !ok || !exact {
		m.fault(FaultError, "the error's code is "+quoteOrMissing(object["code"]))
	}
	if e.Message, ok = stringOf(object["message"]); !ok {
		m.fault(FaultError, "the error's message is "+quoteOrMissing(object["message"]))
	}
}

func (m *Message) fault(kind, detail string) {
	if len(m.Faults) < maxFaults {
		m.Faults = append(m.Faults, Fault{kind, detail})
	}
}

// walkObject returns the members of an object and their names in order, and
// notes each member that occurs twice, at any depth.
func walkObject(raw []byte, m *Message) (map[string]json.RawMessage, []string) {
	type level struct {
		object bool
		key    bool // the next string is a member name
		name   string
		seen   map[string]bool
	}
	members := map[string]json.RawMessage{}
	var order []string
	var stack []level
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var start int64
	closed := func(end int64) { // a value ended inside the top of the stack
		if len(stack) == 0 {
			return
		}
		top := &stack[len(stack)-1]
		if top.object {
			top.key = true
		}
		if len(stack) == 1 {
			members[top.name] = bytes.TrimLeft(raw[start:end], " \t\r\n:")
		}
	}
	for {
		token, err := dec.Token()
		if err != nil { // io.EOF: the caller has seen that raw is valid
			return members, order
		}
		switch v := token.(type) {
		case json.Delim:
			switch v {
			case '{':
				stack = append(stack, level{object: true, key: true, seen: map[string]bool{}})
			case '[':
				stack = append(stack, level{})
			default:
				stack = stack[:len(stack)-1]
				closed(dec.InputOffset())
			}
		case string:
			if top := &stack[len(stack)-1]; top.key {
				top.key, top.name = false, v
				if top.seen[v] {
					path := make([]string, 0, len(stack))
					for _, l := range stack {
						if l.object {
							path = append(path, l.name)
						}
					}
					m.fault(FaultDuplicate, fmt.Sprintf("member %q occurs twice", clip(strings.Join(path, "."))))
				} else if len(stack) == 1 {
					order = append(order, v)
				}
				top.seen[v] = true
				if len(stack) == 1 {
					start = dec.InputOffset()
				}
				continue
			}
			closed(dec.InputOffset())
		default:
			closed(dec.InputOffset())
		}
	}
}

// depthOf counts how deep brackets nest outside strings. It runs before any
// recursive reader sees the text, valid or not.
func depthOf(data []byte) int {
	depth, deepest, inString := 0, 0, false
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// Object returns the members of a JSON object by exact name, of a repeated one
// the last, and false for anything else. Readers of results use it instead of
// struct fields, which encoding/json would match without case.
func Object(raw json.RawMessage) (map[string]json.RawMessage, bool) {
	if kindOf(raw) != '{' {
		return nil, false
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil, false
	}
	return members, true
}

// kindOf names a JSON value by its first byte: s string, n number, b boolean,
// 0 null, { object, [ array, and a space for nothing.
func kindOf(raw json.RawMessage) byte {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return ' '
	}
	switch c := raw[0]; c {
	case '"':
		return 's'
	case 't', 'f':
		return 'b'
	case 'n':
		return '0'
	case '{', '[':
		return c
	default:
		return 'n'
	}
}

func stringOf(raw json.RawMessage) (string, bool) {
	if kindOf(raw) != 's' {
		return "", false
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// stringList keeps the strings of a list, at most maxVersions of at most
// maxStringLen bytes.
func stringList(raw json.RawMessage) []string {
	if kindOf(raw) != '[' {
		return nil
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		return nil
	}
	var list []string
	for _, part := range parts {
		if s, ok := stringOf(part); ok && len(s) <= maxStringLen && len(list) < maxVersions {
			list = append(list, s)
		}
	}
	return list
}

// clip shortens server text to maxClip bytes without cutting a character.
func clip(s string) string {
	if len(s) <= maxClip {
		return s
	}
	cut := maxClip
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// quote shows bytes of the server as one escaped line.
func quote(raw []byte) string {
	if len(raw) > maxClip+utf8.UTFMax {
		raw = raw[:maxClip+utf8.UTFMax]
	}
	return fmt.Sprintf("%q", clip(string(raw)))
}

func quoteOrMissing(raw json.RawMessage) string {
	if raw == nil {
		return "missing"
	}
	return quote(raw)
}
