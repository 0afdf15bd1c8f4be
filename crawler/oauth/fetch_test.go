package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/lustrum-mcp/lustrum/crawler/wire"
)

// page is what a fake server gives for a URL; one that is not listed is 404.
type page struct {
	status int
	media  string
	body   string
	err    error
}

func doc(body string) page { return page{200, "application/json", body, nil} }

// outside is how a line refuses a host.
var outside = &wire.Error{Err: fmt.Errorf("host x is %w", wire.ErrBlocked)}

type fake struct {
	pages map[string]page
	asked []string
}

func (f *fake) Do(req *http.Request) (*http.Response, error) {
	f.asked = append(f.asked, req.URL.String())
	p, ok := f.pages[req.URL.String()]
	switch {
	case !ok:
		p = page{404, "text/plain", "no", nil}
	case p.err != nil:
		return nil, p.err
	}
	return &http.Response{StatusCode: p.status, Header: http.Header{"Content-Type": {p.media}}, Body: io.NopCloser(strings.NewReader(p.body)), Request: req}, nil
}

const (
	endpoint = "https://h.test/mcp"
	byPath   = "https://h.test/.well-known/oauth-protected-resource/mcp"
	atRoot   = "https://h.test/.well-known/oauth-protected-resource"
	hint     = "https://h.test/here"
	good     = `{"resource":"https://h.test/mcp","authorization_servers":["https://as.test","https://as.test","https://as2.test"],"scopes_supported":["a"],"bearer_methods_supported":["header"]}`
)

func TestFetchResourceMetadata(t *testing.T) {
	for _, c := range []struct {
		name  string
		hint  string
		pages map[string]page
		state State
		url   string
		asked []string
	}{
		{"where the challenge points", hint, map[string]page{hint: doc(good), byPath: doc(`{"resource":"no"}`)}, Found, hint, []string{hint}},
		{"by path without a challenge", "", map[string]page{byPath: doc(good)}, Found, byPath, []string{byPath}},
		{"the challenge points at the path", byPath, map[string]page{atRoot: doc(good)}, Found, atRoot, []string{byPath, atRoot}},
		{"field: a 401 from a CDN is a miss", "", map[string]page{byPath: {401, "text/html", "", nil}, atRoot: doc(good)}, Found, atRoot, []string{byPath, atRoot}},
		{"field: 503 is inconclusive", "", map[string]page{byPath: {503, "", "", nil}}, Inconclusive, "", []string{byPath, atRoot}},
		{"503 and then found", "", map[string]page{byPath: {503, "", "", nil}, atRoot: doc(good)}, Found, atRoot, nil},
		{"nothing anywhere", hint, nil, Absent, "", []string{hint, byPath, atRoot}},
		{"too many requests", "", map[string]page{atRoot: {429, "", "", nil}}, Inconclusive, "", nil},
		{"a redirect elsewhere", "", map[string]page{atRoot: {302, "", "", nil}}, Inconclusive, "", nil},
		{"no answer", "", map[string]page{atRoot: {err: errors.New("reset")}}, Inconclusive, "", nil},
		{"an application's page for everything", "", map[string]page{byPath: {200, "text/html", "<html>", nil}, atRoot: {200, "text/html", "<html>", nil}}, Absent, "", nil},
		{"JSON under another type", "", map[string]page{byPath: {200, "text/plain", good, nil}}, Found, byPath, nil},
		{"a long page of an application", "", map[string]page{byPath: {200, "text/html", strings.Repeat("x", 300<<10), nil}}, Absent, "", nil},
		{"a type that is missing, and no JSON", "", map[string]page{byPath: {200, "", "hello", nil}}, Absent, "", nil},
		{"the only place that is left may not be asked", hint, map[string]page{hint: {err: outside}}, Blocked, "", []string{hint, byPath, atRoot}},
		{"blocked, and another place is down", hint, map[string]page{hint: {err: outside}, atRoot: {503, "", "", nil}}, Inconclusive, "", nil},
		{"down, and another place is blocked", hint, map[string]page{hint: {502, "", "", nil}, byPath: {err: outside}}, Inconclusive, "", nil},
		{"blocked, and found elsewhere", hint, map[string]page{hint: {err: outside}, atRoot: doc(good)}, Found, atRoot, nil},
		{"403 everywhere", "", map[string]page{byPath: {403, "", "", nil}, atRoot: {403, "", "", nil}}, Absent, "", nil},
		{"time-out", "", map[string]page{byPath: {err: context.DeadlineExceeded}}, Inconclusive, "", nil},
		{"a type with parameters", "", map[string]page{byPath: {200, `Application/JSON; charset="utf-8"`, good, nil}}, Found, byPath, nil},
		{"a type with a faulty parameter", "", map[string]page{byPath: {200, "application/json; charset", good, nil}}, Found, byPath, nil},
		{"an error in JSON", "", map[string]page{atRoot: doc(`{"error":"OAuth not configured"}`)}, Absent, "", nil},
		{"another case of names", "", map[string]page{atRoot: doc(`{"Resource":"https://h.test/mcp"}`)}, Absent, "", nil},
		{"null members", "", map[string]page{atRoot: doc(`{"resource":null,"authorization_servers":null}`)}, Absent, "", nil},
		{"an array", "", map[string]page{atRoot: doc("[" + good + "]")}, Absent, "", nil},
		{"two documents", "", map[string]page{atRoot: doc(good + good)}, Absent, "", nil},
		{"half a document", "", map[string]page{atRoot: doc(good[:40])}, Absent, "", nil},
		{"not UTF-8", "", map[string]page{atRoot: doc(`{"resource":"` + "\xff" + `"}`)}, Absent, "", nil},
		{"too deep to tell", "", map[string]page{atRoot: doc(`{"resource":"x","y":` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + `}`)}, Inconclusive, "", nil},
		{"too long to tell", "", map[string]page{atRoot: doc(`{"resource":"` + strings.Repeat("x", 300<<10) + `"}`)}, Inconclusive, "", nil},
		{"no content", "", map[string]page{atRoot: {204, "", "", nil}}, Absent, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fake{pages: c.pages}
			m := FetchResourceMetadata(context.Background(), f, endpoint, c.hint)
			if m.State != c.state || m.URL != c.url {
				t.Errorf("%s %q, want %s %q; %v", m.State, m.URL, c.state, c.url, m.Attempts)
			}
			if c.asked != nil && !slices.Equal(f.asked, c.asked) {
				t.Errorf("asked %q, want %q", f.asked, c.asked)
			}
			if (m.Why() != "") != (c.state == Inconclusive || c.state == Blocked) {
				t.Errorf("why %q", m.Why())
			}
			if len(m.Attempts) != len(f.asked) {
				t.Errorf("%d attempts for %d requests", len(m.Attempts), len(f.asked))
			}
			if c.state == Found && (m.Resource != endpoint || !slices.Equal(m.AuthorizationServers, []string{"https://as.test", "https://as2.test"}) || !slices.Equal(m.Scopes, []string{"a"})) {
				t.Errorf("read %+v", m)
			}
		})
	}
}

