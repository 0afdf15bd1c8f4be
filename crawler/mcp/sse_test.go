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
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

type endpointCase struct {
	Base, Data string
	Post       *string
	Blocked    string
}

func TestFieldLegacyEndpoint(t *testing.T) {
	var cases []endpointCase
	unmarshal(t, field(t, "sse/legacy_endpoint.json"), &cases)
	if len(cases) != 5 {
		t.Fatalf("%d cases, want 5", len(cases))
	}
	for _, c := range cases {
		var mu sync.Mutex
		var posted []string
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				mu.Lock()
				posted = append(posted, "https://"+r.Host+r.URL.String())
				mu.Unlock()
				writeJSON(w, 400, `{}`)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "event: endpoint\ndata: "+c.Data+"\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		plain := memory(t, h)
		// The test server has no certificate: https is kept in the URL that
		// the client sees and dropped below it.
		do := doFunc(func(r *http.Request) (*http.Response, error) {
			inner := r.Clone(r.Context())
			inner.URL.Scheme = "http"
			resp, err := plain.Do(inner)
			if resp != nil {
				resp.Request = r
			}
			return resp, err
		})
		client := NewClient(c.Base, do, Options{Transport: target.SSE})
		a := client.Send(context.Background(), Request{Method: "initialize"})
		client.Close()
		if c.Post != nil {
			if !slices.Equal(posted, []string{*c.Post}) || a.Status != 400 {
				t.Errorf("%q: posted to %q, want %q; %+v", c.Data, posted, *c.Post, a)
			}
			continue
		}
		if len(posted) != 0 || a.Err == nil || !strings.Contains(a.Err.Error(), c.Blocked) {
			t.Errorf("%q: posted to %q, want nothing; %v", c.Data, posted, a.Err)
		}
		wantKinds(t, a.Faults, FaultEndpointHost)
	}
}

func TestResolveEndpoint(t *testing.T) {
	for _, tt := range []struct{ base, data, want string }{
		{"https://h.test/sse", "https://H.test:443/m", "https://H.test:443/m"},
		{"https://h.test:8443/sse", "https://h.test/m", ""},
		{"https://h.test/sse", "http://h.test/m", ""},
		{"https://h.test/sse", "https://u:p@h.test/m", ""},
		{"https://h.test/sse", "", ""},
		{"https://h.test/sse", "javascript:alert(1)", ""},
		{"https://h.test/sse?x=1", "?y=2", "https://h.test/sse?y=2"},
		{"https://h.test/sse", "m\x00", ""},
		{"http://[::1]:80/sse", "http://[::1]/m", "http://[::1]/m"},
	} {
		if got, err := ResolveEndpoint(tt.base, tt.data); got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%q %q: %q %v, want %q", tt.base, tt.data, got, err, tt.want)
		}
	}
}

// sseServer is an HTTP+SSE server with one session: answer writes to the
// stream what the server has to say about a message.
type sseServer struct {
	post   func(w http.ResponseWriter, r *http.Request) // the answer of each POST
	answer func(c call, say func(string))
	*fake
}

