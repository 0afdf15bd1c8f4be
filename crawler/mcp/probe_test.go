package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

const (
	initOK     = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}`
	discoverOK = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"2"}}}`
)

type reply func(w http.ResponseWriter, c call)

func ok(body string) reply { return func(w http.ResponseWriter, c call) { result(w, c, body) } }
func no(status int, failure string) reply {
	return func(w http.ResponseWriter, c call) { failWith(w, status, c, failure) }
}
func text(status int, media, b string) reply {
	return func(w http.ResponseWriter, c call) {
		if media != "" {
			w.Header().Set("Content-Type", media)
		}
		w.WriteHeader(status)
		io.WriteString(w, b)
	}
}

// server answers by method; "GET" and "DELETE" stand for those, and what is
// not named gets 400 without a body.
func server(replies map[string]reply) *fake {
	return &fake{f: func(w http.ResponseWriter, _ *http.Request, c call) {
		key := c.Method
		if key == "" {
			key = c.HTTP
		}
		switch f := replies[key]; {
		case f != nil:
			f(w, c)
		case key == "notifications/initialized":
			w.WriteHeader(202)
		default:
			w.WriteHeader(400)
		}
	}}
}

func TestFieldVersions(t *testing.T) {
	type outcome struct {
		era      Era
		methods  []string
		why      string // part of Why
		unlisted string
	}
	legacyAfter := func(why string) outcome {
		return outcome{EraLegacy, []string{"server/discover", "initialize", "notifications/initialized"}, why, ""}
	}
	versionError := `{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"x"}}`
	tests := map[string]struct {
		replies map[string]reply
		want    outcome
	}{
		"initialize answers 2025-11-05": {
			map[string]reply{"initialize": ok(strings.Replace(initOK, "2025-11-25", "2025-11-05", 1))},
			legacyAfter("2025-11-05"),
		},
		`HTTP 400 {error:-32602,data:{supported:["2024-06-18"]}} to initialize`: {
			map[string]reply{"initialize": no(400, `{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-06-18"]}}`)},
			outcome{EraNone, []string{"server/discover", "initialize", "GET"}, `lists "2024-06-18"`, ""},
		},
		"400 on initialize when MCP-Protocol-Version header is sent with it": {
			map[string]reply{"initialize": func(w http.ResponseWriter, c call) {
				if c.Header.Get(HeaderVersion) != "" {
					w.WriteHeader(400)
					return
				}
				result(w, c, initOK)
			}},
			legacyAfter("2025-11-25"),
		},
		"server/discover -> HTTP 200 {error:-32601}": {
			map[string]reply{"server/discover": no(200, `{"code":-32601,"message":"Method not found"}`), "initialize": ok(initOK)},
			legacyAfter("-32601"),
		},
		"server/discover -> HTTP 200 {error:-32602}": {
			map[string]reply{"server/discover": no(200, `{"code":-32602,"message":"Invalid params"}`), "initialize": ok(initOK)},
			legacyAfter("-32602"),
		},
		"server/discover -> HTTP 400 'Mcp-Session-Id header is required'": {
			map[string]reply{"server/discover": text(400, "text/plain", "Mcp-Session-Id header is required"), "initialize": ok(initOK)},
			legacyAfter("Mcp-Session-Id header is required"),
		},
		"server/discover -> HTTP 404 html": {
			map[string]reply{"server/discover": text(404, "text/html", "<html>"), "initialize": ok(initOK)},
			legacyAfter("404"),
		},
		`server/discover -> {error:-32022,data:{supported:["2026-07-28"]}}`: {
			map[string]reply{"server/discover": no(400, versionError), "initialize": ok(initOK)},
			outcome{EraModern, []string{"server/discover", "server/discover"}, "2026-07-28", ""},
		},
		"initialize params 2025-11-25 -> answers 2025-03-26, server/discover lists [2026-07-28, 2025-11-25]": {
			map[string]reply{
				"server/discover": ok(strings.Replace(discoverOK, `"2026-07-28"`, `"2026-07-28","2025-11-25"`, 1)),
				"initialize":      ok(strings.Replace(initOK, "2025-11-25", "2025-03-26", 1)),
			},
			outcome{EraDual, []string{"server/discover", "initialize", "notifications/initialized"}, `does not list "2025-03-26"`, "2025-03-26"},
		},
	}
	seen := 0
	for _, line := range bytes.Split(bytes.TrimSpace(field(t, "version/cases.jsonl")), []byte("\n")) {
		var c struct{ Server string }
		unmarshal(t, line, &c)
		if strings.Contains(c.Server, "on stdio") {
			continue
		}
		seen++
		t.Run(c.Server, func(t *testing.T) {
			tt, found := tests[c.Server]
			if !found {
				t.Fatal("a case without expectation")
			}
			s := server(tt.replies)
			p := newClient(t, s, Options{}).Probe(context.Background())
			if p.Era != tt.want.era || !slices.Equal(s.methods(), tt.want.methods) || p.Unlisted != tt.want.unlisted {
				t.Errorf("%s by %q, unlisted %q, want %+v", p.Era, s.methods(), p.Unlisted, tt.want)
			}
			if !strings.Contains(p.Why, tt.want.why) {
				t.Errorf("why %q, want %q in it", p.Why, tt.want.why)
			}
			for _, c := range s.log() {
				if c.Method == "initialize" && c.Header.Get(HeaderVersion) != "" {
					t.Error("initialize carried a version header")
				}
			}
		})
	}
	if seen != len(tests) {
		t.Errorf("%d cases, want %d", seen, len(tests))
	}
}

