package registry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func remotesOf(t *testing.T, o Options, remotes string) *Slice {
	t.Helper()
	o.BaseURL, o.All = base, true
	o.HTTP = answering(200, pageJSON("", entryJSON("com.example/a", "1.0.0", `,"remotes":[`+remotes+`]`)))
	s, err := List(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, s)
	return s
}

func TestReasons(t *testing.T) {
	for _, c := range []struct {
		transport, url string
		reason         Reason
		why            string
	}{
		{"streamable-http", "https://a.test/mcp", "", ""},
		{"sse", "http://a.test/sse", "", ""},
		{"streamable", "https://a.test/mcp", "", ""},
		{"streamable_http", "https://a.test/mcp", "", ""},
		{"streamable-http", "https://a.test/@scope/pkg", "", ""},
		{"streamable-http", "https://a.test/mcp?token=&tools=key", "", ""},
		{"streamable-http", "https://8.8.8.8/mcp", "", ""},
		{"stdio", "https://a.test/mcp", UnknownTransport, `unknown transport "stdio"`},
		{"websocket", "wss://a.test/mcp", UnknownTransport, `unknown transport "websocket"`},
		{"", "https://a.test/mcp", UnknownTransport, `unknown transport ""`},
		{"sse", "https://{tenant}.a.test/mcp", TemplateURL, "template variable tenant"},
		{"sse", "{base_url}/mcp", TemplateURL, "template variable base_url"},
		{"sse", "https://a.test/${ORG}/mcp", TemplateURL, "template variable ORG"},
		{"sse", "https://a.test/{{ org }}/mcp", TemplateURL, "template variable org"},
		{"sse", "https://a.test/%7Borg%7D/mcp", TemplateURL, "template variable org"},
		{"sse", "https://a.test/<org>/mcp", TemplateURL, "template variable org"},
		{"sse", "https://a.test/mcp?api_key={api_key}", TemplateURL, "template variable api_key"},
		{"sse", "https://a.test/{}/mcp", TemplateURL, `template variable ""`},
		{"sse", "https://a.test/{org/mcp", TemplateURL, `template variable ""`},
		{"sse", "https://a.test/{a\u001b[31m}/mcp", TemplateURL, `template variable "a\x1b[31m"`},
		{"sse", "ftp://a.test/mcp", NotHTTP, `not http(s): scheme "ftp"`},
		{"sse", "wss://a.test/mcp", NotHTTP, `not http(s): scheme "wss"`},
		{"sse", "javascript:alert(1)", NotHTTP, `not http(s): scheme "javascript"`},
		{"sse", "https://user:hunter2@a.test/mcp", Credentials, "credentials in the URL"},
		{"sse", "https://user:hunter2@a.test:99999/mcp", Credentials, "credentials in the URL"},
		{"sse", "https://a.test/mcp?x=1&API_KEY=hunter2", Credentials, `credentials in the URL: parameter "API_KEY"`},
		{"sse", "https://localhost/mcp", PrivateAddress, `private address: host "localhost"`},
		{"sse", "https://localhost.localdomain/mcp", PrivateAddress, `private address: host "localhost.localdomain"`},
		{"sse", "https://10.0.0.1/mcp", PrivateAddress, `private address: host "10.0.0.1"`},
		{"sse", "https://127.0.0.2:8080/mcp", PrivateAddress, `private address: host "127.0.0.2"`},
		{"sse", "https://169.254.169.254/latest", PrivateAddress, `private address: host "169.254.169.254"`},
		{"sse", "https://2130706433/mcp", PrivateAddress, `private address: host "2130706433"`},
		{"sse", "https://0x7f.1/mcp", PrivateAddress, `private address: host "0x7f.1"`},
		{"sse", "https://[::1]:9/mcp", PrivateAddress, `private address: host "::1"`},
		{"sse", "https://[::ffff:10.0.0.1]/mcp", PrivateAddress, `private address: host "::ffff:10.0.0.1"`},
		{"sse", "https://metadata.google.internal/mcp", PrivateAddress, `private address: host "metadata.google.internal"`},
		{"sse", "", InvalidURL, "invalid URL: the remote has none"},
		{"sse", "a.test/mcp", InvalidURL, "invalid URL: it has no scheme"},
		{"sse", "https://", InvalidURL, "invalid URL: the URL names no host"},
		{"sse", "https://a..test/mcp", InvalidURL, `invalid URL: host "a..test" is not a valid name`},
		{"sse", "https://134744072/mcp", InvalidURL, `invalid URL: host "134744072" ends in a number but is not an address in dotted form (192.0.2.1)`},
	} {
		remote, err := json.Marshal(map[string]string{"type": c.transport, "url": c.url})
		if err != nil {
			t.Fatal(err)
		}
		s := remotesOf(t, Options{}, string(remote))
		r := s.Remotes[0]
		if r.Reason != c.reason || r.Why() != c.why {
			t.Errorf("%s %q: %q, %q; want %q, %q", c.transport, c.url, r.Reason, r.Why(), c.reason, c.why)
		}
		if (r.Endpoint.URL != "") != (c.reason == "") {
			t.Errorf("%q: endpoint %v with reason %q", c.url, r.Endpoint, r.Reason)
		}
		if strings.Contains(r.URL+r.Detail, "hunter2") {
			t.Errorf("%q: the credential is kept: %+v", c.url, r)
		}
		if c.reason != "" && (len(s.LeftOut) != 1 || s.LeftOut[0].Why() != c.why || s.Skipped[c.reason] != 1) {
			t.Errorf("%q: left out %+v", c.url, s.LeftOut)
		}
	}
}