func newSSEServer(answer func(c call, say func(string))) *sseServer {
	s := &sseServer{answer: answer, post: func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(202)
		io.WriteString(w, "Accepted")
	}}
	said := make(chan string, 100)
	s.fake = &fake{f: func(w http.ResponseWriter, r *http.Request, c call) {
		if r.Method == http.MethodPost {
			s.answer(c, func(text string) { said <- text })
			s.post(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "event: endpoint\ndata: /m?s=1\n\n")
		w.(http.Flusher).Flush()
		for {
			select {
			case text := <-said:
				io.WriteString(w, text)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}}
	return s
}

func sayResult(c call, result string) string {
	return fmt.Sprintf("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", c.ID, result)
}

func TestSSESession(t *testing.T) {
	s := newSSEServer(func(c call, say func(string)) {
		switch c.Method {
		case "initialize":
			say(": hello\n\n" + sayResult(c, initOK))
		case "tools/list":
			say("data: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n\n")
			say("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n")
			say(sayResult(c, `{"tools":[{"name":"a"}]}`))
		}
	})
	c := newClient(t, s, Options{Transport: target.SSE})
	ctx := context.Background()
	p := c.Probe(ctx)
	if p.Era != EraLegacy || p.Discover != nil || p.Notified.Status != 202 || p.Notified.Err != nil || len(p.Initialize.Faults) != 0 {
		t.Fatalf("%+v %s", p, p.Why)
	}
	session := c.Session(p)
	w := session.List(ctx, "tools/list", "tools")
	if len(w.Items) != 1 || len(w.Faults) != 0 || w.Err != nil {
		t.Fatalf("%+v", w)
	}
	a := w.Answers[0]
	if !a.Stream || a.Status != 202 || len(a.Extra) != 2 || len(a.Faults) != 0 || a.MediaType != "text/event-stream" {
		t.Errorf("%+v", a)
	}
	session.Close(ctx)
	session.Close(ctx) // twice is safe
}

func TestSSEStreamLost(t *testing.T) {
	var mu sync.Mutex
	streams := 0
	said := make(chan string, 10)
	s := &fake{f: func(w http.ResponseWriter, r *http.Request, c call) {
		if r.Method == http.MethodPost {
			switch c.Method {
			case "initialize":
				said <- sayResult(c, initOK)
			case "tools/list":
				said <- sayResult(c, `{"tools":[]}`)
			}
			w.WriteHeader(202)
			return
		}
		mu.Lock()
		streams++
		first := streams == 1
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "event: endpoint\ndata: /m\n\n")
		w.(http.Flusher).Flush()
		for {
			select {
			case text := <-said:
				io.WriteString(w, text)
				w.(http.Flusher).Flush()
				if first { // which ends after one answer
					return
				}
			case <-r.Context().Done():
				return
			}
		}
	}}
	synctest.Test(t, func(t *testing.T) {
		said = make(chan string, 10)
		c := newClient(t, s, Options{Transport: target.SSE})
		p := c.Probe(context.Background())
		synctest.Wait()
		if !c.streamLost() {
			t.Fatal("the stream should have ended")
		}
		a := c.Session(p).Call(context.Background(), "tools/list", nil)
		mu.Lock()
		defer mu.Unlock()
		if string(a.Result()) != `{"tools":[]}` || streams != 2 {
			t.Errorf("%d streams, %+v", streams, a)
		}
		c.Close()
	})
}

func TestSSERepliesToServer(t *testing.T) {
	replied := make(chan []byte, 1)
	s := newSSEServer(nil)
	s.answer = func(c call, say func(string)) {
		switch {
		case c.Method == "tools/list":
			say("data: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n\n")
		case c.Method == "":
			replied <- c.Body
			say("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
		}
	}
	a := newClient(t, s, Options{Transport: target.SSE}).Send(context.Background(), Request{Method: "tools/list"})
	if a.Result() == nil {
		t.Fatalf("%+v", a)
	}
	sameJSON(t, <-replied, []byte(`{"jsonrpc":"2.0","id":"p","result":{}}`))
}

func TestSSEConcurrent(t *testing.T) {
	const n = 8
	var mu sync.Mutex
	var held []string
	s := newSSEServer(nil)
	s.answer = func(c call, say func(string)) {
		mu.Lock()
		defer mu.Unlock()
		held = append(held, sayResult(c, string(c.ID)))
		if len(held) == n { // all at once, the last first
			slices.Reverse(held)
			for _, text := range held {
				say(text)
			}
		}
	}
	c := newClient(t, s, Options{Transport: target.SSE})
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			a := c.Send(context.Background(), Request{Method: "x"})
			if string(a.Result()) != string(a.SentID) || a.Err != nil || len(a.Faults) != 0 {
				t.Errorf("%s for %s: %v", a.Result(), a.SentID, a.Err)
			}
		})
	}
	wg.Wait()
}

