package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestFieldHTTP(t *testing.T) {
	send := func(t *testing.T, file string, r Request) *Answer {
		c := NewClient(testURL, replay(t, field(t, "http/"+file)), Options{})
		return c.Send(context.Background(), r)
	}
	initialize := Request{Method: "initialize", Params: map[string]any{"protocolVersion": V20250618}}
	for _, file := range []string{"init_charset.http", "chunked_ext.http", "gzip_unasked.http"} {
		t.Run(file, func(t *testing.T) {
			a := send(t, file, initialize)
			wantKinds(t, a.Faults)
			r := readInitialize(a.Result(), a.Header)
			if r == nil || r.ProtocolVersion != "2025-06-18" || a.MediaType != "application/json" || a.Err != nil {
				t.Fatalf("%+v", a)
			}
			if file == "init_charset.http" && r.SessionID != "a.b~c/=+{}|!" {
				t.Errorf("session id %q", r.SessionID)
			}
		})
	}
	t.Run("notif_200_null.http", func(t *testing.T) {
		a := send(t, "notif_200_null.http", Request{Method: "notifications/initialized", Notify: true})
		if a.Err != nil || a.Reply != nil || a.Status != 200 || string(a.Body) != "null" || a.SentID != nil {
			t.Errorf("%+v", a)
		}
		wantKinds(t, a.Faults)
	})
	t.Run("error_406_server_error_id.http", func(t *testing.T) {
		a := send(t, "error_406_server_error_id.http", Request{Method: "ping"})
		if a.Status != 406 || a.RPCError() == nil || a.RPCError().Code != -32600 {
			t.Errorf("%+v", a)
		}
		wantKinds(t, a.Faults) // no id fault beside the 406
	})
	t.Run("get_200_error.http", func(t *testing.T) {
		a := send(t, "get_200_error.http", Request{HTTPMethod: http.MethodGet})
		if a.Status != 200 || a.Stream || a.MediaType != "application/json" || a.RPCError().Code != -32601 {
			t.Errorf("%+v", a)
		}
		wantKinds(t, a.Faults)
	})
}

func TestNotificationAnswers(t *testing.T) {
	for _, tt := range []struct {
		status      int
		media, body string
	}{{202, "", ""}, {204, "", ""}, {200, "", ""}, {200, "application/json", "{}"}, {200, "application/json", "null"}, {202, "text/plain", "Accepted"}} {
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if tt.media != "" {
				w.Header().Set("Content-Type", tt.media)
			}
			w.WriteHeader(tt.status)
			io.WriteString(w, tt.body)
		})
		a := newClient(t, h, Options{}).Send(context.Background(), Request{Method: "notifications/initialized", Notify: true})
		if a.Err != nil || a.Reply != nil || a.Status != tt.status || string(a.Body) != tt.body || len(a.Faults) != 0 {
			t.Errorf("%v: %+v", tt, a)
		}
	}
}

func TestContentTypes(t *testing.T) {
	const reply = `{"jsonrpc":"2.0","id":1,"result":{}}`
	for _, tt := range []struct {
		status       int
		media, body  string
		reply, wrong bool
	}{
		{200, "application/json", reply, true, false},
		{200, "APPLICATION/json ; charset=x", reply, true, false},
		{200, "text/plain", reply, true, true},
		{200, "text/html", "<html>", false, true},
		{401, "text/html", "<html>", false, false},
		{404, "text/plain", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"x"}}`, true, true},
		{401, "application/json", `{"error":"invalid_token"}`, false, false},
		{404, "application/json", `"not found"`, false, false},
	} {
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", tt.media)
			w.WriteHeader(tt.status)
			io.WriteString(w, tt.body)
		})
		a := newClient(t, h, Options{}).Send(context.Background(), Request{Method: "ping"})
		if (a.Reply != nil) != tt.reply || slices.Contains(kinds(a.Faults), FaultContentType) != tt.wrong || a.Err != nil {
			t.Errorf("%v: %+v", tt, a)
		}
	}
}

// Request texts by hand from the pages "Transports" and "Versioning" of the
// 2026-07-28 specification.
func TestModernRequest(t *testing.T) {
	s := &fake{f: func(w http.ResponseWriter, _ *http.Request, c call) { result(w, c, `{}`) }}
	c := newClient(t, s, Options{Name: "n", Version: "v"})
	c.Send(context.Background(), Request{Method: "tools/call", Params: map[string]any{"name": "é"}, Version: "2026-07-28", Modern: true})
	got := s.log()[0]
	sameJSON(t, got.Body, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"é","_meta":{
		"io.modelcontextprotocol/protocolVersion":"2026-07-28",
		"io.modelcontextprotocol/clientInfo":{"name":"n","version":"v"},
		"io.modelcontextprotocol/clientCapabilities":{}}}}`))
	for name, want := range map[string]string{
		"Accept": "application/json, text/event-stream", "Content-Type": "application/json",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "=?base64?w6k=?=", "Mcp-Session-Id": "",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.Header.Get(name), want)
		}
	}
}

func TestDeviantRequests(t *testing.T) {
	s := &fake{}
	hosts := []string{}
	s.f = func(w http.ResponseWriter, r *http.Request, c call) {
		hosts = append(hosts, r.Host)
		writeJSON(w, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`)
	}
	c := newClient(t, s, Options{})
	ctx := context.Background()
	a := c.Send(ctx, Request{Body: []byte(`{"jsonrpc":`), Header: http.Header{"Accept": nil, "User-Agent": nil, "Host": {"evil.test"}, "Origin": {"https://evil.test"}}})
	if a.RPCError() == nil || a.RPCError().Code != CodeParse || a.SentID != nil || len(a.Faults) != 0 {
		t.Errorf("%+v", a)
	}
	got := s.log()[0]
	if string(got.Body) != `{"jsonrpc":` || got.Header.Get("Origin") != "https://evil.test" || hosts[0] != "evil.test" {
		t.Errorf("%s %v %q", got.Body, got.Header, hosts)
	}
	if _, ok := got.Header["Accept"]; ok {
		t.Error("Accept was to be removed")
	}
	if _, ok := got.Header["User-Agent"]; ok {
		t.Error("User-Agent was to be removed")
	}
	c.Send(ctx, Request{Method: "ping", ID: json.RawMessage("null")})
	sameJSON(t, s.log()[1].Body, []byte(`{"jsonrpc":"2.0","id":null,"method":"ping"}`))
	c.Send(ctx, Request{Method: "ping", ID: json.RawMessage(`"s-1"`), Params: json.RawMessage(`{"a":1}`)})
	sameJSON(t, s.log()[2].Body, []byte(`{"jsonrpc":"2.0","id":"s-1","method":"ping","params":{"a":1}}`))
	c.Send(ctx, Request{Method: "x", Modern: true, Version: "2026-07-28", Params: map[string]any{"_meta": map[string]any{MetaClientInfo: nil, MetaProtocolVersion: "1999-01-01", "progressToken": 3}}})
	sameJSON(t, s.log()[3].Body, []byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{
		"io.modelcontextprotocol/protocolVersion":"1999-01-01","io.modelcontextprotocol/clientCapabilities":{},"progressToken":3}}}`))
	for _, bad := range []Request{{Method: "x", Params: make(chan int)}, {Method: "x", Modern: true, Params: json.RawMessage(`[1]`)}, {Method: "x", ID: json.RawMessage(`{`)}, {Method: "x", HTTPMethod: "a b"}} {
		if a := c.Send(ctx, bad); a == nil || a.Err == nil {
			t.Errorf("%+v: %+v", bad, a)
		}
	}
	if a := NewClient("http://[::1", http.DefaultClient, Options{}).Send(ctx, Request{Method: "x"}); a.Err == nil {
		t.Error("a bad URL needs an error")
	}
}

func TestBatch(t *testing.T) {
	body := []byte(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`)
	for _, stream := range []bool{false, true} {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !stream {
				writeJSON(w, 200, `[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":1,"result":{}}]`)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done() // both answers must be enough
		})
		a := newClient(t, h, Options{}).Send(context.Background(), Request{Body: body})
		if a.Reply == nil || len(a.Extra) != 1 || a.Err != nil || string(a.Reply.ID)+string(a.Extra[0].ID) != "21" {
			t.Errorf("stream %v: %+v", stream, a)
		}
	}
	// batch_ignored of the field cases: one error for all.
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, 200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"method undefined"}}`)
	})
	a := newClient(t, h, Options{}).Send(context.Background(), Request{Body: body})
	if a.RPCError() == nil || a.RPCError().Message != "method undefined" {
		t.Errorf("%+v", a)
	}
}

// stream starts an event stream and keeps it open after f.
func openStream(f func(w http.ResponseWriter, r *http.Request, c call)) *fake {
	return &fake{f: func(w http.ResponseWriter, r *http.Request, c call) {
		w.Header().Set("Content-Type", "text/event-stream")
		f(w, r, c)
	}}
}

func TestFieldNotificationsFirst(t *testing.T) {
	stream := field(t, "sse/notifications_first.sse")
	var want struct {
		Answer json.RawMessage `json:"answer_to_id_2"`
	}
	unmarshal(t, field(t, "sse/notifications_first.sse.expect.json"), &want)
	s := openStream(func(w http.ResponseWriter, _ *http.Request, c call) {
		if c.Method == "" {
			w.Header().Del("Content-Type")
			w.WriteHeader(202)
			return
		}
		w.Write(stream)
	})
	session := &Session{Client: newClient(t, s, Options{}), Version: V20251125, ID: "s/1", header: V20251125}
	r := session.Request("tools/list", nil)
	r.ID = json.RawMessage("2")
	a := session.Client.Send(context.Background(), r)
	sameJSON(t, a.Reply.Raw, want.Answer)
	if len(a.Extra) != 3 || a.Extra[0].Method != "notifications/progress" || len(a.Faults) != 0 {
		t.Errorf("%+v", a)
	}
	log := s.log()
	if len(log) != 3 {
		t.Fatalf("%d requests, want the call and two replies", len(log))
	}
	sameJSON(t, log[1].Body, []byte(`{"jsonrpc":"2.0","id":"srv-1","result":{}}`))
	sameJSON(t, log[2].Body, []byte(`{"jsonrpc":"2.0","id":"srv-2","error":{"code":-32601,"message":"Method not found"}}`))
	for _, c := range log[1:] {
		if c.Header.Get(HeaderSession) != "s/1" || c.Header.Get(HeaderVersion) != V20251125 {
			t.Errorf("reply headers %v", c.Header)
		}
	}
}

func TestModernRequestsOfServerGetNoReply(t *testing.T) {
	stream := field(t, "sse/notifications_first.sse")
	s := openStream(func(w http.ResponseWriter, _ *http.Request, c call) { w.Write(stream) })
	a := newClient(t, s, Options{}).Send(context.Background(), Request{Method: "tools/list", ID: json.RawMessage("2"), Modern: true, Version: V20260728})
	if len(s.log()) != 1 || len(a.Extra) != 3 || a.Result() == nil {
		t.Errorf("%d requests, %+v", len(s.log()), a)
	}
}

func TestFieldErrorEvent(t *testing.T) {
	stream := field(t, "sse/error_event.sse")
	s := openStream(func(w http.ResponseWriter, _ *http.Request, c call) { w.Write(stream) })
	a := newClient(t, s, Options{}).Send(context.Background(), Request{Method: "tools/list", ID: json.RawMessage("2")})
	if a.RPCError() == nil || a.RPCError().Code != -32603 || a.Err != nil {
		t.Errorf("%+v", a)
	}
	wantKinds(t, a.Faults, FaultEventName)
}

// The behaviour cases of streams, under a fake clock.
func TestFieldStreamBehaviour(t *testing.T) {
	every := func(w http.ResponseWriter, r *http.Request, d time.Duration) {
		tick := time.NewTicker(d)
		defer tick.Stop()
		for {
			io.WriteString(w, ": keepalive\n\n")
			w.(http.Flusher).Flush()
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
	}
	t.Run("post_stream_stays_open", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			closed := make(chan struct{})
			s := openStream(func(w http.ResponseWriter, r *http.Request, c call) {
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"tools\":[]}}\n\n", c.ID)
				every(w, r, time.Second)
				close(closed)
			})
			start := time.Now()
			a := newClient(t, s, Options{}).Send(context.Background(), Request{Method: "tools/list"})
			if string(a.Result()) != `{"tools":[]}` || a.Err != nil || !a.Stream {
				t.Errorf("%+v", a)
			}
			if took := time.Since(start); took != 0 {
				t.Errorf("took %s of the fake clock, want none", took)
			}
			<-closed // by us: the server never stops of itself
		})
	})
	t.Run("keepalive_only", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := openStream(func(w http.ResponseWriter, r *http.Request, c call) { every(w, r, 100*time.Millisecond) })
			start := time.Now()
			a := newClient(t, s, Options{Timeout: 3 * time.Second}).Send(context.Background(), Request{Method: "tools/list"})
			if !errors.Is(a.Err, context.DeadlineExceeded) || a.Reply != nil {
				t.Errorf("%+v", a)
			}
			if took := time.Since(start); took != 3*time.Second {
				t.Errorf("took %s, want 3s: comments must not extend the limit", took)
			}
		})
	})
	t.Run("slow_drip", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				for {
					io.WriteString(w, " ")
					w.(http.Flusher).Flush()
					select {
					case <-time.After(time.Second):
					case <-r.Context().Done():
						return
					}
				}
			})
			start := time.Now()
			a := newClient(t, h, Options{}).Send(context.Background(), Request{Method: "initialize"})
			if !errors.Is(a.Err, context.DeadlineExceeded) || time.Since(start) != DefaultTimeout {
				t.Errorf("%s %+v", time.Since(start), a)
			}
		})
	})
	t.Run("get_stream_silent", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := openStream(func(w http.ResponseWriter, r *http.Request, c call) {
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			})
			a := newClient(t, s, Options{}).Send(context.Background(), Request{HTTPMethod: http.MethodGet})
			if a.Status != 200 || !a.Stream || a.Err != nil || s.log()[0].Header.Get("Accept") != "text/event-stream" {
				t.Errorf("%+v", a)
			}
		})
	})
}

func TestFieldLongLine(t *testing.T) { // sse_line_2mb
	text := strings.Repeat("x", 2<<20)
	s := openStream(func(w http.ResponseWriter, _ *http.Request, c call) {
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"x\":%q}}\n\n", c.ID, text)
	})
	a := newClient(t, s, Options{}).Send(context.Background(), Request{Method: "tools/list"})
	if want := `{"x":"` + text + `"}`; string(a.Result()) != want {
		t.Errorf("%d bytes, want %d; %v", len(a.Result()), len(want), a.Err)
	}
}

func TestBounds(t *testing.T) {
	endless := func(media, line string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", media)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, line); err != nil {
					return
				}
			}
		})
	}
	for name, h := range map[string]http.Handler{
		"body":          endless("application/json", strings.Repeat(" ", 1000)),
		"event":         endless("text/event-stream", "data: x\n"),
		"notifications": endless("text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n"),
		"comments":      endless("text/event-stream", ": x\n"),
		"not JSON":      endless("text/event-stream", "data: x\n\n"),
	} {
		a := newClient(t, h, Options{MaxMessage: 200_000}).Send(context.Background(), Request{Method: "tools/list"})
		if !slices.Contains(kinds(a.Faults), FaultTruncated) || a.Reply != nil || len(a.Extra) > maxExtra || len(a.Body) > 200_000 || len(a.Faults) > 3 {
			t.Errorf("%s: faults %v, extra %d, err %v", name, a.Faults, len(a.Extra), a.Err)
		}
	}
}

func TestReset(t *testing.T) {
	raw := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
	a := NewClient(testURL, replay(t, []byte(raw)), Options{}).Send(context.Background(), Request{Method: "tools/list"})
	if a.Err == nil || a.Status != 200 || a.Reply != nil {
		t.Errorf("%+v", a)
	}
}

func TestHeaderValue(t *testing.T) {
	for in, want := range map[string]string{
		"get_weather": "get_weather", "a b": "a b", "": "",
		" a": "=?base64?IGE=?=", "検": "=?base64?5qSc?=", "a\nb": "=?base64?YQpi?=", "=?base64?eA==?=": "=?base64?PT9iYXNlNjQ/ZUE9PT89?=",
	} {
		if got := HeaderValue(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
