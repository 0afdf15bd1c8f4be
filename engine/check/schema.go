package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lustrum-mcp/lustrum/crawler/mcp"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// Bounds of one schema. What is beyond is not judged.
const (
	maxSchemaBytes = 512 << 10
	maxSchemaDepth = 100
)

// fault of a schema: what is wrong, and whether lenient readers take it.
type schemaFault struct {
	text  string
	loose bool
}

// dialects that can be judged, by $schema without its fragment.
var dialects = map[string]*jsonschema.Draft{
	"http://json-schema.org/draft-04/schema":       jsonschema.Draft4,
	"http://json-schema.org/draft-06/schema":       jsonschema.Draft6,
	"http://json-schema.org/draft-07/schema":       jsonschema.Draft7,
	"https://json-schema.org/draft/2019-09/schema": jsonschema.Draft2019,
	"https://json-schema.org/draft/2020-12/schema": jsonschema.Draft2020,
}

// errFetch stops every attempt to leave the document.
var errFetch = errors.New("a reference to another document, which is not fetched")

type noFetch struct{}

func (noFetch) Load(url string) (any, error) { return nil, fmt.Errorf("%w: %q", errFetch, url) }

// judgeSchema holds a schema to its dialect. object demands "type": "object"
// at the root. nil means that it is fine.
func judgeSchema(raw json.RawMessage, object bool) *schemaFault {
	members, ok := mcp.Object(raw)
	switch {
	case len(raw) > maxSchemaBytes:
		return &schemaFault{fmt.Sprintf("%d bytes, too long to be judged", len(raw)), true}
	case !ok && object:
		return &schemaFault{text: "not a schema of an object: " + shown(raw)}
	case !ok && !slices.Contains([]string{"true", "false"}, string(bytes.TrimSpace(raw))):
		return &schemaFault{text: "not a schema: " + shown(raw)}
	case depth(raw) > maxSchemaDepth:
		return &schemaFault{fmt.Sprintf("nested deeper than %d, too deep to be judged", maxSchemaDepth), true}
	}
	if object {
		if t, ok := jsonString(members["type"]); !ok || t != "object" {
			if types, ok := jsonStrings(members["type"]); ok && slices.Contains(types, "object") {
				return &schemaFault{`type is ` + shown(members["type"]) + `, where clients expect "object"`, true}
			}
			return &schemaFault{text: `not a schema of an object: type is ` + shown(members["type"])}
		}
	}
	draft := jsonschema.Draft2020
	if declared, ok := jsonString(members["$schema"]); ok {
		known, ok := dialects[strings.TrimSuffix(strings.Replace(declared, "https://json-schema.org/draft-0", "http://json-schema.org/draft-0", 1), "#")]
		if !ok {
			return &schemaFault{"its dialect is unknown: " + quoteShort(declared, 100), true}
		}
		draft = known
	}
	err := compile(raw, draft, false)
	if err == nil {
		return nil
	}
	if compile(raw, draft, true) == nil {
		return &schemaFault{"loose: a property has a boolean required, as in draft 3", true}
	}
	return &schemaFault{text: schemaError(err)}
}

// compile reads a schema with all references inside it. Nothing is fetched,
// and patterns in other flavours of regular expressions pass. loosen drops
// boolean values of required first.
func compile(raw json.RawMessage, draft *jsonschema.Draft, loosen bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the schema can't be read: %v", p)
		}
	}()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	if m, ok := doc.(map[string]any); ok {
		delete(m, "$schema") // judged already; the draft is set
	}
	if loosen {
		loosenRequired(doc)
	}
	const base = "urn:lustrum:schema"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(draft)
	c.UseLoader(noFetch{})
	c.UseRegexpEngine(anyRegexp)
	if err := c.AddResource(base, doc); err != nil {
		return err
	}
	_, err = c.Compile(base)
	return err
}

func loosenRequired(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["required"].(bool); ok {
			delete(v, "required")
		}
		for _, below := range v {
			loosenRequired(below)
		}
	case []any:
		for _, below := range v {
			loosenRequired(below)
		}
	}
}

// lenient is a pattern of another flavour, such as one with a look-ahead: it
// is taken as it is, since only whether the schema is valid matters here.
type lenient string

func (p lenient) MatchString(string) bool { return true }
func (p lenient) String() string          { return string(p) }

func anyRegexp(s string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(s)
	if err != nil {
		return lenient(s), nil
	}
	return re, nil
}

// depth is how deep JSON is nested, without building it.
func depth(raw []byte) int {
	deepest, now, inString := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if now++; now > deepest {
				deepest = now
			}
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

func schemaError(err error) string {
	if errors.Is(err, errFetch) {
		text := err.Error()
		if i := strings.Index(text, errFetch.Error()); i >= 0 {
			text = text[i:]
		}
		return text
	}
	text := err.Error()
	text = strings.ReplaceAll(text, "urn:lustrum:schema", "the schema")
	return "not valid: " + strings.Join(strings.Fields(text), " ")
}

func (r *run) judgeInputSchemas(l *listing, ev span) {
	t := &tally{run: r, id: "catalog.tools.input_schema", ev: ev}
	var combined []string
	for _, tool := range l.tools {
		raw := tool.members["inputSchema"]
		if absent(raw) {
			t.fail(rubric.Major, tool.key, "inputSchema is missing")
			continue
		}
		switch fault := judgeSchema(raw, true); {
		case fault == nil:
			members, _ := mcp.Object(raw)
			if members["oneOf"] != nil || members["anyOf"] != nil || members["allOf"] != nil {
				combined = append(combined, quoteShort(tool.key, 60))
			}
		case fault.loose:
			t.warn(tool.key, fault.text)
		default:
			t.fail(rubric.Major, tool.key, fault.text)
		}
	}
	passed := "every input schema is a valid schema of an object"
	if len(combined) > 0 {
		passed += "; oneOf, anyOf or allOf at the root is refused by some clients: " + some(combined, 6)
	}
	t.done(passed)
}

// judgeOutputSchemas holds output schemas to the revision: up to 2025-11-25
// they describe an object, since then anything.
func (r *run) judgeOutputSchemas(l *listing, ev span) {
	const id = "catalog.tools.output_schema"
	if !r.applies(l, id) {
		return
	}
	t := &tally{run: r, id: id, ev: ev}
	object := !mcp.Modern(l.session.Version)
	given := 0
	for _, tool := range l.tools {
		raw := tool.members["outputSchema"]
		if absent(raw) {
			continue
		}
		given++
		if fault := judgeSchema(raw, object); fault != nil {
			t.warn(tool.key, fault.text)
		}
	}
	if given == 0 {
		r.info(id, ev, "no tool declares an output schema")
		return
	}
	t.done(fmt.Sprintf("%s, all valid", count(given, "output schema", "output schemas")))
}
