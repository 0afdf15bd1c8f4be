package graph

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cayleygraph/quad"
	"github.com/cayleygraph/quad/nquads"
	"pgregory.net/rapid"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

var endpoints = []string{"https://a.example.com/mcp", "https://b.example.com/mcp", "https://example.com/", "https://c.example.co.uk/x", "https://192.0.2.7/"}

// drawStatement draws from a small world, so that servers, hosts, tools and
// times collide.
func drawStatement(t *rapid.T) Statement {
	p := []func(*attest.Predicate){}
	names := rapid.SliceOfN(rapid.SampledFrom([]string{"read", "write", "delete all", "naïve\n>", "%2F"}), 0, 4).Draw(t, "tools")
	if len(names) > 0 {
		p = append(p, tools(names...))
	}
	if rapid.Bool().Draw(t, "oauth") {
		p = append(p, issuer(rapid.SampledFrom([]string{"https://as.example.com", "https://login.example.org/x y"}).Draw(t, "issuer")))
	}
	for range rapid.IntRange(0, 3).Draw(t, "fails") {
		p = append(p, fail(rapid.SampledFrom([]string{"net.tls", "catalog.text.hidden", "discovery.as"}).Draw(t, "check"),
			rapid.SampledFrom([]rubric.Severity{"critical", "major", "minor"}).Draw(t, "severity"),
			rapid.SampledFrom([]string{"", "read", "https://as.example.com"}).Draw(t, "subject")))
	}
	s := statement(rapid.SampledFrom(endpoints).Draw(t, "endpoint"),
		fmt.Sprintf("2026-01-0%dT00:00:00.000Z", rapid.IntRange(1, 4).Draw(t, "day")), p...)
	s.Digest = digest(fmt.Sprintf("%+v %v", s.Statement.Predicate, names))
	return s
}

func drawSource(t *rapid.T, ref string) Source {
	s := Source{Kind: "registry", Ref: ref, Complete: true}
	for range rapid.IntRange(0, 4).Draw(t, "listings") {
		s.Listings = append(s.Listings, Listing{
			Name: rapid.SampledFrom([]string{"com.example/a", "com.example/b"}).Draw(t, "name"), Version: "1.0.0",
			Namespace: "com.example", Status: "active", Transport: "streamable-http",
			Endpoint:   rapid.SampledFrom(endpoints).Draw(t, "endpoint"),
			Repository: rapid.SampledFrom([]string{"", "https://github.com/x/y.git", "https://user:pw@github.com/x/y"}).Draw(t, "repository"),
			Packages:   []string{"pkg:npm/%40x/y@1"},
		})
	}
	return s
}

// TestSameSetSameBytes applies statements and listings in another order, in
// other batches and with repeats, and compares with a fresh graph.
func TestSameSetSameBytes(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		set := rapid.SliceOfN(rapid.Custom(drawStatement), 1, 8).Draw(rt, "statements")
		sources := []Source{drawSource(rt, "https://one.example"), drawSource(rt, "https://two.example")}

		fresh := memory(t)
		apply(t, fresh, set...)
		for _, s := range sources {
			list(t, fresh, s)
		}
		want := export(t, fresh)
		fresh.Close()

		g := memory(t)
		defer g.Close()
		sequence := rapid.Permutation(slices.Concat(set, set)).Draw(rt, "order")
		for len(sequence) > 0 {
			if i := rapid.IntRange(0, 3).Draw(rt, "source"); i < len(sources) {
				list(t, g, sources[i])
			}
			n := rapid.IntRange(1, len(sequence)).Draw(rt, "batch")
			if _, err := g.Apply(ctx, sequence[:n]); err != nil {
				rt.Fatal(err)
			}
			sequence = sequence[n:]
		}
		for _, s := range sources {
			list(t, g, s)
		}
		if got := export(t, g); got != want {
			rt.Fatalf("another graph for the same set:\n%s", diffLines(want, got))
		}
		if a := apply(t, g, set...); a.Applied+a.Added+a.Removed != 0 || a.Unchanged != len(set) {
			rt.Fatalf("applying again did %+v", a)
		}
		if a := list(t, g, sources[0]); a.Applied+a.Added+a.Removed != 0 {
			rt.Fatalf("listing again did %+v", a)
		}
	})
}

