package check

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gowebpki/jcs"

	"github.com/lustrum-mcp/lustrum/crawler/mcp"
)

// kinds of lists, with the method and the member that hold them.
var lists = []struct{ capability, method, check string }{
	{"tools", "tools/list", "catalog.tools.list"},
	{"resources", "resources/list", "catalog.resources.list"},
	{"prompts", "prompts/list", "catalog.prompts.list"},
}

// listing is a server's catalogue as it was listed.
type listing struct {
	session *mcp.Session
	walks   map[string]*mcp.Walk // by capability
	unknown bool                 // no handshake result said what is declared
	tools   []tool
}

// tool is one entry of tools/list, read by exact member names.
type tool struct {
	Tool
	key         string // what findings call it: its name, or tools[N] when it has none
	members     map[string]json.RawMessage
	description string
	described   bool // description is a string
}

// declared says whether a capability is declared, or may be for all that is
// known.
func (l *listing) declared(capability string) bool {
	if l.unknown {
		return len(l.walks[capability].Items) > 0
	}
	_, ok := l.session.Capabilities[capability]
	return ok
}

// read says whether a list was read to its end.
func (l *listing) read(capability string) bool {
	w := l.walks[capability]
	return w != nil && w.Err == nil
}

// ev cites the exchanges of lists.
func (l *listing) ev(capabilities ...string) span {
	var s span
	for _, c := range capabilities {
		if w := l.walks[c]; w != nil {
			s = s.with(of(w.Answers...))
		}
	}
	return s
}

// readCatalogue lists everything and invokes nothing. What a server does not
// declare is asked for as well, once: some serve it all the same.
func readCatalogue(ctx context.Context, session *mcp.Session) *listing {
	l := &listing{session: session, walks: map[string]*mcp.Walk{}}
	for _, kind := range lists {
		l.walks[kind.capability] = session.List(ctx, kind.method, kind.capability)
	}
	for i, raw := range l.walks["tools"].Items {
		l.tools = append(l.tools, readTool(i, raw))
	}
	return l
}

func readTool(index int, raw json.RawMessage) tool {
	members, _ := mcp.Object(raw)
	t := tool{members: members}
	name, _ := jsonString(members["name"])
	t.Name = name
	t.key = name
	if strings.TrimSpace(name) == "" {
		t.key = fmt.Sprintf("tools[%d]", index)
	}
	t.description, t.described = jsonString(members["description"])
	t.Definition = raw
	t.DefinitionDigest = digest(raw)
	if t.described && t.description != "" {
		sum := sha256.Sum256([]byte(t.description))
		t.DescriptionDigest = hex.EncodeToString(sum[:])
	}
	hints, _ := mcp.Object(members["annotations"])
	t.Annotations = Annotations{
		ReadOnly: hint(hints["readOnlyHint"]), Destructive: hint(hints["destructiveHint"]),
		Idempotent: hint(hints["idempotentHint"]), OpenWorld: hint(hints["openWorldHint"]),
	}
	return t
}

// hint is a boolean as given; nil when it is absent, null or something else.
func hint(raw json.RawMessage) *bool {
	switch string(bytes.TrimSpace(raw)) {
	case "true":
		v := true
		return &v
	case "false":
		v := false
		return &v
	}
	return nil
}

func is(hint *bool, value bool) bool { return hint != nil && *hint == value }

func jsonString(raw json.RawMessage) (string, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

func absent(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// canonical is the RFC 8785 form of JSON. What that form can't take, such as a
// number beyond a double or a lone surrogate, stays as it is, without white
// space.
func canonical(raw json.RawMessage) []byte {
	if out, err := transform(raw); err == nil {
		return out
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return raw
	}
	return b.Bytes()
}

// transform keeps a fault of the library from ending the run.
func transform(raw json.RawMessage) (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("canonical form: %v", p)
		}
	}()
	return jcs.Transform(raw)
}

// digest is SHA-256 of the canonical form, in hex.
func digest(raw json.RawMessage) string {
	sum := sha256.Sum256(canonical(raw))
	return hex.EncodeToString(sum[:])
}

// digestOf is the digest of the whole catalogue: SHA-256 of a JSON object with
// the members prompts, resources and tools, each the array of the canonical
// definitions in byte order, so that the order of listing does not matter.
// Empty when a list could not be read.
func (l *listing) digestOf() string {
	h := sha256.New()
	for i, capability := range []string{"prompts", "resources", "tools"} {
		w := l.walks[capability]
		if w == nil || w.Err != nil && l.declared(capability) {
			return ""
		}
		var items [][]byte
		for _, raw := range w.Items {
			items = append(items, canonical(raw))
		}
		slices.SortFunc(items, bytes.Compare)
		fmt.Fprintf(h, "%s%q:[%s]", []string{"{", ",", ","}[i], capability, bytes.Join(items, []byte(",")))
	}
	h.Write([]byte("}"))
	return hex.EncodeToString(h.Sum(nil))
}