// The traps of section A10 and their like, each as a server was seen to
// answer.
func TestEras(t *testing.T) {
	notFound := no(404, `{"code":-32601,"message":"Method not found"}`)
	anyVersion := ok(`{"tools":[]}`)
	refuse := func(data string) reply {
		return no(400, `{"code":-32022,"message":"Unsupported protocol version"`+data+`}`)
	}
	onlyLegacy := strings.Replace(discoverOK, `"2026-07-28"`, `"2025-11-25","2025-06-18"`, 1)
	tests := []struct {
		name    string
		replies map[string]reply
		era     Era
		modern  string // revision of a modern session, "" for a legacy one, "-" for none
		methods string // after server/discover
	}{
		{"both", map[string]reply{"server/discover": ok(discoverOK), "initialize": ok(initOK)}, EraDual, "2026-07-28", "initialize notifications/initialized"},
		{"modern only", map[string]reply{"server/discover": ok(discoverOK), "initialize": notFound}, EraModern, "2026-07-28", "initialize"},
		{"1 stateful server that lists legacy revisions", map[string]reply{"server/discover": ok(onlyLegacy), "initialize": ok(initOK), "tools/list": refuse("")}, EraDiscoverOnly, "", "initialize notifications/initialized"},
		{"2 gateway that answers any revision", map[string]reply{"server/discover": notFound, "initialize": ok(initOK), "tools/list": anyVersion}, EraInconsistent, "", "initialize notifications/initialized tools/list"},
		{"2 legacy server that says 404", map[string]reply{"server/discover": notFound, "initialize": ok(initOK), "tools/list": text(400, "", "")}, EraLegacy, "", "initialize notifications/initialized tools/list"},
		{"modern server without server/discover", map[string]reply{"server/discover": notFound, "initialize": notFound, "tools/list": refuse(`,"data":{"supported":["2026-07-28"]}`)}, EraModern, "2026-07-28", "initialize tools/list"},
		{"404 with -32601 to everything", map[string]reply{"server/discover": notFound, "initialize": notFound, "tools/list": notFound}, EraNone, "-", "initialize tools/list"},
		{"3 session first", map[string]reply{"server/discover": no(400, `{"code":-32000,"message":"Bad Request: Server not initialized"}`), "initialize": ok(initOK)}, EraLegacy, "", "initialize notifications/initialized"},
		{"3 version first", map[string]reply{"server/discover": no(400, `{"code":-32000,"message":"Bad Request: Unsupported protocol version: 2026-07-28 (supported versions: 2025-11-25)"}`), "initialize": ok(initOK)}, EraLegacy, "", "initialize notifications/initialized"},
		{"4 status 500", map[string]reply{"server/discover": no(500, `{"code":-32603,"message":"Internal error"}`), "initialize": ok(initOK)}, EraLegacy, "", "initialize notifications/initialized"},
		{"-32022 that lists legacy revisions", map[string]reply{"server/discover": refuse(`,"data":{"supported":["2025-11-25"]}`), "initialize": ok(initOK)}, EraLegacy, "", "initialize notifications/initialized"},
		{"-32022 that lists both kinds", map[string]reply{"server/discover": refuse(`,"data":{"supported":["2025-11-25","2026-07-28"]}`), "initialize": ok(initOK)}, EraDual, "", "server/discover initialize notifications/initialized"},
		{"-32022 without a list", map[string]reply{"server/discover": refuse(""), "initialize": text(400, "", "")}, EraModern, "2026-07-28", "initialize"},
		{"-32020", map[string]reply{"server/discover": no(400, `{"code":-32020,"message":"Header mismatch"}`), "initialize": ok(initOK)}, EraDual, "", "initialize notifications/initialized"},
		{"discover without a list", map[string]reply{"server/discover": ok(`{}`), "initialize": ok(initOK)}, EraLegacy, "", "initialize notifications/initialized"},
		{"discover with an empty list", map[string]reply{"server/discover": ok(`{"supportedVersions":[]}`), "initialize": ok(initOK)}, EraLegacy, "", "initialize notifications/initialized"},
		{"lists legacy, no initialize", map[string]reply{"server/discover": ok(onlyLegacy)}, EraInconsistent, "-", "initialize"},
		{"initialize without a revision", map[string]reply{"initialize": ok(`{}`)}, EraNone, "-", "initialize"},
		{"nothing", map[string]reply{"initialize": text(500, "", "")}, EraNone, "-", "initialize"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := server(tt.replies)
			c := newClient(t, s, Options{})
			p := c.Probe(context.Background())
			if p.Era != tt.era || p.Why == "" {
				t.Errorf("%s, want %s: %s", p.Era, tt.era, p.Why)
			}
			if got := strings.Join(s.methods()[1:], " "); got != tt.methods {
				t.Errorf("asked %q, want %q", got, tt.methods)
			}
			switch session := c.Session(p); {
			case session == nil:
				if tt.modern != "-" {
					t.Error("no session")
				}
			case session.Modern && session.Version != tt.modern, !session.Modern && tt.modern != "":
				t.Errorf("session modern %v %q, want %q", session.Modern, session.Version, tt.modern)
			}
		})
	}
}