func diffLines(want, got string) string {
	var b strings.Builder
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for _, l := range w {
		if !slices.Contains(g, l) {
			fmt.Fprintln(&b, "-", l)
		}
	}
	for _, l := range g {
		if !slices.Contains(w, l) {
			fmt.Fprintln(&b, "+", l)
		}
	}
	return b.String()
}

// TestStoreAgainstModel replaces and removes at random on disk and holds the
// store against a set of quads kept beside it: what is under each label, that
// no fact lacks a name, and that nothing else is there.
func TestStoreAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := memory(t)
		defer g.Close()
		newest := map[string]Statement{}
		digests := map[string]bool{}
		listed := map[string]Source{}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			if rapid.IntRange(0, 2).Draw(rt, "what") == 0 {
				s := drawSource(rt, rapid.SampledFrom([]string{"one", "two"}).Draw(rt, "ref"))
				list(t, g, s)
				listed[s.Ref] = s
				continue
			}
			s := drawStatement(rt)
			apply(t, g, s)
			digests[s.Digest] = true
			e := s.Statement.Predicate.Target.Endpoint
			if old, ok := newest[e]; !ok || stampOf(old).compare(stampOf(s)) < 0 {
				newest[e] = s
			}
		}
		want := map[string]bool{}
		add := func(qs []quad.Quad) {
			for _, q := range qs {
				want[line(q)] = true
			}
		}
		for _, s := range newest {
			u, err := statementFacts(s.Digest, s.Statement)
			if err != nil {
				rt.Fatal(err)
			}
			add(u.quads)
		}
		for _, s := range listed {
			add(sourceFacts(s).quads)
			units, err := entries(s)
			if err != nil {
				rt.Fatal(err)
			}
			for _, u := range units {
				add(u.quads)
			}
		}
		applied, all := 0, slices.Sorted(maps.Keys(want))
		for l := range strings.Lines(export(t, g)) {
			switch {
			case strings.Contains(l, "nil"), strings.Contains(l, "<>"):
				rt.Fatalf("a fact without a name: %s", l)
			case strings.HasPrefix(l, "<applied:"):
				applied++
				if strings.Contains(l, "pending") {
					rt.Fatalf("left pending: %s", l)
				}
			case strings.Contains(l, "<derived:"):
				// A shared node is there because an edge names it.
				name := l[:strings.Index(l, " ")]
				named := false
				for _, other := range all {
					named = named || strings.Contains(other, " "+name+" ")
				}
				if !named && name != "<host:example.com>" && name != "<host:example.co.uk>" {
					rt.Fatalf("nothing names %s", name)
				}
			case !want[l]:
				rt.Fatalf("too much: %s", l)
			default:
				delete(want, l)
			}
		}
		if len(want) > 0 || applied != len(digests) {
			rt.Fatalf("missing %d facts, %d digests of %d: %v", len(want), applied, len(digests), want)
		}
	})
}

// TestNewerReplacesOlder is the case by hand: a tool that is gone is gone, and
// so is the issuer that only the older statement named.
func TestNewerReplacesOlder(t *testing.T) {
	g := memory(t)
	old := statement("https://a.example.com/mcp", "2026-01-01T00:00:00.000Z", tools("read", "gone"), issuer("https://as.example.org"))
	fresh := statement("https://a.example.com/mcp", "2026-01-02T00:00:00.000Z", tools("read"))
	apply(t, g, old)
	if !strings.Contains(export(t, g), "/gone>") {
		t.Fatal("the first statement was not applied")
	}
	a := apply(t, g, fresh)
	if a.Applied != 1 || a.Added == 0 || a.Removed == 0 || a.Superseded != 0 {
		t.Errorf("applied %+v", a)
	}
	out := export(t, g)
	for _, word := range []string{"/gone>", "issuer:", "attestation:" + old.Digest} {
		if strings.Contains(out, word) {
			t.Errorf("%q is still there", word)
		}
	}
	if a := apply(t, g, statement("https://a.example.com/mcp", "2025-12-31T00:00:00.000Z", tools("older"))); a.Superseded != 1 || a.Applied != 1 || a.Added != 0 {
		t.Errorf("an older statement: %+v", a)
	}
	if strings.Contains(export(t, g), "/older>") {
		t.Error("an older statement replaced a newer one")
	}
}

func TestPartialListingRemovesNothing(t *testing.T) {
	g := memory(t)
	l := func(name string) Listing {
		return Listing{Name: name, Version: "1", Namespace: "com.example", Status: "active", Transport: "streamable-http", Endpoint: "https://" + name + ".example.com/"}
	}
	list(t, g, Source{Kind: "registry", Ref: "r", Complete: true, Listings: []Listing{l("a"), l("b")}})
	list(t, g, Source{Kind: "registry", Ref: "r", Listings: []Listing{l("c")}})
	count := func() int { return strings.Count(export(t, g), `<meta:kind> "listing"`) }
	if count() != 3 {
		t.Errorf("%d listings after a partial one; want 3", count())
	}
	if !strings.Contains(export(t, g), `<field:complete> "false"`) {
		t.Error("the source is not marked as partial")
	}
	if a := list(t, g, Source{Kind: "registry", Ref: "r", Complete: true, Listings: []Listing{l("c")}}); count() != 1 || a.Removed == 0 {
		t.Errorf("%d listings after a whole one; want 1 (%+v)", count(), a)
	}
	if strings.Contains(export(t, g), "a.example.com") {
		t.Error("the host of a listing that is gone is still there")
	}
}

// TestCrashIsRepaired fails before each transaction of each apply and holds the
// graph after the next apply against one that never failed.
func TestCrashIsRepaired(t *testing.T) {
	ctx := context.Background()
	old := statement("https://a.example.com/mcp", "2026-01-01T00:00:00.000Z", tools("read", "gone"), issuer("https://as.example.org"))
	fresh := statement("https://a.example.com/mcp", "2026-01-02T00:00:00.000Z", tools("read"), fail("net.tls", rubric.Critical, ""))
	other := statement("https://other.example.net/", "2026-01-02T00:00:00.000Z")
	whole := memory(t)
	apply(t, whole, old, fresh, other)
	want := export(t, whole)

	for _, step := range []string{"add", "remove", "record", "settle"} {
		for _, again := range []string{"the same statements", "another statement"} {
			t.Run(step+", then "+again, func(t *testing.T) {
				g := disk(t, filepath.Join(t.TempDir(), "graph.db"))
				apply(t, g, old)
				g.fail = func(s string) error {
					if s == step {
						return errors.New("the plug was pulled")
					}
					return nil
				}
				if _, err := g.Apply(ctx, []Statement{fresh}); err == nil || !strings.Contains(err.Error(), "plug") {
					t.Fatalf("error %v", err)
				}
				g.fail = nil
				if n := strings.Count(export(t, g), "/read>"); n == 0 {
					t.Fatal("readers see a hole")
				}
				if again == "the same statements" || step == "add" {
					apply(t, g, fresh)
				}
				apply(t, g, other)
				if got := export(t, g); got != want {
					t.Errorf("not repaired:\n%s", diffLines(want, got))
				}
			})
		}
	}
}

func TestExportIsNQuads(t *testing.T) {
	g := memory(t)
	apply(t, g, statement("https://a.example.com/mcp", "2026-01-01T00:00:00.000Z", tools("a\"b\\c\n<>", "d e", "é"), issuer("https://as.example.org"),
		fail("net.tls", rubric.Critical, "")))
	list(t, g, Source{Kind: "registry", Ref: "https://r.example/ x", Complete: true, Listings: []Listing{{Name: "n\tm\u0001", Version: "1"}}})
	out := export(t, g)
	dec := nquads.NewReader(strings.NewReader(out), false)
	n := 0
	for {
		q, err := dec.ReadQuad()
		if err != nil {
			break
		}
		if !q.IsValid() || q.Label == nil {
			t.Errorf("read %v", q)
		}
		n++
	}
	if lines := strings.Count(out, "\n"); n != lines || n < 20 {
		t.Errorf("an independent reader reads %d of %d lines", n, lines)
	}
	if lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n"); !slices.IsSorted(lines) || len(slices.Compact(lines)) != n {
		t.Error("lines are not sorted, or twice")
	}
}

func TestRefusesWhatIsNoStatement(t *testing.T) {
	g := memory(t)
	good := statement("https://a.example.com/mcp", "2026-01-01T00:00:00.000Z")
	bad := statement("ftp://a.example.com/", "2026-01-01T00:00:00.000Z")
	for name, s := range map[string]Statement{
		"no digest": {Statement: good.Statement}, "no content": {Digest: good.Digest},
		"upper case": {Digest: strings.ToUpper(good.Digest), Statement: good.Statement}, "no endpoint": bad,
	} {
		if _, err := g.Apply(context.Background(), []Statement{good, s}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if out := export(t, g); out != "" {
		t.Errorf("something was applied:\n%s", out)
	}
}
