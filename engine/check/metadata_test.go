package check

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/crawler/wire"
)

// town serves several public names over TLS on loopback: mcp.test/mcp answers
// 401 with a challenge, and everything else is a document or 404.
type town struct {
	challenge string
	documents map[string]string // by host and path; a number is a status
	asked     []string          // by host and path, without mcp.test/mcp
}

func (s *town) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	at := req.Host + req.URL.Path
	if at == "mcp.test/mcp" {
		if s.challenge != "" {
			w.Header().Set("WWW-Authenticate", s.challenge)
		}
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	s.asked = append(s.asked, at)
	doc, ok := s.documents[at]
	var status int
	if _, err := fmt.Sscanf(doc, "%d", &status); err == nil {
		w.WriteHeader(status)
		return
	}
	if !ok {
		http.NotFound(w, req)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, doc)
}

const (
	townChallenge = `Bearer resource_metadata="https://mcp.test/.well-known/oauth-protected-resource/mcp"`
	townPRM       = "mcp.test" + prmPath
)

func prm(resource string, issuers ...string) string {
	return fmt.Sprintf(`{"resource":%q,"authorization_servers":["%s"]}`, resource, strings.Join(issuers, `","`))
}

func as(issuer string) string {
	return fmt.Sprintf(`{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"code_challenge_methods_supported":["S256"],"client_id_metadata_document_supported":true}`,
		issuer, issuer+"/authorize", issuer+"/token")
}

// Servers under public names: the line is that of a census, which named none
// of them, so the scope and the address guard hold. No net phase is run, since
// it would see that the names lead to loopback.
func TestMetadataOfPublicServers(t *testing.T) {
	now := time.Now()
	names := []string{"mcp.test", "as.test", "as2.test", "as3.test", "meta.test"}
	root, _ := issue(t, nil, "Test Root", true, now.Add(-time.Hour), now.Add(time.Hour))
	_, cert := issue(t, root, "leaf", false, now.Add(-time.Hour), now.Add(time.Hour), names...)
	pool := x509.NewCertPool()
	pool.AddCert(root.cert)
	const endpoint = "https://mcp.test/mcp"
	right := map[string]string{"discovery.first_contact": "pass", "discovery.challenge": "pass", "discovery.prm": "pass", "discovery.prm.resource": "pass",
		"discovery.as": "pass", "discovery.as.https": "pass", "discovery.as.pkce": "pass", "discovery.registration": "pass", "discovery.ssrf": "pass"}
	for _, c := range []struct {
		name   string
		server town
		auth   string
		want   map[string]string
		never  string   // a host that must not be asked
		hosts  []string // refused by the scope
	}{
		{name: "all right", server: town{challenge: townChallenge, documents: map[string]string{townPRM: prm(endpoint, "https://as.test"), "as.test" + asPath: as("https://as.test")}},
			auth: AuthOAuth, want: right},
		{name: "all right, with a tenant and other challenges", server: town{challenge: "Negotiate, " + townChallenge + ", scope=\"a b\"", documents: map[string]string{
			townPRM: prm(endpoint, "https://as.test/t1"), "as.test/.well-known/openid-configuration/t1": as("https://as.test/t1")}}, auth: AuthOAuth, want: right},
		{name: "resource in another spelling", server: town{challenge: townChallenge, documents: map[string]string{townPRM: prm("https://MCP.test:443/mcp", "https://as.test"), "as.test" + asPath: as("https://as.test")}},
			auth: AuthOAuth, want: right},
		{name: "the origin with its port", server: town{challenge: townChallenge, documents: map[string]string{townPRM: prm("https://mcp.test:443", "https://as.test")}},
			auth: AuthOAuth, want: map[string]string{"discovery.prm.resource": "warn", "discovery.as": "fail critical"}},
		{name: "resource with a fragment", server: town{challenge: townChallenge, documents: map[string]string{townPRM: prm(endpoint+"#x", "https://as.test")}},
			auth: AuthOAuth, want: map[string]string{"discovery.prm.resource": "fail major"}},
		{name: "lost: nothing anywhere", server: town{challenge: "Bearer"}, auth: AuthProtected,
			want: map[string]string{"discovery.challenge": "warn", "discovery.prm": "fail critical", "discovery.as": "skip", "discovery.ssrf": "skip"}},
		{name: "metadata on another public host", server: town{challenge: `Bearer resource_metadata="https://meta.test/prm"`}, auth: AuthProtected,
			want: map[string]string{"discovery.challenge": "pass", "discovery.prm": "skip", "discovery.ssrf": "pass"}, never: "meta.test", hosts: []string{"meta.test"}},
		{name: "metadata of a cloud", server: town{challenge: `Bearer resource_metadata="http://169.254.169.254/latest"`}, auth: AuthProtected,
			want: map[string]string{"discovery.prm": "fail critical", "discovery.ssrf": "fail major"}, hosts: []string{"169.254.169.254"}},
		{name: "issuer on an address that is not public, which only dialling shows", server: town{challenge: townChallenge, documents: map[string]string{townPRM: prm(endpoint, "https://192.0.2.7")}},
			auth: AuthOAuth, want: map[string]string{"discovery.as": "skip", "discovery.as.pkce": "skip", "discovery.ssrf": "fail major"}, hosts: []string{"192.0.2.7"}},
		{name: "token endpoint inside", server: town{challenge: townChallenge, documents: map[string]string{townPRM: prm(endpoint, "https://as.test"),
			"as.test" + asPath: `{"issuer":"https://as.test","token_endpoint":"https://0x7f.1/t","code_challenge_methods_supported":["S256"]}`}},
			auth: AuthOAuth, want: map[string]string{"discovery.as": "pass", "discovery.as.https": "pass", "discovery.ssrf": "fail major"}},
		{name: "plain http issuer is not asked", server: town{challenge: townChallenge, documents: map[string]string{townPRM: prm(endpoint, "http://as.test")}},
			auth: AuthOAuth, want: map[string]string{"discovery.as": "skip", "discovery.as.https": "fail major", "discovery.ssrf": "pass"}, never: "as.test"},
		{name: "none of two is usable", server: town{challenge: townChallenge, documents: map[string]string{townPRM: prm(endpoint, "https://as.test", "https://as2.test")}},
			auth: AuthOAuth, want: map[string]string{"discovery.as": "fail critical"}},
		{name: "none of two is usable, and a third is not asked", server: town{challenge: townChallenge, documents: map[string]string{townPRM: prm(endpoint, "https://as.test", "https://as2.test", "https://as3.test")}},
			auth: AuthOAuth, want: map[string]string{"discovery.as": "skip"}, never: "as3.test"},
		{name: "one of two is usable", server: town{challenge: townChallenge, documents: map[string]string{townPRM: prm(endpoint, "https://as.test", "https://as2.test"), "as2.test" + asPath: as("https://as2.test")}},
			auth: AuthOAuth, want: map[string]string{"discovery.as": "pass"}},
		{name: "another issuer", server: town{challenge: townChallenge, documents: map[string]string{townPRM: prm(endpoint, "https://as.test"), "as.test" + asPath: as("https://as.test/")}},
			auth: AuthOAuth, want: map[string]string{"discovery.as": "fail major", "discovery.as.pkce": "skip"}},
		{name: "another issuer, and one place is down", server: town{challenge: townChallenge, documents: map[string]string{townPRM: prm(endpoint, "https://as.test"),
			"as.test" + asPath: "503", "as.test/.well-known/openid-configuration": as("https://as.test/")}}, auth: AuthOAuth, want: map[string]string{"discovery.as": "skip"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(&c.server)
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
			server.StartTLS()
			defer server.Close()
			var resolve []string
			for _, name := range names {
				resolve = append(resolve, name+":443:"+server.Listener.Addr().String())
			}
			door, err := wire.NewDoor(wire.Options{RootCAs: pool, Resolve: resolve})
			if err != nil {
				t.Fatal(err)
			}
			line, err := door.Open(endpoint, false)
			if err != nil {
				t.Fatal(err)
			}
			defer line.Close()
			place, err := target.New(target.StreamableHTTP, endpoint)
			if err != nil {
				t.Fatal(err)
			}
			rep := Run(t.Context(), place, Options{Line: line, Phases: []string{PhaseDiscovery}})
			wellFormed(t, rep)
			wantOutcomes(t, rep, c.want)
			if rep.Auth != c.auth {
				t.Errorf("auth %q, want %q", rep.Auth, c.auth)
			}
			if c.never != "" && slices.ContainsFunc(c.server.asked, func(at string) bool { return strings.HasPrefix(at, c.never) }) {
				t.Errorf("%s was asked: %q", c.never, c.server.asked)
			}
			if !slices.Equal(rep.Hosts, c.hosts) && len(rep.Hosts)+len(c.hosts) > 0 {
				t.Errorf("refused hosts %q, want %q", rep.Hosts, c.hosts)
			}
			if len(rep.Exchanges) > 12 {
				t.Errorf("%d requests: %q", len(rep.Exchanges), c.server.asked)
			}
			if t.Failed() {
				dump(t, rep)
			}
		})
	}
}