func TestProbeProtected(t *testing.T) {
	deny := func(status int) reply {
		return func(w http.ResponseWriter, _ call) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(status)
		}
	}
	for _, tt := range []struct {
		discover, initialize int
		want                 bool
	}{{401, 401, true}, {401, 403, true}, {401, 400, false}, {400, 401, false}} {
		p := newClient(t, server(map[string]reply{"server/discover": deny(tt.discover), "initialize": deny(tt.initialize)}), Options{}).Probe(context.Background())
		if p.Protected != tt.want || p.Era != EraNone || p.Discover.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%v: protected %v, %s", tt, p.Protected, p.Era)
		}
	}
}

func TestProbeFindsEndpoint(t *testing.T) {
	s := server(map[string]reply{
		"server/discover": text(405, "", ""), "initialize": text(405, "", ""),
		"GET": text(200, "text/event-stream", "event: endpoint\ndata: /messages?s=1\n\n"),
	})
	c := newClient(t, s, Options{})
	p := c.Probe(context.Background())
	if p.Era != EraNone || p.Endpoint != "/messages?s=1" || !strings.Contains(p.Why, "legacy HTTP+SSE") || c.Session(p) != nil {
		t.Errorf("%+v", p)
	}
	// A stream without an endpoint event is given up after a third of the limit.
	synctest.Test(t, func(t *testing.T) {
		s := server(map[string]reply{})
		inner := s.f
		s.f = func(w http.ResponseWriter, r *http.Request, c call) {
			if c.HTTP == "GET" {
				w.Header().Set("Content-Type", "text/event-stream")
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				return
			}
			inner(w, r, c)
		}
		p := newClient(t, s, Options{}).Probe(context.Background())
		if p.Era != EraNone || p.Endpoint != "" {
			t.Errorf("%+v", p)
		}
	})
}

func TestLegacySession(t *testing.T) {
	for _, tt := range []struct{ version, id, header string }{
		{"2025-11-25", "a.b~c/=+{}|!", "2025-11-25"},
		{"2025-06-18", "", "2025-06-18"}, // no_session of the field cases
		{"2025-03-26", "x", ""},
		{"2025-11-05", "x", "2025-11-05"},
		{"2025-11-25 x", "x", ""},
	} {
		s := server(map[string]reply{
			"initialize": func(w http.ResponseWriter, c call) {
				if tt.id != "" {
					w.Header().Set(HeaderSession, tt.id)
				}
				result(w, c, strings.Replace(initOK, "2025-11-25", tt.version, 1))
			},
			"tools/list": ok(`{"tools":[{"name":"a"}]}`),
			"DELETE":     text(405, "", ""),
		})
		c := newClient(t, s, Options{})
		ctx := context.Background()
		p := c.Probe(ctx)
		session := c.Session(p)
		if p.Era != EraLegacy || session.Modern || session.ID != tt.id || session.Version != tt.version || len(session.Capabilities) != 1 {
			t.Fatalf("%v: %s %+v", tt, p.Era, session)
		}
		if w := session.List(ctx, "tools/list", "tools"); len(w.Items) != 1 {
			t.Errorf("%v: %d tools", tt, len(w.Items))
		}
		session.Close(ctx)
		log := s.log()[2:] // after both probes
		want := []string{"notifications/initialized", "tools/list"}
		if tt.id != "" {
			want = append(want, "DELETE")
		}
		if got := s.methods()[2:]; !slices.Equal(got, want) {
			t.Errorf("%v: %q, want %q", tt, got, want)
		}
		for _, c := range log {
			if c.Header.Get(HeaderSession) != tt.id || c.Header.Get(HeaderVersion) != tt.header || c.Params["_meta"] != nil {
				t.Errorf("%v: %s with %v", tt, c.Method, c.Header)
			}
		}
		if got := string(log[0].Body); got != `{"jsonrpc":"2.0","method":"notifications/initialized"}` {
			t.Errorf("notification %s", got)
		}
	}
}