func TestFaultyResourceMetadata(t *testing.T) {
	f := &fake{pages: map[string]page{byPath: doc(`{"resource":["x"],"authorization_servers":[1,"https://as.test",null],"resource":7,"dpop_bound_access_tokens_required":"yes"}`)}}
	m := FetchResourceMetadata(context.Background(), f, endpoint, "")
	if m.State != Found || m.Resource != "" || !slices.Equal(m.AuthorizationServers, []string{"https://as.test"}) || m.DPoPRequired {
		t.Errorf("read %+v", m)
	}
	if len(m.Faults) != 5 { // resource twice, resource no string, two items, a flag
		t.Errorf("faults %q", m.Faults)
	}
}

func TestEndOfContextIsInconclusive(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f := &fake{}
	if m := FetchResourceMetadata(ctx, f, endpoint, ""); m.State != Inconclusive || len(f.asked) != 1 {
		t.Errorf("%s after %q", m.State, f.asked)
	}
}

// The last case of wellknown_order.json, and the same with only the wrong
// document there.
func TestFieldIssuer(t *testing.T) {
	cases := orders(t)
	c := cases[len(cases)-1]
	f := &fake{pages: map[string]page{}}
	for at, v := range c.Served {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		f.pages[at] = doc(string(raw))
	}
	right := "https://as.test/.well-known/oauth-authorization-server/http"
	m := FetchAuthorizationServer(context.Background(), f, c.Issuer)
	if m.State != Found || m.URL != right {
		t.Errorf("%s at %q", m.State, m.URL)
	}
	f.pages[right] = doc(`{"issuer":"https://as.test/","token_endpoint":"https://as.test/t"}`)
	m = FetchAuthorizationServer(context.Background(), f, c.Issuer)
	if m.State != Absent || m.OtherIssuer != "https://as.test/" || len(m.Endpoints) != 0 || len(m.Attempts) != 3 {
		t.Errorf("%+v", m)
	}
	// The string must be identical: a slash is enough to differ.
	f = &fake{pages: map[string]page{"https://as.test/.well-known/oauth-authorization-server": doc(`{"issuer":"https://as.test/"}`)}}
	if m = FetchAuthorizationServer(context.Background(), f, "https://as.test"); m.State != Absent || m.OtherIssuer != "https://as.test/" {
		t.Errorf("%+v", m)
	}
}

