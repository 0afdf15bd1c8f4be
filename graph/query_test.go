package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// world is the graph that the tests below ask about:
//
//	a.example.com  open, F, tools read (read-only), wipe (destructive), bare;
//	               wipe fails catalog.text.hidden (critical), the server warns
//	b.example.org  oauth at as.example.net, A, tool bare (same definition as a's);
//	               the issuer fails discovery.as.pkce (major)
//	c.example.org  oauth at as.example.net too, nothing assessed
//	d.example.org  listed, never attested
func world(t testing.TB) *Graph {
	g := memory(t)
	annotate := func(p *attest.Predicate) {
		p.Catalogue.Tools[0].Annotations.ReadOnly = ptr(true)
		p.Catalogue.Tools[1].Annotations.Destructive = ptr(true)
	}
	grade := func(grade string, total float64) func(*attest.Predicate) {
		return func(p *attest.Predicate) { p.Score = &rubric.Score{Grade: grade, Total: total, Coverage: 50} }
	}
	warn := func(p *attest.Predicate) {
		p.Verdicts = append(p.Verdicts, attest.Verdict{ID: "net.tls.version", Phase: "net", Status: rubric.Warn})
	}
	apply(t, g,
		statement("https://a.example.com/mcp", "2026-01-01T00:00:00.000Z", tools("read", "wipe", "bare"), annotate, grade("F", 20.5),
			fail("catalog.text.hidden", rubric.Critical, "wipe"), warn),
		statement("https://b.example.org/mcp", "2026-01-02T00:00:00.000Z", tools("bare"), grade("A", 97), issuer("https://as.example.net"),
			fail("discovery.as.pkce", rubric.Major, "https://as.example.net")),
		statement("https://c.example.org/mcp", "2026-01-03T00:00:00.000Z", issuer("https://as.example.net")),
	)
	listing := func(name, url string) Listing {
		return Listing{Name: name, Version: "1.0.0", Namespace: "com.example", Status: "active", Transport: "streamable-http", Endpoint: url,
			Repository: "https://github.com/example/x.git"}
	}
	list(t, g, Source{Kind: "registry", Ref: "https://registry.example/", Complete: true, Listings: []Listing{
		listing("com.example/a", "https://a.example.com/mcp"), listing("com.example/d", "https://d.example.org/mcp"),
	}})
	return g
}

func TestQuery(t *testing.T) {
	g := world(t)
	for _, c := range []struct {
		path, where string
		want        []string // names of each row
		undecided   int
	}{
		{"server", `server.auth == "open"`, []string{"https://a.example.com/mcp"}, 1},
		{"server", `has(server.auth) && server.auth != "open"`, []string{"https://b.example.org/mcp", "https://c.example.org/mcp"}, 0},
		{"server", `!has(server.auth)`, []string{"https://d.example.org/mcp"}, 0},
		{"server", `server.score < 50`, []string{"https://a.example.com/mcp"}, 2},
		{"server", `server.finished_at > timestamp("2026-01-02T12:00:00Z")`, []string{"https://c.example.org/mcp"}, 1},
		{"server -> tool", `tool.destructive && server.auth == "open"`, []string{"https://a.example.com/mcp bare", "https://a.example.com/mcp wipe"}, 0},
		{"server -> tool", `has(tool.destructiveHint) && tool.destructiveHint`, []string{"https://a.example.com/mcp wipe"}, 0},
		{"server -> tool", `tool.readOnly`, []string{"https://a.example.com/mcp read"}, 0},
		{"tool <- server", `server.grade in ["A", "B"]`, []string{"bare https://b.example.org/mcp"}, 0},
		{"server -> namespace", "", []string{
			"https://a.example.com/mcp com.example/a@1.0.0 com.example", "https://d.example.org/mcp com.example/d@1.0.0 com.example"}, 0},
		{"namespace <- server", `server.auth == "open"`, []string{"com.example com.example/a@1.0.0 https://a.example.com/mcp"}, 1},
		{"server -> repository", `server.auth == "open"`, []string{"https://a.example.com/mcp com.example/a@1.0.0 https://github.com/example/x"}, 1},
		{"host -> host", "", []string{"a.example.com example.com", "b.example.org example.org", "c.example.org example.org", "d.example.org example.org"}, 0},
		{"issuer -> check", `finding.severity == "major"`, []string{"https://as.example.net discovery.as.pkce"}, 0},
		{"server -warns-> check", "", []string{"https://a.example.com/mcp net.tls.version"}, 0},
		{"server ->* check", `finding.status == "fail" && check.phase == "catalog"`, []string{"https://a.example.com/mcp catalog.text.hidden"}, 0},
		{"server ->* check", `check.id == "discovery.as.pkce"`, []string{"https://b.example.org/mcp discovery.as.pkce", "https://c.example.org/mcp discovery.as.pkce"}, 0},
		{"check <-* server", `finding.severity == "major"`, []string{"discovery.as.pkce https://b.example.org/mcp", "discovery.as.pkce https://c.example.org/mcp"}, 1},
		{"server -> issuer <- server", `server != server2`, []string{
			"https://b.example.org/mcp https://as.example.net https://c.example.org/mcp", "https://c.example.org/mcp https://as.example.net https://b.example.org/mcp"}, 0},
		{"tool -> tool", "", []string{"bare bare", "bare bare"}, 0},
		{"server -> attestation", `attestation.rubric == "anonymous/1" && server.grade == "A"`, []string{"https://b.example.org/mcp " + digestOf(t, g, "https://b.example.org/mcp")}, 1},
		{"source <- server", "", []string{"registry https://registry.example/ https://a.example.com/mcp", "registry https://registry.example/ https://d.example.org/mcp"}, 0},
	} {
		t.Run(c.path+" "+c.where, func(t *testing.T) {
			rows, err := g.Query(context.Background(), c.path, c.where, QueryOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range rows.Rows {
				var names []string
				for _, n := range r.Nodes {
					if n.Name == "" || n.Key == "" || n.Kind == "" {
						t.Errorf("a node without a name: %+v", r.Nodes)
					}
					names = append(names, n.Name)
				}
				got = append(got, strings.Join(names, " "))
			}
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" || rows.Count != len(c.want) || rows.Undecided != c.undecided {
				t.Errorf("count %d, undecided %d (want %d), rows (-want +got):\n%s", rows.Count, rows.Undecided, c.undecided, diff)
			}
			counted, err := g.Query(context.Background(), c.path, c.where, QueryOptions{Count: true})
			if err != nil || counted.Count != len(c.want) || len(counted.Rows) != 0 {
				t.Errorf("counted %d, %d rows, %v", counted.Count, len(counted.Rows), err)
			}
		})
	}
}

func digestOf(t testing.TB, g *Graph, ref string) string {
	rows, err := g.Query(context.Background(), "server -> attestation", fmt.Sprintf("server.endpoint == %q", ref), QueryOptions{})
	if err != nil || len(rows.Rows) != 1 {
		t.Fatal(rows, err)
	}
	return rows.Rows[0].Nodes[1].Key
}

func TestQueryLimitAndGroup(t *testing.T) {
	g := world(t)
	rows, err := g.Query(context.Background(), "server -> tool", "", QueryOptions{Limit: 2})
	if err != nil || len(rows.Rows) != 2 || rows.Count != 2 || !rows.Truncated {
		t.Errorf("limit 2 of 4: %+v, %v", rows, err)
	}
	if rows, err = g.Query(context.Background(), "server -> tool", "", QueryOptions{Limit: 4}); err != nil || len(rows.Rows) != 4 || rows.Truncated {
		t.Errorf("limit 4 of 4: %+v, %v", rows, err)
	}
	rows, err = g.Query(context.Background(), "server -> tool", "", QueryOptions{Group: "server.auth"})
	if diff := cmp.Diff([]Group{{"open", 3}, {"oauth", 1}}, rows.Groups); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	rows, err = g.Query(context.Background(), "server -> tool", "", QueryOptions{Group: "tool.destructive && true", Limit: 1})
	if diff := cmp.Diff([]Group{{"true", 3}}, rows.Groups); err != nil || diff != "" || !rows.Truncated {
		t.Errorf("%v %s", err, diff)
	}
}

