package check

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestFieldChallenges(t *testing.T) {
	lines := bufio.NewScanner(strings.NewReader(string(fieldFile(t, "oauth", "challenges.jsonl"))))
	for lines.Scan() {
		var c struct {
			H                []string
			URL              *string
			Base, Warn, Fail string
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		base := c.Base
		if base == "" {
			base = "https://a.test/mcp"
		}
		got := readChallenge(http.Header{"Www-Authenticate": c.H}, base)
		want := ""
		if c.URL != nil {
			want = *c.URL
		}
		if got.metadata != want {
			t.Errorf("%q: %q, want %q", c.H, got.metadata, want)
		}
		if (c.Warn+c.Fail != "") != (len(got.faults) > 0) {
			t.Errorf("%q: faults %q, want %q%q", c.H, got.faults, c.Warn, c.Fail)
		}
	}
}

func FuzzChallenge(f *testing.F) {
	f.Add(`Bearer realm="x, y", resource_metadata = "https://a.test/p"`)
	f.Add(`Basic realm="b", Bearer resource_metadata='x`)
	f.Fuzz(func(t *testing.T, s string) {
		c := readChallenge(http.Header{"Www-Authenticate": {s}}, "https://a.test/mcp")
		if u, err := url.Parse(c.metadata); c.metadata != "" && (err != nil || u.Host == "" || u.User != nil) {
			t.Errorf("%q", c.metadata)
		}
	})
}

// guarded is a protected server and its authorization server on one host.
// BASE in a document stands for the server's URL.
type guarded struct {
	challenge string            // WWW-Authenticate; "" for none
	documents map[string]string // by path; what is missing gets 404
	status    map[string]int    // by path
	status401 int
	tools     string // tools/list is answered without credentials
	asked     []string
	base      string
}

func (g *guarded) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	g.asked = append(g.asked, req.URL.Path)
	if req.URL.Path == "/mcp" {
		body, _ := readAll(req)
		if g.tools != "" && strings.Contains(string(body), `"tools/list"`) {
			(&fixture{results: map[string]string{"tools/list": `{"tools":[` + g.tools + `]}`}}).ServeHTTP(w, req)
			return
		}
		if g.challenge != "" {
			w.Header().Set("WWW-Authenticate", strings.ReplaceAll(g.challenge, "BASE", g.base))
		}
		w.WriteHeader(g.status401)
		return
	}
	if s := g.status[req.URL.Path]; s != 0 {
		w.WriteHeader(s)
		return
	}
	doc, ok := g.documents[req.URL.Path]
	if !ok {
		http.NotFound(w, req)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, strings.ReplaceAll(doc, "BASE", g.base))
}

const (
	goodChallenge = `Bearer resource_metadata="BASE/.well-known/oauth-protected-resource/mcp"`
	prmPath       = "/.well-known/oauth-protected-resource/mcp"
	prmRoot       = "/.well-known/oauth-protected-resource"
	asPath        = "/.well-known/oauth-authorization-server"
	goodPRM       = `{"resource":"BASE/mcp","authorization_servers":["BASE"]}`
	goodAS        = `{"issuer":"BASE","authorization_endpoint":"BASE/a","token_endpoint":"BASE/t","code_challenge_methods_supported":["S256"],"client_id_metadata_document_supported":true,"grant_types_supported":["authorization_code"]}`
)