func TestFetchAuthorizationServer(t *testing.T) {
	openID := "https://as.test/t1/.well-known/openid-configuration"
	f := &fake{pages: map[string]page{openID: doc(`{"issuer":"https://as.test/t1","authorization_endpoint":"https://as.test/a","token_endpoint":"https://as.test/t",
		"registration_endpoint":null,"code_challenge_methods_supported":["plain","S256"],"grant_types_supported":[],"client_id_metadata_document_supported":true,
		"dpop_signing_alg_values_supported":["ES256"],"authorization_grant_profiles_supported":["urn:ietf:params:oauth:grant-profile:id-jag"],"Token_endpoint":"http://evil.test"}`)}}
	m := FetchAuthorizationServer(context.Background(), f, "https://as.test/t1")
	if m.State != Found || m.URL != openID || len(f.asked) != 3 {
		t.Fatalf("%s at %q, asked %q", m.State, m.URL, f.asked)
	}
	if m.Endpoints["token_endpoint"] != "https://as.test/t" || len(m.Endpoints) != 2 {
		t.Errorf("endpoints %v", m.Endpoints)
	}
	if !m.CodeChallengeGiven || !slices.Equal(m.CodeChallengeMethods, []string{"plain", "S256"}) || !m.GrantTypesGiven || len(m.GrantTypes) != 0 ||
		!m.ClientIDMetadataDocument || m.IssuerParameter || !slices.Equal(m.DPoPAlgorithms, []string{"ES256"}) || len(m.GrantProfiles) != 1 || len(m.Faults) != 0 {
		t.Errorf("read %+v", m)
	}
	for _, issuer := range []string{"as.test", "https://as.test?x=y", "ftp://as.test", ""} {
		f := &fake{}
		if m := FetchAuthorizationServer(context.Background(), f, issuer); m.State != Absent || len(f.asked) != 0 || len(m.Attempts) != 1 {
			t.Errorf("%q: %s, asked %q", issuer, m.State, f.asked)
		}
	}
}

// An authorization server that may not be asked is not one without metadata.
func TestBlockedAuthorizationServer(t *testing.T) {
	f := &fake{pages: map[string]page{}}
	for _, place := range WellKnownIssuer("https://as.test") {
		f.pages[place] = page{err: outside}
	}
	m := FetchAuthorizationServer(context.Background(), f, "https://as.test")
	if m.State != Blocked || m.OtherIssuer != "" || !strings.Contains(m.Why(), "not asked") {
		t.Errorf("%s: %v, %s", m.State, m.Attempts, m.Why())
	}
}

// A document of another type is read, and the deviation is told.
func TestTypeOfDocument(t *testing.T) {
	for media, faults := range map[string]int{"application/json": 0, "application/json;charset=utf-8": 0, "text/plain": 1, "text/html": 1, "": 1} {
		f := &fake{pages: map[string]page{byPath: {200, media, good, nil}}}
		m := FetchResourceMetadata(context.Background(), f, endpoint, "")
		if m.State != Found || len(m.Faults) != faults {
			t.Errorf("%q: %s, faults %q", media, m.State, m.Faults)
		}
	}
}

// Over a real line: evidence is numbered, and a challenge that points at a
// cloud's metadata address sends nothing there.
func TestOverTheWire(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/oauth-protected-resource" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"resource":"http://%s/mcp","authorization_servers":["https://as.test"]}`, r.Host)
	}))
	defer server.Close()
	door, err := wire.NewDoor(wire.Options{UserAgent: "test"})
	if err != nil {
		t.Fatal(err)
	}
	line, err := door.Open(server.URL, true)
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	m := FetchResourceMetadata(context.Background(), line, server.URL+"/mcp", "http://169.254.169.254/latest")
	if m.State != Found || m.Ref != 2 || !SameResource(server.URL+"/mcp", m.Resource) {
		t.Errorf("%s, req#%d, %q", m.State, m.Ref, m.Resource)
	}
	if first, last := m.Refs(); first != 1 || last != 2 {
		t.Errorf("req#%d-%d, want 1-2", first, last)
	}
	if a := m.Attempts[0]; a.Ref != 0 || !a.Open || !a.Blocked || !strings.HasPrefix(a.Outcome, "not asked") {
		t.Errorf("the blocked attempt: %+v", a)
	}
	if got := line.Blocked(); !slices.Equal(got, []string{"169.254.169.254"}) {
		t.Errorf("blocked %q", got)
	}
}

func FuzzReadDocument(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"issuer":"a","issuer":["b"],"c":{"d":[]}} `))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := readDocument(data)
		if err != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatal("accepted what is not JSON")
		}
		for name := range d.members {
			d.text(name)
			if items, _ := d.list(name); len(items) > maxList {
				t.Fatalf("%d items", len(items))
			}
			d.flag(name)
		}
	})
}