func TestOddRemotes(t *testing.T) {
	s := remotesOf(t, Options{}, `null, 7, {}, {"type":"sse"}, {"type":3,"url":"https://a.test/"}, {"transport_type":"sse","url":"https://b.test/",
		"headers":[null, 3, {"name":null}, {"name":"X-A","is_required":true}, {"name":"X-A"}, {"name":"X-B","isRequired":"yes"}]}`)
	if len(s.Remotes) != 6 || s.SkippedRemotes[InvalidURL] != 4 || s.SkippedRemotes[UnknownTransport] != 1 {
		t.Errorf("%+v", s.SkippedRemotes)
	}
	if r := s.Targets()[0]; !slices.Equal(r.NeedsHeaders, []string{"X-A"}) || !slices.Equal(r.Headers, []string{"X-A", "X-B"}) {
		t.Errorf("%+v", r)
	}
	if s := remotesOf(t, Options{}, strings.Repeat(`{},`, maxRemotes+50)+`{}`); len(s.Remotes) != maxRemotes+1 {
		t.Errorf("%d remotes are kept", len(s.Remotes))
	}
}

func TestDuplicates(t *testing.T) {
	s := remotesOf(t, Options{}, `{"type":"sse","url":"https://a.test/mcp"},{"type":"sse","url":"https://A.test:443/./mcp#x"},
		{"type":"streamable-http","url":"https://a.test/mcp"}`)
	if len(s.Targets()) != 2 || s.Remotes[1].Reason != Duplicate || s.Remotes[1].Endpoint != s.Remotes[0].Endpoint {
		t.Errorf("%+v", s.Remotes)
	}
	// A second name for the same endpoint is a listing, measured once.
	s, err := List(t.Context(), Options{BaseURL: base, All: true, HTTP: answering(200, pageJSON("",
		entryJSON("com.example/b", "1", `,"remotes":[{"type":"sse","url":"https://a.test/mcp"}]`),
		entryJSON("com.example/a", "1", `,"remotes":[{"type":"sse","url":"https://a.test/mcp"}]`)))})
	if err != nil || len(s.Targets()) != 1 || s.Targets()[0].Name != "com.example/a" || s.Skipped[Duplicate] != 1 || len(s.Names) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	checkSums(t, s)
}

func TestNotRemote(t *testing.T) {
	s, err := List(t.Context(), Options{BaseURL: base, All: true, HTTP: answering(200, pageJSON("",
		entryJSON("com.example/a", "1", `,"packages":[{"registryType":"npm"},{}]`)))})
	if err != nil || s.Skipped[NotRemote] != 1 || len(s.Remotes) != 1 || s.Remotes[0].Why() != "not remote" || s.Entries[0].Packages != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	checkSums(t, s)
}

func TestOptions(t *testing.T) {
	const remotes = `{"type":"sse","url":"https://A.test/mcp"},{"type":"sse","url":"https://10.0.0.1/mcp"},
		{"type":"sse","url":"https://b.test/mcp","headers":[{"name":"X-Key","isRequired":true}]}`
	var asked []string
	s := remotesOf(t, Options{
		OptedOut: func(name, url string) bool {
			asked = append(asked, name+" "+url)
			return url == "https://a.test/mcp"
		},
		Named:            func(host string) bool { return host == "10.0.0.1" },
		SkipNeedsHeaders: true,
	}, remotes)
	want := []string{"opted out", "", "needs headers from the user: X-Key"}
	for i, r := range s.Remotes {
		if r.Why() != want[i] {
			t.Errorf("remote %d: %q, want %q", i, r.Why(), want[i])
		}
	}
	if len(asked) != 3 || asked[0] != "com.example/a https://a.test/mcp" {
		t.Errorf("asked about %q", asked)
	}
}

func TestOldShapes(t *testing.T) {
	s, err := List(t.Context(), Options{BaseURL: base, All: true, HTTP: answering(200, fmt.Sprintf(`{"servers":[%s,%s],"metadata":{"next_cursor":null}}`,
		`{"id":"x","name":"com.example/old","description":"d","version_detail":{"version":"0.1.0","is_latest":true},"remotes":[{"transport_type":"streamable","url":"https://old.test/"}]}`,
		`{"server":{"name":"com.example/snake","version":"1","status":"deprecated","website_url":"https://w.test"},"x-io.modelcontextprotocol.registry":{"is_latest":true,"published_at":"2025-07-09T00:00:00Z"}}`))})
	if err != nil || !slices.Equal(targetURLs(s), []string{"https://old.test/"}) || s.Entries[0].Version != "0.1.0" || s.Skipped[Deprecated] != 1 || len(s.Notes) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestMalformedEntries(t *testing.T) {
	long := strings.Repeat("v", maxVersion+1)
	s, err := List(t.Context(), Options{BaseURL: base, All: true, HTTP: answering(200, pageJSON("",
		`null`, `7`, `[]`, `{}`, `"x"`, `{"server":null}`, `{"server":[]}`, `{"server":{}}`, `{"server":{"name":7}}`,
		entryJSON("noslash", "1", ""), entryJSON("a/b/c", "1", ""), entryJSON("a b/c", "1", ""), entryJSON("com.example/long", long, ""),
		entryJSON("com.example/good", "1", `,"title":7,"repository":"x","packages":{},"remotes":{}`)))})
	if err != nil || s.Skipped[Malformed] != 13 || !slices.Equal(s.Names, []string{"com.example/good"}) {
		t.Errorf("%v, %q, %v", s.Skipped, s.Names, err)
	}
	for i, l := range s.LeftOut[:13] {
		if l.Index != i || !strings.HasPrefix(l.Why(), "malformed entry: it") {
			t.Errorf("entry %d: %+v", i, l)
		}
	}
	checkSums(t, s)
}