func TestSSEFaults(t *testing.T) {
	ctx := context.Background()
	t.Run("answer only in the POST", func(t *testing.T) {
		s := newSSEServer(func(call, func(string)) {})
		s.post = func(w http.ResponseWriter, r *http.Request) {
			writeJSON(w, 200, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		}
		a := newClient(t, s, Options{Transport: target.SSE}).Send(ctx, Request{Method: "x"})
		if a.Result() == nil || a.Stream || a.Err != nil {
			t.Errorf("%+v", a)
		}
	})
	t.Run("POST refused", func(t *testing.T) {
		s := newSSEServer(func(call, func(string)) {})
		s.post = func(w http.ResponseWriter, r *http.Request) { writeJSON(w, 404, `{"error":"no session"}`) }
		a := newClient(t, s, Options{Transport: target.SSE}).Send(ctx, Request{Method: "x"})
		if a.Status != 404 || a.Err != nil || a.Reply != nil || string(a.Body) != `{"error":"no session"}` {
			t.Errorf("%+v", a)
		}
	})
	t.Run("POST that never ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSSEServer(func(c call, say func(string)) { say(sayResult(c, `{}`)) })
			s.post = func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
			start := time.Now()
			c := newClient(t, s, Options{Transport: target.SSE})
			a := c.Send(ctx, Request{Method: "x"})
			if a.Result() == nil || a.Err != nil || time.Since(start) != postGrace {
				t.Errorf("%s %+v", time.Since(start), a)
			}
			c.Close()
		})
	})
	t.Run("no answer on the stream", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSSEServer(func(call, func(string)) {})
			c := newClient(t, s, Options{Transport: target.SSE})
			start := time.Now()
			a := c.Send(ctx, Request{Method: "x"})
			if !errors.Is(a.Err, context.DeadlineExceeded) || a.Status != 202 || time.Since(start) != DefaultTimeout {
				t.Errorf("%s %+v", time.Since(start), a)
			}
			c.Close()
		})
	})
	t.Run("another id", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSSEServer(func(c call, say func(string)) { say("data: {\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n\n") })
			c := newClient(t, s, Options{Transport: target.SSE})
			a := c.Send(ctx, Request{Method: "x"})
			if a.Result() == nil || a.Err != nil {
				t.Errorf("%+v", a)
			}
			wantKinds(t, a.Faults, FaultIDWrong)
			c.Close()
		})
	})
	t.Run("no endpoint event", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			})
			c := newClient(t, h, Options{Transport: target.SSE})
			if a := c.Send(ctx, Request{Method: "x"}); !errors.Is(a.Err, context.DeadlineExceeded) || !strings.Contains(a.Err.Error(), "endpoint") {
				t.Errorf("%+v", a)
			}
			c.Close()
		})
	})
	t.Run("stream ends", func(t *testing.T) {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w.WriteHeader(202)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "event: endpoint\ndata: /m\n\n")
		})
		if a := newClient(t, h, Options{Transport: target.SSE}).Send(ctx, Request{Method: "x"}); a.Err == nil || a.Reply != nil {
			t.Errorf("%+v", a)
		}
	})
	t.Run("GET refused", func(t *testing.T) {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(401)
		})
		p := newClient(t, h, Options{Transport: target.SSE}).Probe(ctx)
		if !p.Protected || p.Era != EraNone || p.Initialize.Header.Get("WWW-Authenticate") != "Bearer" || p.Initialize.Err != nil {
			t.Errorf("%+v", p)
		}
	})
	t.Run("id in use", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSSEServer(func(call, func(string)) {})
			c := newClient(t, s, Options{Transport: target.SSE})
			go c.Send(ctx, Request{Method: "x", ID: json.RawMessage("7")})
			synctest.Wait()
			if a := c.Send(ctx, Request{Method: "x", ID: json.RawMessage("7.0")}); a.Err == nil || a.Status != 0 {
				t.Errorf("%+v", a)
			}
			c.Close()
		})
	})
}
