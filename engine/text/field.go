package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Kind says what a text is for, which decides how some rules read it.
type Kind string

// Kinds of fields.
const (
	Name         Kind = "name"         // an identifier that a call is made by
	Title        Kind = "title"        // a name for people
	Description  Kind = "description"  // what a tool or parameter is
	Instructions Kind = "instructions" // of the server, for the model
	Prompt       Kind = "prompt"       // of prompts, which may set a role
	Schema       Kind = "schema"       // any other string of a definition
	Keyword      Kind = "keyword"      // the value of a structural keyword, such as type
)

// Field is one text that a model reads.
type Field struct {
	Path string // where it stands, as tools[read].inputSchema.properties.q.description
	Kind Kind
	Text string
}

// Bounds of one definition. What lies beyond is not read.
const (
	MaxDepth  = 64
	MaxFields = 20_000
	MaxText   = 256 << 10 // bytes of one text
)

// Fields returns every string of a definition (a tool, a prompt, a resource),
// to any depth up to MaxDepth and in document order: values, and the names of
// members, which a model reads as well. base is the path of the definition;
// kind is Prompt for prompts and Description otherwise. An error means that
// the definition is not JSON; the fields before that are returned.
func Fields(base string, kind Kind, definition json.RawMessage) ([]Field, error) {
	w := walker{dec: json.NewDecoder(bytes.NewReader(definition)), kind: kind}
	w.dec.UseNumber()
	err := w.value(base, "", 0)
	if err != nil {
		err = fmt.Errorf("read the texts of %q: %w", base, err)
	}
	return w.fields, err
}

type walker struct {
	dec    *json.Decoder
	kind   Kind
	fields []Field
}

func (w *walker) add(path string, kind Kind, text string) {
	if text == "" || len(w.fields) >= MaxFields {
		return
	}
	if len(text) > MaxText {
		text = text[:MaxText]
	}
	w.fields = append(w.fields, Field{path, kind, text})
}

func (w *walker) value(path, key string, depth int) error {
	token, err := w.dec.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case string:
		w.add(path, w.kindOf(key, depth), t)
	case json.Delim:
		if depth >= MaxDepth {
			return fmt.Errorf("nested deeper than %d", MaxDepth)
		}
		if t == '[' {
			for i := 0; w.dec.More(); i++ {
				if err := w.value(fmt.Sprintf("%s[%d]", path, i), key, depth+1); err != nil {
					return err
				}
			}
		} else if err := w.object(path, key, depth); err != nil {
			return err
		}
		_, err = w.dec.Token() // the closing delimiter
		return err
	}
	return nil
}

func (w *walker) object(path, parent string, depth int) error {
	for w.dec.More() {
		token, err := w.dec.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		below := path + "." + key
		if !knownMember[key] {
			kind := Schema
			if parent == "properties" {
				kind = Name
			}
			w.add(below+" (its name)", kind, key)
		}
		if err := w.value(below, key, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// kindOf says what a string at the end of a member is.
func (w *walker) kindOf(key string, depth int) Kind {
	switch {
	case key == "name" && depth == 1:
		return Name
	case structural[key]:
		return Keyword
	case w.kind == Prompt:
		return Prompt
	case key == "title":
		return Title
	case key == "description":
		return Description
	}
	return Schema
}

// structural keywords hold words of JSON Schema and names, and no prose.
var structural = map[string]bool{"type": true, "format": true, "required": true, "$schema": true, "$ref": true, "$id": true,
	"mimeType": true, "uri": true, "uriTemplate": true}

// knownMember is the names of members that the specification and JSON Schema
// define: reading them as text would only cost time.
var knownMember = func() map[string]bool {
	m := map[string]bool{}
	for _, k := range strings.Fields(`name title description inputSchema outputSchema annotations properties
		type required items enum default examples const format pattern minimum maximum minLength maxLength
		additionalProperties anyOf oneOf allOf not if then else $ref $defs definitions $schema $id icons _meta
		readOnlyHint destructiveHint idempotentHint openWorldHint arguments uri uriTemplate mimeType size
		prefixItems minItems maxItems uniqueItems exclusiveMinimum exclusiveMaximum multipleOf execution`) {
		m[k] = true
	}
	return m
}()