func TestModernSessionOfDualServer(t *testing.T) {
	s := server(map[string]reply{
		"server/discover": ok(discoverOK),
		"initialize": func(w http.ResponseWriter, c call) {
			w.Header().Set(HeaderSession, "s1")
			result(w, c, initOK)
		},
		"tools/list": ok(`{"resultType":"complete","tools":[]}`),
		"DELETE":     text(204, "", ""),
	})
	c := newClient(t, s, Options{})
	ctx := context.Background()
	p := c.Probe(ctx)
	if p.Discovered.ServerInfo.Name != "m" || p.Discovered.ServerInfo.Version != "2" || string(p.Discovered.TTLMs) != "0" || p.Unlisted != "" {
		t.Errorf("%+v", p.Discovered)
	}
	session := c.Session(p)
	session.Call(ctx, "tools/list", nil)
	session.Close(ctx)
	log := s.log()
	list := log[len(log)-2]
	if list.Method != "tools/list" || list.Version != V20260728 || list.Header.Get(HeaderSession) != "" || list.Header.Get(HeaderMethod) != "tools/list" {
		t.Errorf("%+v", list)
	}
	// The session that the probe opened is ended, though it was not used.
	if last := log[len(log)-1]; last.HTTP != "DELETE" || last.Header.Get(HeaderSession) != "s1" {
		t.Errorf("%+v", last)
	}
	if legacy := c.LegacySession(p); legacy == nil || legacy.Modern || legacy.ID != "s1" {
		t.Errorf("%+v", legacy)
	}
}

func TestRetryInListedRevision(t *testing.T) {
	s := server(map[string]reply{"server/discover": func(w http.ResponseWriter, c call) {
		if c.Version != "2027-01-01" {
			failWith(w, 400, c, `{"code":-32022,"message":"no","data":{"supported":["2027-01-01"]}}`)
			return
		}
		result(w, c, strings.Replace(discoverOK, "2026-07-28", "2027-01-01", 1))
	}})
	c := newClient(t, s, Options{})
	p := c.Probe(context.Background())
	if p.Era != EraModern || p.Initialize != nil || len(p.More) != 1 || c.Session(p).Version != "2027-01-01" {
		t.Errorf("%+v", p)
	}
}

func TestModernOf(t *testing.T) {
	got := modernOf([]string{"2027-01-01", "2025-11-25", "2026-07-28", "2026-07-28", "draft", "2028-01-01"})
	if want := []string{"2026-07-28", "2028-01-01", "2027-01-01"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Whatever a server answers, the probe ends with an era and a reason.
func FuzzProbe(f *testing.F) {
	f.Add(200, "application/json", []byte(discoverOK), []byte(initOK))
	f.Add(404, "text/event-stream", []byte(`{"supportedVersions":null}`), []byte(`[]`))
	f.Fuzz(func(t *testing.T, status int, media string, first, second []byte) {
		if status < 200 || status > 599 {
			return
		}
		do := doFunc(func(r *http.Request) (*http.Response, error) {
			body := second
			if r.Method == "POST" {
				data, _ := io.ReadAll(r.Body)
				object, _ := Object(data)
				id := object["id"]
				if id == nil {
					id = json.RawMessage("null")
				}
				if r.Header.Get(HeaderMethod) != "" {
					body = first
				}
				body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, body)
			}
			return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {media}}, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
		})
		c := NewClient(testURL, do, Options{})
		p := c.Probe(context.Background())
		if p.Era == "" || p.Why == "" || p.Discover == nil {
			t.Errorf("%+v", p)
		}
		if session := c.Session(p); session != nil {
			session.List(context.Background(), "tools/list", "tools")
			session.Close(context.Background())
		}
	})
}

type doFunc func(*http.Request) (*http.Response, error)

func (f doFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }
