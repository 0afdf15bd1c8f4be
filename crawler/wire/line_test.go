package wire

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

const location = "HTTP/1.1 %s\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n"

func redirect(status, to string) string {
	return strings.Replace(strings.Replace(location, "%s", status, 1), "%s", to, 1)
}

// The raw redirects of the field cases, replayed to a POST.
func TestFieldRedirects(t *testing.T) {
	for _, c := range []struct {
		file    string
		https   bool
		status  int
		paths   []string // of the requests that the server saw
		blocked []string
	}{
		{"redirect_307_slash", false, 200, []string{"/mcp", "/mcp/"}, nil},
		{"redirect_301_post", false, 301, []string{"/mcp"}, nil},
		{"redirect_downgrade", true, 307, []string{"/mcp"}, nil},
		{"redirect_other_host", true, 308, []string{"/mcp"}, []string{"login.other.test"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			var expect struct{ Blocked []string }
			if err := json.Unmarshal(field(t, "http/"+c.file+".http.expect.json"), &expect); err != nil {
				t.Fatal(err)
			}
			if expect.Blocked != nil && !slices.Equal(expect.Blocked, c.blocked) {
				t.Fatalf("the field case expects %q", expect.Blocked)
			}
			reply := answers(string(field(t, "http/"+c.file+".http")), ok)
			o, url := Options{}, "http://example.test/mcp"
			var p *peer
			if c.https {
				url = "https://example.test/mcp"
				p, o.RootCAs = listenTLS(t, reply, "example.test")
				o.Resolve = []string{p.at("example.test:443")}
			} else {
				p = listen(t, reply)
				o.Resolve = []string{p.at("example.test:80")}
			}
			l := open(t, o, url, false)
			resp, _, err := fetch(t, l, newRequest(t, "POST", url, `{"id":1}`))
			if err != nil || resp.StatusCode != c.status {
				t.Fatalf("%v, %v; want HTTP %d", resp, err, c.status)
			}
			if got := l.Blocked(); !slices.Equal(got, c.blocked) {
				t.Errorf("blocked %q, want %q", got, c.blocked)
			}
			requests, _ := p.seen()
			var paths []string
			for i, r := range requests {
				paths = append(paths, r.URL.Path)
				if r.Method != "POST" || r.body != `{"id":1}` {
					t.Errorf("request %d: %s with body %q", i, r.Method, r.body)
				}
			}
			if !slices.Equal(paths, c.paths) {
				t.Errorf("asked %q, want %q", paths, c.paths)
			}
			exchanges := l.Exchanges()
			if len(exchanges) != len(c.paths) || Ref(resp) != len(c.paths) {
				t.Errorf("%d exchanges, the last is req#%d; want %d", len(exchanges), Ref(resp), len(c.paths))
			}
			for i, x := range exchanges {
				if x.N != i+1 || string(x.RequestBody.Data) != `{"id":1}` {
					t.Errorf("exchange %d: %+v", i, x)
				}
			}
		})
	}
}

func TestRedirectRules(t *testing.T) {
	for _, c := range []struct {
		name, method, status, to string
		requests, final          int
	}{
		{"303 of a GET", "GET", "303 See", "/b", 2, 200},
		{"302 of a HEAD", "HEAD", "302 Found", "/b", 2, 200},
		{"302 of a POST", "POST", "302 Found", "/b", 1, 302},
		{"303 of a DELETE", "DELETE", "303 See", "/b", 1, 303},
		{"308 of a DELETE", "DELETE", "308 P", "/b", 2, 200},
		{"300 is a choice", "GET", "300 Many", "/b", 1, 300},
		{"304 is no redirect", "GET", "304 Same", "/b", 1, 304},
		{"with credentials", "GET", "307 T", "http://u:p@mcp.test/b", 1, 307},
		{"another scheme", "GET", "307 T", "file:///etc/passwd", 1, 307},
		{"no URL", "GET", "307 T", "http://mcp.test/%zz", 1, 307},
		{"an odd spelling", "GET", "307 T", "http://0x7f.1/", 1, 307},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := listen(t, answers(redirect(c.status, c.to), strings.Replace(ok, "\r\n\r\nok", map[bool]string{true: "\r\n\r\n", false: "\r\n\r\nok"}[c.method == "HEAD"], 1)))
			l := open(t, Options{Resolve: []string{p.at("mcp.test:80")}}, "http://mcp.test/", false)
			resp, _, err := fetch(t, l, newRequest(t, c.method, "http://mcp.test/a", ""))
			requests, _ := p.seen()
			if err != nil || resp.StatusCode != c.final || len(requests) != c.requests {
				t.Errorf("%v, %v after %d requests", resp, err, len(requests))
			}
		})
	}
}

// Another host that a redirect leads to is named, whether or not the redirect
// could have been followed; another port of the same host keeps its port.
func TestRedirectsThatAreBlocked(t *testing.T) {
	for to, want := range map[string][]string{
		"https://login.test/x?token=hush": {"login.test"},
		"//LOGIN.test:8443/":              {"login.test:8443"},
		"http://0x7f.1/":                  {"0x7f.1"},
		"https://mcp.test/":               nil, // a POST would turn into a GET
		"/b":                              nil,
	} {
		p := listen(t, answers(redirect("302 Found", to)))
		l := open(t, Options{Resolve: []string{p.at("mcp.test:80")}}, "http://mcp.test/", false)
		if resp, _, err := fetch(t, l, newRequest(t, "POST", "http://mcp.test/a", "x")); err != nil || resp.StatusCode != 302 {
			t.Errorf("%s: %v, %v", to, resp, err)
		}
		if got := l.Blocked(); !slices.Equal(got, want) {
			t.Errorf("%s: blocked %q, want %q", to, got, want)
		}
	}
	p := listen(t, answers(redirect("307 T", "https://mcp.test:8443/")))
	l := open(t, Options{Resolve: []string{p.at("mcp.test:80")}}, "http://mcp.test/", false)
	if _, _, err := fetch(t, l, newRequest(t, "POST", "http://mcp.test/a", "x")); err != nil || !slices.Equal(l.Blocked(), []string{"mcp.test:8443"}) {
		t.Errorf("blocked %q, %v", l.Blocked(), err)
	}
}

// TestRedirectToHTTPS follows the way from plain http to the same host's
// https, where the method stays what it is. An explicit port is no default.
func TestRedirectToHTTPS(t *testing.T) {
	secure, pool := listenTLS(t, answers(ok), "mcp.test")
	p := listen(t, answers(redirect("308 P", "https://mcp.test/a")))
	o := Options{RootCAs: pool, Resolve: []string{p.at("mcp.test:80"), secure.at("mcp.test:443"), p.at("mcp.test:8080")}}
	l := open(t, o, "http://mcp.test/", false)
	resp, _, err := fetch(t, l, newRequest(t, "POST", "http://mcp.test/a", "x"))
	if err != nil || resp.StatusCode != 200 || Ref(resp) != 2 {
		t.Errorf("%v, %v", resp, err)
	}
	if requests, _ := secure.seen(); len(requests) != 1 || requests[0].Method != "POST" || requests[0].body != "x" {
		t.Errorf("the https side saw %+v", requests)
	}
	l = open(t, o, "http://mcp.test:8080/", false)
	if resp, _, err := fetch(t, l, newRequest(t, "POST", "http://mcp.test:8080/a", "x")); err != nil || resp.StatusCode != 308 || !slices.Equal(l.Blocked(), []string{"mcp.test:443"}) {
		t.Errorf("%v, %v, blocked %q", resp, err, l.Blocked())
	}
}

func TestAtMostThreeRedirects(t *testing.T) {
	p := listen(t, answers(redirect("307 T", "/again")))
	l := open(t, Options{}, p.url("/"), true)
	resp, _, err := fetch(t, l, newRequest(t, "POST", p.url("/"), "x"))
	if requests, _ := p.seen(); err != nil || resp.StatusCode != 307 || len(requests) != 4 || Ref(resp) != 4 || len(l.Exchanges()) != 4 {
		t.Errorf("%v, %v, %d requests", resp, err, len(requests))
	}
}

// A redirect whose body breaks off is a redirect all the same, and the record
// shows the break.
func TestRedirectWithBrokenBody(t *testing.T) {
	p := listen(t, answers("HTTP/1.1 307 T\r\nLocation: /b\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", ok))
	l := open(t, Options{}, p.url("/"), true)
	if resp, body, err := fetch(t, l, newRequest(t, "GET", p.url("/"), "")); err != nil || body != "ok" || Ref(resp) != 2 {
		t.Errorf("%v, %q, %v", resp, body, err)
	}
	if x := l.Exchanges()[0]; x.Error == "" || x.Status != 307 {
		t.Errorf("exchange %+v", x)
	}
}

// Credentials for one host don't follow a redirect to another that is in scope.
func TestRedirectToAnotherHostKeepsSecrets(t *testing.T) {
	as := listen(t, answers(ok))
	p := listen(t, answers(redirect("307 T", as.url("/x"))))
	l := open(t, Options{}, p.url("/"), true)
	if err := l.Allow(as.url("/")); err != nil {
		t.Fatal(err)
	}
	r := newRequest(t, "GET", p.url("/"), "")
	r.Header = http.Header{"Authorization": {"Bearer hush"}, "Mcp-Session-Id": {"hush"}, "X-Api-Key": {"hush"}, "Accept": {"application/json"}}
	if _, _, err := fetch(t, l, r); err != nil {
		t.Fatal(err)
	}
	first, _ := p.seen()
	second, _ := as.seen()
	if first[0].Header.Get("Authorization") != "Bearer hush" || first[0].Header.Get("Mcp-Session-Id") != "hush" {
		t.Errorf("the target got %v", first[0].Header)
	}
	for name, values := range second[0].Header {
		if strings.Contains(strings.Join(values, ""), "hush") {
			t.Errorf("the other host got %s %q", name, values)
		}
	}
	if second[0].Header.Get("Accept") != "application/json" {
		t.Error("what is no secret is gone")
	}
	if r.Header.Get("Authorization") == "" {
		t.Error("the caller's request was changed")
	}
}

// Nothing of the environment and nothing that a server sets goes into a
// request.
func TestPlainRequests(t *testing.T) {
	proxy := listen(t, answers(ok))
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, proxy.url(""))
	}
	p := listen(t, answers("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n"))
	l := open(t, Options{UserAgent: "lustrum/1 (+ops@example.test)", Resolve: []string{p.at("mcp.test:80")}}, "http://mcp.test/", false)
	for range 2 {
		if _, _, err := fetch(t, l, newRequest(t, "GET", "http://mcp.test/", "")); err != nil {
			t.Fatal(err)
		}
	}
	r := newRequest(t, "GET", "http://mcp.test/", "")
	r.Header.Set("User-Agent", "another")
	if _, _, err := fetch(t, l, r); err != nil {
		t.Fatal(err)
	}
	requests, _ := p.seen()
	for i, r := range requests {
		if want := (http.Header{"User-Agent": {"lustrum/1 (+ops@example.test)"}, "Accept-Encoding": {"gzip"}}); len(r.Header) != 2 ||
			r.Header.Get("User-Agent") != want.Get("User-Agent") || r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("request %d: %v", i, r.Header)
		}
	}
	if _, conns := proxy.seen(); conns != 0 {
		t.Error("a proxy of the environment was used")
	}
}

func TestErrors(t *testing.T) {
	p := listen(t, answers(ok))
	gone := p.url("/?token=hush")
	p.Close()
	l := open(t, Options{}, gone, true)
	_, err := l.Do(newRequest(t, "GET", gone, ""))
	if RefOf(err) != 1 || strings.Contains(err.Error(), "hush") {
		t.Errorf("req#%d, %v", RefOf(err), err)
	}
	if x := l.Exchanges(); len(x) != 1 || x[0].Error == "" || x[0].Status != 0 {
		t.Errorf("exchanges %+v", x)
	}
	for _, url := range []string{"ftp://h.test/?token=hush", "http://0x7f.1/?token=hush", "http://u:hush@" + p.Addr().String() + "/", "http://other.test/?token=hush"} {
		_, err := l.Do(newRequest(t, "GET", url, ""))
		var e *Error
		if !errors.As(err, &e) || e.N != 0 || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if len(l.Exchanges()) != 1 {
		t.Error("what was not sent is recorded")
	}
}

func TestManyAtOnce(t *testing.T) {
	p := listen(t, answers(ok))
	l := open(t, Options{}, p.url("/"), true)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				if resp, body, err := fetch(t, l, newRequest(t, "POST", p.url("/"), "x")); err != nil || body != "ok" || Ref(resp) == 0 {
					t.Errorf("%v, %q, %v", resp, body, err)
				}
				l.Exchanges()
			}
		})
	}
	all.Wait()
	exchanges := l.Exchanges()
	if len(exchanges) != 40 {
		t.Fatalf("%d exchanges", len(exchanges))
	}
	for i, x := range exchanges {
		if x.N != i+1 || x.Status != 200 || string(x.ResponseBody.Data) != "ok" || x.RemoteAddr != p.Addr().String() {
			t.Errorf("exchange %+v", x)
		}
	}
}