func TestMisspelt(t *testing.T) {
	g := world(t)
	for _, c := range []struct{ path, where, want string }{
		{"sever -> tool", "", `path: "sever" is no kind of node: did you mean "server"?`},
		{"server -> tools", "", `path: "tools" is no kind of node: did you mean "tool"?`},
		{"server -> tool", "tool.destructve", `condition "tool.destructve": tool has no field "destructve": did you mean "destructive"?`},
		{"server", `server.atuh == "open"`, `condition "server.atuh == \"open\"": server has no field "atuh": did you mean "auth"?`},
		{"server", `sever.auth == "open"`, `condition "sever.auth == \"open\"": "sever" is unknown: did you mean "server"?`},
		{"server", `tool.destructive`, `condition "tool.destructive": "tool" is unknown: it is not on the path, which has server`},
		{"server", `server.auth == 3`, `condition "server.auth == 3": at column 13: found no matching overload for '_==_' applied to '(string, int)'`},
		{"server", `server.auth`, `condition "server.auth" is of type string and not bool`},
		{"server", `server.auth ==`, `condition "server.auth ==": at column 15: Syntax error`},
		{"tool -> server", "", "path: no way leads from tool to server: did you mean tool <- server?"},
		{"server -exposed-> tool", "", `path: no edge "exposed" leads from server to tool: did you mean "exposes"?`},
		{"server -> source -> check", "", "path: no way leads from source to check"},
		{"server => tool", "", `path: "=> tool" is no arrow: write ->, ->*, <-, <-*, -EDGE-> or <-EDGE-`},
		{"server ->", "", `path: a kind is missing at ""`},
		{"", "", `path: a kind is missing at ""`},
		{"server ->* attestation", "", "path: no chain of inheriting edges leads from server to attestation"},
	} {
		_, err := g.Query(context.Background(), c.path, c.where, QueryOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s, %s:\n got %v\nwant %s", c.path, c.where, err, c.want)
		}
	}
	if _, err := g.Query(context.Background(), "server", "", QueryOptions{Group: "server.grad"}); err == nil || !strings.Contains(err.Error(), `did you mean "grade"?`) {
		t.Errorf("group: %v", err)
	}
}

func TestRisk(t *testing.T) {
	g := world(t)
	risks, err := g.Risk(context.Background(), "https://A.example.com:443/mcp")
	if err != nil {
		t.Fatal(err)
	}
	e, err := target.New("streamable-http", "https://a.example.com/mcp")
	if err != nil {
		t.Fatal(err)
	}
	a := digestOf(t, g, "https://a.example.com/mcp")
	server := Node{Kind: "server", Key: e.ID(), Name: "https://a.example.com/mcp"}
	wipe := Node{Kind: "tool", Key: e.ID() + "/wipe", Name: "wipe"}
	want := []Risk{
		{Check: "catalog.text.hidden", Status: "fail", Severity: "critical", At: wipe, Path: []Step{{From: server, Edge: "exposes", To: wipe}}, Evidence: []string{a}},
		{Check: "net.tls.version", Status: "warn", At: server, Evidence: []string{a}},
	}
	if diff := cmp.Diff(want, risks); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// c has no finding of its own; its issuer's was found by checking b.
	risks, err = g.Risk(context.Background(), "https://c.example.org/mcp")
	if err != nil || len(risks) != 1 || risks[0].Check != "discovery.as.pkce" || risks[0].At.Kind != "issuer" ||
		len(risks[0].Path) != 1 || risks[0].Path[0].Edge != "authorized_by" || !slices.Equal(risks[0].Evidence, []string{digestOf(t, g, "https://b.example.org/mcp")}) {
		t.Errorf("risk of c: %+v, %v", risks, err)
	}
}

func TestBlast(t *testing.T) {
	g := world(t)
	for ref, want := range map[string]string{
		"issuer:https://as.example.net": "server https://b.example.org/mcp, server https://c.example.org/mcp",
		"host:example.org":              "host b.example.org, host c.example.org, host d.example.org, server https://b.example.org/mcp, server https://c.example.org/mcp, server https://d.example.org/mcp",
		"check:discovery.as.pkce":       "issuer https://as.example.net, server https://b.example.org/mcp, server https://c.example.org/mcp",
		"https://a.example.com/mcp":     "",
	} {
		reached, err := g.Blast(context.Background(), ref)
		if err != nil {
			t.Errorf("%s: %v", ref, err)
			continue
		}
		var got []string
		for _, r := range reached {
			if len(r.Path) == 0 {
				t.Errorf("%s: no path to %s", ref, r.Node.Name)
			}
			got = append(got, r.Node.Kind+" "+r.Node.Name)
		}
		slices.Sort(got)
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %s; want %s", ref, strings.Join(got, ", "), want)
		}
	}
}

func TestFind(t *testing.T) {
	g := world(t)
	e, err := target.New("streamable-http", "https://a.example.com/mcp")
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		"server:" + e.ID(): e.ID(), e.ID(): e.ID(), "https://a.example.com/mcp": e.ID(), "HTTPS://a.example.com/mcp": e.ID(),
		"https://a.example.com:443/x/../mcp#f": e.ID(), "com.example/a": e.ID(), "com.example/a@1.0.0": e.ID(),
		"listing:com.example/a@1.0.0": "com.example/a@1.0.0", "host:example.com": "example.com", "check:net.tls.version": "net.tls.version",
		"https://as.example.net": "https://as.example.net", "tool:" + e.ID() + "/wipe": e.ID() + "/wipe",
		"https://nowhere.example/": "", "com.example/zzz": "", "sever:x": "", "": "",
	} {
		n, err := g.Find(context.Background(), ref)
		if n.Key != want || (err == nil) != (want != "") {
			t.Errorf("%q: %+v, %v; want %q", ref, n, err, want)
		}
	}
	if _, err := g.Find(context.Background(), "sever:x"); err == nil || !strings.Contains(err.Error(), `did you mean "server"?`) {
		t.Errorf("misspelt kind: %v", err)
	}
	list(t, g, Source{Kind: "registry", Ref: "two", Complete: true, Listings: []Listing{
		{Name: "com.example/a", Version: "2.0.0", Transport: "streamable-http", Endpoint: "https://b.example.org/mcp"}}})
	if _, err := g.Find(context.Background(), "com.example/a"); err == nil || !strings.Contains(err.Error(), "more than one node: server:") {
		t.Errorf("two servers under one name: %v", err)
	}
}

func FuzzQuery(f *testing.F) {
	g := world(f)
	for _, s := range [][2]string{
		{"server -> tool", "tool.destructive"}, {"server ->* check", `finding.severity == "x"`}, {"check <-fails- tool", ""},
		{"server", `server.score > 1.0 && [1,2].exists(x, x > 1)`}, {"server", `server == server`}, {"tool -> tool <- server", "tool2.name.matches('.*')"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, path, where string) {
		rows, err := g.Query(context.Background(), path, where, QueryOptions{Limit: 5})
		if err != nil && strings.Contains(err.Error(), "damaged") {
			t.Fatal(err)
		}
		if err == nil && len(rows.Columns) == 0 {
			t.Fatal("an answer without columns")
		}
	})
}
