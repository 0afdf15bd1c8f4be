package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"
	"gopkg.in/yaml.v3"
)

// Bounds of a document.
const (
	maxDepth = 64
	maxNodes = 500_000
)

type kind int

const (
	null kind = iota
	scalar
	list
	object
)

// node is a value of a document, with the line that it starts on. Documents in
// JSON and YAML become the same.
type node struct {
	kind    kind
	line    int
	text    string // of a scalar; true and false as YAML and JSON write them
	quoted  bool   // a scalar that is a string
	items   []*node
	members []member
}

type member struct {
	key   string
	value *node
}

// get returns the last member of a name: that is the one that counts in JSON.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for i := len(n.members) - 1; i >= 0; i-- {
		if n.members[i].key == key {
			return n.members[i].value
		}
	}
	return nil
}

// str is the text of a member that is a scalar, "" for any other.
func (n *node) str(key string) string {
	if v := n.get(key); v != nil && v.kind == scalar {
		return v.text
	}
	return ""
}

// is reports whether a member is the boolean.
func (n *node) is(key string, want string) bool {
	v := n.get(key)
	return v != nil && v.kind == scalar && !v.quoted && strings.EqualFold(v.text, want)
}

// parse reads a document: YAML by the name of its file, else JSON with
// comments and trailing commas. A YAML file may hold several documents.
func parse(path string, data []byte, otherwise func(string, []byte) ([]*node, error)) ([]*node, error) {
	data, err := text(path, data)
	if err != nil {
		return nil, err
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		return parseYAML(path, data)
	case ".json", ".jsonc", ".code-workspace":
		return parseJSON(path, data)
	}
	return otherwise(path, data)
}

func parseJSON(path string, data []byte) ([]*node, error) {
	if depth := nesting(data); depth > maxDepth {
		return nil, fmt.Errorf("%s: the document is nested %d deep, over the bound of %d", path, depth, maxDepth)
	}
	v, err := hujson.Parse(data)
	if err != nil {
		// Its words name the place and never the content.
		return nil, fmt.Errorf("%s: %s; is the file complete?", path, strings.TrimPrefix(err.Error(), "hujson: "))
	}
	r := jsonReader{data: data, line: 1}
	n := r.node(v)
	return []*node{n}, nil
}

// nesting is how deep brackets nest in JSON with comments.
func nesting(data []byte) int {
	depth, deepest := 0, 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '/':
			end := -1
			switch {
			case bytes.HasPrefix(data[i:], []byte("//")):
				end = bytes.IndexByte(data[i:], '\n')
			case bytes.HasPrefix(data[i:], []byte("/*")):
				end = bytes.Index(data[i+2:], []byte("*/"))
			default:
				continue
			}
			if end < 0 {
				return deepest
			}
			i += end
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}

// jsonReader counts lines as it goes forward.
type jsonReader struct {
	data     []byte
	at, line int
}

func (r *jsonReader) lineAt(offset int) int {
	if offset > r.at {
		r.line += bytes.Count(r.data[r.at:offset], []byte("\n"))
		r.at = offset
	}
	return r.line
}

func (r *jsonReader) node(v hujson.Value) *node {
	n := &node{line: r.lineAt(v.StartOffset)}
	switch x := v.Value.(type) {
	case *hujson.Object:
		n.kind = object
		for _, m := range x.Members {
			name := r.node(m.Name)
			n.members = append(n.members, member{name.text, r.node(m.Value)})
		}
	case *hujson.Array:
		n.kind = list
		for _, e := range x.Elements {
			n.items = append(n.items, r.node(e))
		}
	case hujson.Literal:
		switch {
		case x.Kind() == 'n':
		case x.Kind() == '"':
			// Unmarshal, as every client does, replaces what is no character.
			n.kind, n.quoted = scalar, true
			if json.Unmarshal(x, &n.text) != nil {
				n.text = ""
			}
		default:
			n.kind, n.text = scalar, string(x)
		}
	}
	return n
}

func parseYAML(path string, data []byte) ([]*node, error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	r := yamlReader{}
	var out []*node
	for {
		var doc yaml.Node
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s; is the file complete?", path, strings.TrimPrefix(err.Error(), "yaml: "))
		}
		n, err := r.node(&doc, 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, n)
	}
}

// yamlReader counts what it reads, since aliases can make much of little.
type yamlReader struct{ nodes int }

func (r *yamlReader) node(y *yaml.Node, depth int) (*node, error) {
	if r.nodes++; r.nodes > maxNodes || depth > maxDepth {
		return nil, fmt.Errorf("line %d: the document is over the bound of %d values or %d levels", y.Line, maxNodes, maxDepth)
	}
	n := &node{line: y.Line}
	switch y.Kind {
	case yaml.DocumentNode:
		if len(y.Content) == 0 {
			return n, nil
		}
		return r.node(y.Content[0], depth)
	case yaml.AliasNode:
		return r.node(y.Alias, depth+1)
	case yaml.ScalarNode:
		switch y.ShortTag() {
		case "!!null":
		case "!!str":
			n.kind, n.text, n.quoted = scalar, y.Value, true
		default:
			n.kind, n.text = scalar, y.Value
		}
	case yaml.SequenceNode:
		n.kind = list
		for _, item := range y.Content {
			v, err := r.node(item, depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, v)
		}
	case yaml.MappingNode:
		n.kind = object
		for i := 0; i+1 < len(y.Content); i += 2 {
			v, err := r.node(y.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			if y.Content[i].ShortTag() == "!!merge" {
				n.members = append(v.members, n.members...) // own members count more
				continue
			}
			n.members = append(n.members, member{y.Content[i].Value, v})
		}
	}
	return n, nil
}
