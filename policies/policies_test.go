package policies

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lustrum-mcp/lustrum/graph"
)

func TestBuiltInExamples(t *testing.T) {
	all, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range all {
		ids = append(ids, p.ID)
		if err := Test(context.Background(), p); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"inherited-critical", "open-destructive", "unattested"}; !slices.Equal(ids, want) {
		t.Errorf("policies %v; want %v", ids, want)
	}
}

func file(t testing.TB, name string) string {
	t.Helper()
	b, err := builtIn.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestFilesAreReadStrictly breaks a good file in one place and looks for the
// file, the line and the cause.
func TestFilesAreReadStrictly(t *testing.T) {
	good := file(t, "open-destructive.yaml")
	for _, c := range []struct{ old, new, want string }{
		{"remedy:", "remedi:", `p.yaml:8: unknown key "remedi"`},
		{"path: server -> tool", "path: server -> tooll", `p.yaml:12: path: "tooll" is no kind of node: did you mean "tool"?`},
		{"tool.destructive\n", "tool.destructve\n", `p.yaml:13: condition "server.auth == \"open\" && tool.destructve": tool has no field "destructve": did you mean "destructive"?`},
		{"severity: major", "severity: high", `p.yaml: severity "high" is neither critical, major nor minor`},
		{"id: open-destructive", "id: Open", `p.yaml: id "Open" is not of the form lower-case-words`},
		{"version: 1", "version: one", "p.yaml:2: cannot unmarshal !!str `one` into int"},
		{"forbid:", "require: {path: server}\nforbid:", "p.yaml: exactly one of forbid and require must be given"},
		{"  where:", "  for: server.auth == \"open\"\n  where:", "p.yaml:13: only a requirement has a for"},
		{"forbid:", "exempt: [{match: 'tool.name == \"x\"', reason: r, until: soon}]\nforbid:", "p.yaml:11: an exemption has match, reason and until (YYYY-MM-DD)"},
		{"forbid:", "exempt: [{match: 'tol.name == \"x\"', reason: r, until: 2030-01-01}]\nforbid:", `p.yaml:11: condition "tol.name == \"x\"": "tol" is unknown: did you mean "tool"?`},
		{"title: Nobody", "title: Nobody\ntitle: Nobody", `p.yaml:4: mapping key "title" already defined at line 3`},
		{"https://a.example.com/mcp", "ftp://a.example.com/", `p.yaml: example "declared destructive, and without annotations": "ftp://a.example.com/": scheme "ftp" is neither http nor https`},
	} {
		_, err := Parse("p.yaml", []byte(strings.Replace(good, c.old, c.new, 1)))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s\n got %v\nwant %s", c.new, err, c.want)
		}
	}
	if _, err := Parse("p.yaml", []byte(good+"---\nid: two\n")); err == nil || !strings.Contains(err.Error(), "more than one document") {
		t.Errorf("two documents: %v", err)
	}
	if _, err := Parse("p.yaml", nil); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("empty: %v", err)
	}
}

func TestExampleThatComesOutOtherwise(t *testing.T) {
	bad := strings.Replace(file(t, "open-destructive.yaml"), "{name: unannotated}", "{name: other}", 1)
	p, err := Parse("p.yaml", []byte(bad))
	if err != nil {
		t.Fatal(err)
	}
	err = Test(context.Background(), p)
	want := `p.yaml: example "declared destructive, and without annotations": found [https://a.example.com/mcp, other; https://a.example.com/mcp, wipe], expected [https://a.example.com/mcp, unannotated; https://a.example.com/mcp, wipe]`
	if err == nil || err.Error() != want {
		t.Errorf(" got %v\nwant %s", err, want)
	}
}

func TestOwnFolder(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "holds no .yaml file") {
		t.Errorf("empty folder: %v", err)
	}
	own := strings.Replace(file(t, "unattested.yaml"), "severity: minor", "severity: major", 1)
	other := strings.Replace(own, "id: unattested", "id: our-own", 1)
	for name, text := range map[string]string{"a.yaml": own, "b.yml": other, "README.md": "not a policy"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Load(dir)
	if err != nil || len(all) != 4 {
		t.Fatalf("%d policies, %v", len(all), err)
	}
	for _, p := range all {
		if p.ID == "unattested" && (p.Severity != "major" || p.File != filepath.Join(dir, "a.yaml")) {
			t.Errorf("the built-in one was not replaced: %+v", p)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "c.yaml"), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), `id "unattested" is taken by`) {
		t.Errorf("one id twice: %v", err)
	}
	if _, err := Load(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("no folder: %v", err)
	}
}

// TestCheck looks at everything a violation says.
func TestCheck(t *testing.T) {
	ctx := context.Background()
	p, err := Parse("inherited-critical.yaml", []byte(file(t, "inherited-critical.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.Open(ctx, "", graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := p.Examples[1].apply(ctx, g); err != nil {
		t.Fatal(err)
	}
	got, err := p.Check(ctx, g)
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	v := got[0]
	want := "server https://a.example.com/mcp -exposes-> tool poisoned -fails-> check catalog.text.hidden"
	if v.Path != want || v.Policy != "inherited-critical" || v.Severity != "critical" || v.Reason != p.Reason || v.Remedy != p.Remedy ||
		len(v.Steps) != 2 || len(v.Evidence) != 1 || len(v.Evidence[0]) != 64 {
		t.Errorf("%+v", v)
	}
}

func TestExemptions(t *testing.T) {
	ctx := context.Background()
	text := strings.Replace(file(t, "open-destructive.yaml"), "forbid:", `exempt:
  - {match: 'tool.name == "wipe"', reason: being replaced, until: 2026-03-31, ticket: T-1}
  - {match: 'tool.name == "nothing"', reason: left over, until: 2026-12-31}
forbid:`, 1)
	p, err := Parse("p.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := Test(ctx, p); err != nil {
		t.Errorf("exemptions change what examples find: %v", err)
	}
	g, err := graph.Open(ctx, "", graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := p.Examples[0].apply(ctx, g); err != nil {
		t.Fatal(err)
	}
	for day, want := range map[string][]string{
		"2026-03-31T23:59:59Z": {"server https://a.example.com/mcp -exposes-> tool unannotated"},
		"2026-04-01T00:00:00Z": {`exemption: tool.name == "wipe"`,
			"server https://a.example.com/mcp -exposes-> tool unannotated", "server https://a.example.com/mcp -exposes-> tool wipe"},
	} {
		now, err := time.Parse(time.RFC3339, day)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.CheckAt(ctx, g, now)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range r.Violations {
			got = append(got, v.Path)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "nothing") {
			t.Errorf("%s: %v %s", day, r.Warnings, diff)
		}
	}
}

func TestAtOrAbove(t *testing.T) {
	for _, c := range []struct {
		severity, floor string
		want            bool
	}{
		{"critical", "major", true}, {"major", "major", true}, {"minor", "major", false}, {"minor", "minor", true},
		{"", "minor", false}, {"critical", "none", false}, {"warn", "minor", false},
	} {
		if got := AtOrAbove(c.severity, c.floor); got != c.want {
			t.Errorf("%q at or above %q: %v", c.severity, c.floor, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"inherited-critical.yaml", "open-destructive.yaml", "unattested.yaml"} {
		f.Add([]byte(file(f, name)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := Parse("p.yaml", data); err == nil && (p.ID == "" || len(p.Examples) < 2) {
			t.Fatalf("accepted %+v", p)
		}
	})
}
