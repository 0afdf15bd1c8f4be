package attest

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func edition() *EditionStatement {
	a, b := Digest([]byte("a")), Digest([]byte("b"))
	return NewEdition(EditionPredicate{
		Edition: "2026-01-11", Registry: "https://registry.example.com", Namespaces: []string{"com.example", "ai.example"},
		Audience: "public", Method: "1", Rubric: "anonymous/1", Operator: "example", Contact: "https://census.example.org",
		StartedAt: "2026-01-11T08:00:00.000Z", FinishedAt: "2026-01-11T09:00:00.000Z",
		Statements: []string{b, a}, Counts: EditionCounts{Endpoints: 3, Public: 2, NotInEdition: 1},
		Previous: Digest(nil),
	}, []Subject{
		{Name: "tools.parquet", Digest: map[string]string{"sha256": a}},
		{Name: "figures/auth.csv", Digest: map[string]string{"sha256": b}},
	})
}

func TestEditionRoundTrip(t *testing.T) {
	e := edition()
	raw, err := EncodeEdition(e)
	if err != nil {
		t.Fatal(err)
	}
	// Members and lists in order; "ca97..." is sha256sum's digest of "a".
	const want = `{"_type":"https://in-toto.io/Statement/v1","predicate":{"audience":"public","contact":"https://census.example.org",` +
		`"counts":{"endpoints":3,"not_in_edition":1,"public":2},"edition":"2026-01-11","finished_at":"2026-01-11T09:00:00.000Z",` +
		`"method":"1","namespaces":["ai.example","com.example"],"operator":"example",` +
		`"previous":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","registry":"https://registry.example.com",` +
		`"rubric":"anonymous/1","started_at":"2026-01-11T08:00:00.000Z","statements":[` +
		`"3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d","ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"]},` +
		`"predicateType":"https://lustrum-mcp.github.io/attestation/edition/v1","subject":[` +
		`{"digest":{"sha256":"3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d"},"name":"figures/auth.csv"},` +
		`{"digest":{"sha256":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"},"name":"tools.parquet"}]}`
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Fatal(diff)
	}
	if e.Subject[0].Name != "tools.parquet" || e.Predicate.Namespaces[0] != "com.example" {
		t.Error("EncodeEdition changed what it was given")
	}
	back, err := DecodeEdition(raw)
	if err != nil {
		t.Fatal(err)
	}
	again, err := EncodeEdition(back)
	if err != nil || !bytes.Equal(again, raw) {
		t.Errorf("not written as it was read: %v", err)
	}
}

func TestEditionRules(t *testing.T) {
	file := func(name string) func(*EditionStatement) {
		return func(e *EditionStatement) { e.Subject[0].Name = name }
	}
	for _, c := range []struct {
		name string
		do   func(*EditionStatement)
		want string
	}{
		{"type", func(e *EditionStatement) { e.Type = "" }, "_type"},
		{"predicate type", func(e *EditionStatement) { e.PredicateType = PredicateType }, "predicateType"},
		{"no files", func(e *EditionStatement) { e.Subject = nil }, "at least one subject"},
		{"absolute", file("/etc/passwd"), "absolute"},
		{"parent", file("a/../../b"), `".."`},
		{"dot", file("./a"), `"."`},
		{"backslash", file(`a\b`), "backslash"},
		{"drive", file("c:a"), "colon"},
		{"control", file("a\nb"), "control"},
		{"empty", file(""), "empty"},
		{"folder", file("a/"), "empty"},
		{"itself", file("edition.json"), "its own digest"},
		{"its bundle", file("edition.json.sigstore.json"), "its own digest"},
		{"twice", file("figures/auth.csv"), "twice"},
		{"two digests", func(e *EditionStatement) { e.Subject[0].Digest["sha512"] = "00" }, "digest"},
		{"no digest", func(e *EditionStatement) { e.Subject[0].Digest = nil }, "digest"},
		{"day", func(e *EditionStatement) { e.Predicate.Edition = "2026-02-30" }, "edition"},
		{"audience", func(e *EditionStatement) { e.Predicate.Audience = "all" }, "audience"},
		{"rubric", func(e *EditionStatement) { e.Predicate.Rubric = "" }, "rubric"},
		{"registry", func(e *EditionStatement) { e.Predicate.Registry = "" }, "registry"},
		{"namespace", func(e *EditionStatement) { e.Predicate.Namespaces = []string{""} }, "namespaces[0]"},
		{"namespace twice", func(e *EditionStatement) { e.Predicate.Namespaces = []string{"a", "a"} }, "namespaces[1]"},
		{"start", func(e *EditionStatement) { e.Predicate.StartedAt = "" }, "started_at"},
		{"order", func(e *EditionStatement) { e.Predicate.StartedAt = "2026-01-11T09:00:00.001Z" }, "before"},
		{"statement", func(e *EditionStatement) { e.Predicate.Statements[0] = "../x" }, "statements["},
		{"statement twice", func(e *EditionStatement) { e.Predicate.Statements[0] = e.Predicate.Statements[1] }, "statements[1]"},
		{"sum", func(e *EditionStatement) { e.Predicate.Counts.Endpoints = 4 }, "counts"},
		{"public", func(e *EditionStatement) { e.Predicate.Counts.Public, e.Predicate.Counts.NotInEdition = 1, 2 }, "counts.public"},
		{"negative", func(e *EditionStatement) {
			e.Predicate.Counts.NotInEdition, e.Predicate.Counts.Endpoints = -1, 1
		}, "counts"},
		{"previous", func(e *EditionStatement) { e.Predicate.Previous = "x" }, "previous"},
		{"times without statements", func(e *EditionStatement) {
			e.Predicate.Statements, e.Predicate.Counts = nil, EditionCounts{}
		}, "started_at"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := edition()
			c.do(e)
			if _, err := EncodeEdition(e); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("EncodeEdition: %v, want a word on %q", err, c.want)
			}
			raw, err := canonical(e.complete())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := DecodeEdition(raw); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("DecodeEdition: %v, want a word on %q", err, c.want)
			}
		})
	}
}

func TestEmptyEdition(t *testing.T) {
	e := edition()
	e.Predicate.Statements, e.Predicate.Counts = nil, EditionCounts{Endpoints: 1, NotInEdition: 1}
	e.Predicate.StartedAt, e.Predicate.FinishedAt = Span(nil)
	raw, err := EncodeEdition(e)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), `"statements":[]`) {
		t.Error(string(raw))
	}
}

func TestSpan(t *testing.T) {
	a, b := decoded(t), decoded(t)
	b.Predicate.StartedAt, b.Predicate.FinishedAt = "2026-01-10T23:00:00.000Z", "2026-01-11T00:00:00.000Z"
	started, finished := Span([]*Statement{a, b})
	if started != "2026-01-10T23:00:00.000Z" || finished != "2026-01-11T08:00:02.345Z" {
		t.Errorf("%s to %s", started, finished)
	}
}

func TestFiles(t *testing.T) {
	root := fstest.MapFS{
		"edition.json":               {Data: []byte("{}")},
		"edition.json.sigstore.json": {Data: []byte("{}")},
		"statements/ab/x.json":       {Data: []byte("{}")},
		"a/z.csv":                    {Data: []byte("a")},
		"a.parquet":                  {Data: []byte("b")},
	}
	files, err := Files(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []Subject{
		{"a.parquet", map[string]string{"sha256": Digest([]byte("b"))}},
		{"a/z.csv", map[string]string{"sha256": Digest([]byte("a"))}},
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Error(diff)
	}
	if !slices.IsSortedFunc(files, func(a, b Subject) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted")
	}
	root["link"] = &fstest.MapFile{Mode: 0o777 | 1<<27} // a symbolic link
	if _, err := Files(root); err == nil || !strings.Contains(err.Error(), `"link"`) {
		t.Errorf("a link was listed: %v", err)
	}
}
