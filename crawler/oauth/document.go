package oauth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Bounds of a metadata document.
const (
	maxDocument = 256 << 10 // bytes
	maxDepth    = 32
	maxList     = 64   // strings of a list
	maxString   = 2048 // bytes of a string that is kept
)

// document is a JSON object with exact member names: encoding/json would take
// "Issuer" for "issuer" when it fills a struct.
type document struct {
	members map[string]json.RawMessage
	faults  []Fault
}

// errTooDeep is a bound of this reader and no fault of the JSON.
var errTooDeep = fmt.Errorf("nested deeper than %d levels", maxDepth)

// readDocument reads one object and nothing after it. Of a member that occurs
// twice the last is used, as most readers do, and the fault is kept.
func readDocument(data []byte) (*document, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("not UTF-8")
	}
	if !json.Valid(data) {
		return nil, errors.New("not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	doc := &document{members: map[string]json.RawMessage{}}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, errors.New("not JSON")
		}
		key, _ := name.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, errors.New("not JSON")
		}
		if depth(value) > maxDepth {
			return nil, errTooDeep
		}
		if _, twice := doc.members[key]; twice {
			doc.fault(true, "member twice: %s", clip(key))
		}
		doc.members[key] = value
	}
	return doc, nil
}

// depth is how deep valid JSON nests.
func depth(raw []byte) int {
	deepest, at, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			at++
			deepest = max(deepest, at)
		case c == '}' || c == ']':
			at--
		}
	}
	return deepest
}

func (d *document) fault(broken bool, format string, args ...any) {
	if len(d.faults) < maxList {
		d.faults = append(d.faults, Fault{Text: fmt.Sprintf(format, args...), Broken: broken})
	}
}

// raw is a member that is there and not null.
func (d *document) raw(name string) (json.RawMessage, bool) {
	raw, ok := d.members[name]
	return raw, ok && string(raw) != "null"
}

// text is a member that is a string, "" otherwise.
func (d *document) text(name string) string {
	raw, ok := d.raw(name)
	if !ok {
		return ""
	}
	var s string
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		d.fault(true, "%s is not a string", name)
		return ""
	}
	if len(s) > maxString {
		d.fault(true, "%s is over %d bytes", name, maxString)
		return ""
	}
	return s
}

// list is a member that is a list of strings, each once in its first place.
// given says that the member is there at all.
func (d *document) list(name string) (out []string, given bool) {
	raw, ok := d.raw(name)
	if !ok {
		return nil, false
	}
	var items []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &items) != nil {
		d.fault(true, "%s is not a list", name)
		return nil, true
	}
	if len(items) > maxList {
		d.fault(false, "%s has %d items, of which %d are read", name, len(items), maxList)
		items = items[:maxList]
	}
	seen := map[string]bool{}
	for _, item := range items {
		var s string
		if item[0] != '"' || json.Unmarshal(item, &s) != nil || len(s) > maxString {
			d.fault(true, "%s holds an item that is not a short string", name)
			continue
		}
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out, true
}

func (d *document) flag(name string) bool {
	raw, ok := d.raw(name)
	if ok && string(raw) != "true" && string(raw) != "false" {
		d.fault(true, "%s is not true or false", name)
	}
	return string(raw) == "true"
}