func TestProtectedServers(t *testing.T) {
	docs := func(prm, as string) map[string]string { return map[string]string{prmPath: prm, asPath: as} }
	for _, c := range []struct {
		name   string
		server guarded
		auth   string
		want   map[string]string
	}{
		{"all right", guarded{challenge: goodChallenge, documents: docs(goodPRM, goodAS)}, AuthOAuth, map[string]string{
			"discovery.first_contact": "pass", "discovery.challenge": "pass", "discovery.prm": "pass", "discovery.prm.resource": "pass",
			"discovery.as": "pass", "discovery.as.https": "pass", "discovery.as.pkce": "pass", "discovery.as.grants": "info",
			"discovery.registration": "pass", "discovery.ssrf": "skip", "auth.unauthenticated_tools": "pass",
			"handshake.era": "skip", "handshake.initialize": "skip", "catalog.tools.list": "skip", "catalog.text.hidden": "skip"}},
		{"no header", guarded{documents: map[string]string{prmRoot: goodPRM, asPath: goodAS}}, AuthOAuth, map[string]string{
			"discovery.challenge": "warn", "discovery.prm": "pass"}},
		{"Basic only", guarded{challenge: `Basic realm="x"`, documents: docs(goodPRM, goodAS)}, AuthOAuth, map[string]string{"discovery.challenge": "warn"}},
		{"no resource_metadata", guarded{challenge: "Bearer", documents: docs(goodPRM, goodAS)}, AuthOAuth, map[string]string{"discovery.challenge": "warn", "discovery.prm": "pass"}},
		{"no metadata", guarded{challenge: "Bearer"}, AuthProtected, map[string]string{"discovery.prm": "fail critical", "discovery.as": "skip"}},
		{"metadata is a web page", guarded{challenge: goodChallenge, documents: map[string]string{prmPath: "<html>", prmRoot: "<html>"}}, AuthProtected,
			map[string]string{"discovery.prm": "fail critical"}},
		{"CDN refuses the path, root is there", guarded{challenge: "Bearer", status: map[string]int{prmPath: 401}, documents: map[string]string{prmRoot: goodPRM, asPath: goodAS}}, AuthOAuth,
			map[string]string{"discovery.prm": "pass"}},
		{"path is down", guarded{challenge: "Bearer", status: map[string]int{prmPath: 503}}, AuthProtected, map[string]string{"discovery.prm": "skip"}},
		{"no authorization server", guarded{challenge: goodChallenge, documents: docs(`{"resource":"BASE/mcp","authorization_servers":[]}`, goodAS)}, AuthProtected,
			map[string]string{"discovery.prm": "fail critical", "discovery.as": "skip"}},
		{"no resource", guarded{challenge: goodChallenge, documents: docs(`{"authorization_servers":["BASE"]}`, goodAS)}, AuthOAuth, map[string]string{"discovery.prm.resource": "warn"}},
		{"origin as resource", guarded{challenge: goodChallenge, documents: docs(`{"resource":"BASE","authorization_servers":["BASE"]}`, goodAS)}, AuthOAuth, map[string]string{"discovery.prm.resource": "warn"}},
		{"trailing slash", guarded{challenge: goodChallenge, documents: docs(`{"resource":"BASE/mcp/","authorization_servers":["BASE"]}`, goodAS)}, AuthOAuth, map[string]string{"discovery.prm.resource": "warn"}},
		{"other resource", guarded{challenge: goodChallenge, documents: docs(`{"resource":"https://other.test/mcp","authorization_servers":["BASE"]}`, goodAS)}, AuthOAuth, map[string]string{"discovery.prm.resource": "fail major"}},
		{"authorization server has no metadata", guarded{challenge: goodChallenge, documents: map[string]string{prmPath: goodPRM}}, AuthOAuth, map[string]string{
			"discovery.as": "fail critical", "discovery.as.pkce": "skip", "discovery.registration": "skip"}},
		{"other issuer", guarded{challenge: goodChallenge, documents: docs(goodPRM, `{"issuer":"BASE/"}`)}, AuthOAuth, map[string]string{"discovery.as": "fail major"}},
		{"authorization server is down", guarded{challenge: goodChallenge, documents: map[string]string{prmPath: goodPRM}, status: map[string]int{asPath: 500}}, AuthOAuth,
			map[string]string{"discovery.as": "skip"}},
		{"plain http and no PKCE", guarded{challenge: goodChallenge, documents: docs(goodPRM, `{"issuer":"BASE","token_endpoint":"http://as.test/t"}`)}, AuthOAuth, map[string]string{
			"discovery.as.https": "fail major", "discovery.as.pkce": "warn", "discovery.registration": "warn"}},
		{"only plain PKCE", guarded{challenge: goodChallenge, documents: docs(goodPRM, `{"issuer":"BASE","code_challenge_methods_supported":["plain"],"registration_endpoint":"BASE/r"}`)}, AuthOAuth,
			map[string]string{"discovery.as.pkce": "fail major", "discovery.registration": "pass"}},
		{"http issuer elsewhere", guarded{challenge: goodChallenge, documents: docs(`{"resource":"BASE/mcp","authorization_servers":["http://as.test"]}`, goodAS)}, AuthOAuth, map[string]string{
			"discovery.as": "skip", "discovery.as.https": "fail major"}},
		{"403", guarded{status401: 403}, AuthProtected, map[string]string{"discovery.first_contact": "warn", "discovery.challenge": "skip", "discovery.prm": "skip"}},
		{"tools are not guarded", guarded{challenge: goodChallenge, documents: docs(goodPRM, goodAS), tools: toolJSON("delete_note", honest, `{}`)}, AuthOAuth,
			map[string]string{"auth.unauthenticated_tools": "fail major", "catalog.tools.list": "skip"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := c.server
			if g.status401 == 0 {
				g.status401 = http.StatusUnauthorized
			}
			server := httptest.NewServer(&g)
			defer server.Close()
			g.base = server.URL
			rep := runURL(t, "streamable-http", server.URL+"/mcp")
			wantOutcomes(t, rep, c.want)
			if rep.Auth != c.auth {
				t.Errorf("auth %q, want %q", rep.Auth, c.auth)
			}
			if len(rep.Exchanges) > 12 {
				t.Errorf("%d requests: %q", len(rep.Exchanges), g.asked)
			}
			for _, id := range []string{"handshake.initialize", "catalog.tools.list"} {
				if f := find(rep, id); !strings.HasPrefix(f[0].Observed, "protected") {
					t.Errorf("%s: %s", id, f[0].Observed)
				}
			}
			if c.name == "all right" {
				// connectivity and authorization only: 30 of 70.
				if rep.Score == nil || rep.Score.Total != 100 || rep.Score.Grade != "A" || rep.Score.Coverage != 42.9 || rep.Blocked != nil {
					t.Errorf("score %+v, blocked %+v", rep.Score, rep.Blocked)
				}
				if !slices.Equal(rep.Issuers, []string{server.URL}) {
					t.Errorf("issuers %q", rep.Issuers)
				}
			}
			if t.Failed() {
				dump(t, rep)
			}
		})
	}
}

// A public server that points at the inside of a network. Nothing there is
// asked: the endpoint is judged with a line that refuses to send.
func TestPrivateMetadata(t *testing.T) {
	for _, c := range []struct{ named, want string }{
		{"http://169.254.169.254/latest", "fail major"},
		{"https://10.0.0.5/as", "fail major"},
		{"https://[::ffff:127.0.0.1]/", "fail major"},
		{"https://localhost/as", "fail major"},
		{"https://as.example/", "pass"},
	} {
		endpoint := "https://mcp.test/mcp"
		u, _ := url.Parse(endpoint)
		r := &run{url: u, report: &Report{}}
		r.judgePrivate([]string{"https://mcp.test/.well-known/oauth-protected-resource", c.named}, at(2))
		for _, f := range r.report.Findings {
			prove(f)
		}
		if got := outcome(r.report, "discovery.ssrf"); got != c.want {
			t.Errorf("%s: %q, want %q", c.named, got, c.want)
		}
	}
}