// What is odd about a document is told with what was found in it.
func TestDeviationsAreTold(t *testing.T) {
	g := &guarded{challenge: goodChallenge, status401: http.StatusUnauthorized, documents: map[string]string{
		prmPath: `{"resource":"BASE/mcp","authorization_servers":[7,"BASE"]}`, asPath: goodAS[:len(goodAS)-1] + `,"jwks_uri":true}`}}
	server := httptest.NewServer(g)
	defer server.Close()
	g.base = server.URL
	rep := runURL(t, target.StreamableHTTP, server.URL+"/mcp")
	wantOutcomes(t, rep, map[string]string{"discovery.prm": "pass", "discovery.as": "pass"})
	for id, says := range map[string]string{"discovery.prm": "authorization_servers holds an item", "discovery.as": "jwks_uri is not a string"} {
		if f := find(rep, id); !strings.Contains(f[0].Observed, says) {
			t.Errorf("%s: %s", id, f[0].Observed)
		}
	}
}

// A host that the operator named on a private network may name its neighbours.
func TestPrivateEndpoint(t *testing.T) {
	for _, c := range []struct {
		addresses []string
		want      string
	}{
		{[]string{"10.0.0.9"}, "skip"},
		{[]string{"10.0.0.9", "fd00::9"}, "skip"},
		{[]string{"10.0.0.9", "8.8.8.8"}, "fail major"},
		{nil, "fail major"},
	} {
		place, err := target.New(target.StreamableHTTP, "https://mcp.test/mcp")
		if err != nil {
			t.Fatal(err)
		}
		conn := &wire.Connection{}
		for _, a := range c.addresses {
			conn.Addresses = append(conn.Addresses, netip.MustParseAddr(a))
		}
		r := &run{endpoint: place, report: &Report{}, conn: conn}
		if err := r.prepare(Options{Line: scripted{conn: conn}}); err != nil {
			t.Fatal(err)
		}
		r.judgePrivate([]string{"https://10.0.0.5/as"}, at(2))
		if got := outcome(r.report, "discovery.ssrf"); got != c.want {
			t.Errorf("%q: %q, want %q", c.addresses, got, c.want)
		}
	}
}
