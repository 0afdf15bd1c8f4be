package attest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func compiled(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("statement.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("statement.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func held(s *jsonschema.Schema, raw []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

func TestSchemaAcceptsWhatIsWritten(t *testing.T) {
	schema := compiled(t)
	for name, do := range map[string]func(*Statement){
		"golden":        func(*Statement) {},
		"nothing known": func(s *Statement) { s.Predicate.Score, s.Predicate.Catalogue, s.Predicate.Verdicts = nil, nil, nil },
		"blocked":       func(s *Statement) { s.Predicate.Blocked = &Blocked{Phase: "net", Reason: "refused"} },
		"long name":     func(s *Statement) { s.Predicate.Target.Server.Name = strings.Repeat("n", 9999) },
		"all hints": func(s *Statement) {
			s.Predicate.Catalogue.Tools[0].Annotations = Annotations{ptr(true), ptr(false), ptr(true), ptr(false)}
		},
	} {
		s := decoded(t)
		do(s)
		raw, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := held(schema, raw); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What the schema refuses, the code refuses, and the other way round, for
// every rule that a schema can express.
func TestSchemaRefusesWhatDecodeRefuses(t *testing.T) {
	schema := compiled(t)
	digest := Digest(nil)
	for _, c := range []struct {
		path  string // dots and numbers
		value any
	}{
		{"_type", "x"}, {"predicateType", "x"}, {"subject", []any{}}, {"subject.0.digest", map[string]any{}},
		{"subject.0.digest.sha512", strings.Repeat("0", 128)},
		{"predicate.target.transport", "stdio"}, {"predicate.target.endpoint", "ftp://mcp.example.com/"},
		{"predicate.target.listed_as", nil}, {"predicate.target.listed_as.0.name", ""},
		{"predicate.target.server.unverified", false}, {"predicate.target.server.era", strings.Repeat("x", 65)},
		{"predicate.target.server.name", strings.Repeat("x", 513)}, {"predicate.target.server.protocol_versions", nil},
		{"predicate.instrument.method", ""}, {"predicate.instrument.commit", nil},
		{"predicate.started_at", "2026-01-11T08:00:00Z"}, {"predicate.finished_at", "2026-01-11 08:00:00.000Z"},
		{"predicate.plan.phases.0", "Net"}, {"predicate.plan.rps", -1}, {"predicate.plan.rps", "1"}, {"predicate.plan.policy", ""},
		{"predicate.verdicts", nil}, {"predicate.verdicts.0.id", ""}, {"predicate.verdicts.0.status", "ok"},
		{"predicate.verdicts.0.severity", "minor"}, {"predicate.verdicts.0.observed", digest},
		{"predicate.verdicts.0.evidence", ""}, {"predicate.verdicts.5.severity", "bad"}, {"predicate.verdicts.5.observed", "text"},
		{"predicate.verdicts.5.subject", ""}, {"predicate.verdicts.5.status", "pass"},
		{"predicate.counts.pass", -1}, {"predicate.counts.pass", 0.5}, {"predicate.counts.error", 1},
		{"predicate.score.total", 101}, {"predicate.score.grade", "E"}, {"predicate.score.caps", nil},
		{"predicate.score.bounds", []any{1}}, {"predicate.score.bounds", []any{1, 2, 3}}, {"predicate.score.by_category", nil},
		{"predicate.score.by_category.catalog", 101}, {"predicate.score.coverage", -0.1},
		{"predicate.auth.state", "closed"}, {"predicate.auth.issuers", nil},
		{"predicate.catalogue.digest", "x"}, {"predicate.catalogue.tools", nil}, {"predicate.catalogue.resources", -1},
		{"predicate.catalogue.tools.0.description", "text"}, {"predicate.catalogue.tools.0.annotations.readOnlyHint", nil},
		{"predicate.catalogue.tools.0.annotations.title", "x"}, {"predicate.catalogue.tools.0.inputSchema", map[string]any{}},
		{"predicate.blocked", map[string]any{"phase": "", "reason": ""}}, {"predicate.blocked", "no"},
		{"predicate.evidence.sha256", ""}, {"predicate.evidence.size", -1}, {"predicate.extra", 1}, {"extra", 1},
	} {
		var doc any
		if err := json.Unmarshal(golden(t), &doc); err != nil {
			t.Fatal(err)
		}
		set(t, doc, strings.Split(c.path, "."), c.value)
		raw, err := canonical(doc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(raw); err == nil {
			t.Errorf("%s = %v: Decode accepts it", c.path, c.value)
		}
		if held(schema, raw) == nil {
			t.Errorf("%s = %v: the schema accepts it", c.path, c.value)
		}
	}
}

func set(t *testing.T, doc any, path []string, value any) {
	t.Helper()
	switch d := doc.(type) {
	case map[string]any:
		if len(path) == 1 {
			d[path[0]] = value
			return
		}
		set(t, d[path[0]], path[1:], value)
	case []any:
		var i int
		if _, err := fmt.Sscan(path[0], &i); err != nil {
			t.Fatal(err)
		}
		if len(path) == 1 {
			d[i] = value
			return
		}
		set(t, d[i], path[1:], value)
	default:
		t.Fatalf("nothing at %v", path)
	}
}

// Every member of every Go type stands in the schema and is required unless it
// can be left out, and the schema names no others.
func TestSchemaNamesEveryMember(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal(Schema, &doc); err != nil {
		t.Fatal(err)
	}
	defs := doc["$defs"].(map[string]any)
	seen := map[string]bool{}
	var walk func(reflect.Type, map[string]any)
	walk = func(typ reflect.Type, schema map[string]any) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ.Name()] {
			return
		}
		seen[typ.Name()] = true
		properties := schema["properties"].(map[string]any)
		var members, required []string
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			members = append(members, name)
			if options != "omitempty" {
				required = append(required, name)
			}
			if inner, ok := defs[strings.ToLower(f.Type.Name())].(map[string]any); ok {
				walk(f.Type, inner)
			}
			for t := f.Type; t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice; t = t.Elem() {
				if inner, ok := defs[strings.ToLower(t.Elem().Name())].(map[string]any); ok {
					walk(t.Elem(), inner)
				}
			}
		}
		slices.Sort(members)
		slices.Sort(required)
		if got := slices.Sorted(maps.Keys(properties)); !slices.Equal(got, members) {
			t.Errorf("%s: the schema names %q, the code %q", typ.Name(), got, members)
		}
		var listed []string
		if list, ok := schema["required"].([]any); ok {
			for _, name := range list {
				listed = append(listed, name.(string))
			}
		}
		slices.Sort(listed)
		if !slices.Equal(listed, required) {
			t.Errorf("%s: the schema requires %q, the code writes %q always", typ.Name(), listed, required)
		}
		if schema["additionalProperties"] != false {
			t.Errorf("%s: the schema allows other members", typ.Name())
		}
	}
	walk(reflect.TypeFor[Statement](), doc)
	// Statement, and the types below it: none forgotten.
	if want := 18; len(seen) != want {
		t.Errorf("looked at %d types, want %d: %v", len(seen), want, slices.Sorted(maps.Keys(seen)))
	}
}
