package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/crawler/wire"
)

// recorded opens a recorded line to a handler on loopback.
func recorded(t *testing.T, h http.Handler, o wire.Options) (string, *wire.Line) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	door, err := wire.NewDoor(o)
	if err != nil {
		t.Fatal(err)
	}
	line, err := door.Open(server.URL+"/mcp", true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(line.Close)
	return server.URL + "/mcp", line
}

func TestExchangeNumbers(t *testing.T) {
	stream := field(t, "sse/notifications_first.sse")
	s := openStream(func(w http.ResponseWriter, _ *http.Request, c call) {
		if c.Method == "" {
			w.WriteHeader(202)
			return
		}
		w.Write(stream)
	})
	url, line := recorded(t, s, wire.Options{})
	c := NewClient(url, line, Options{})
	ctx := context.Background()
	if a := c.Send(ctx, Request{Method: "tools/list", ID: json.RawMessage("2")}); a.First != 1 || a.Last != 3 || a.Err != nil {
		t.Errorf("req#%d-%d, want 1-3: the call and two replies; %v", a.First, a.Last, a.Err)
	}
	if a := c.Send(ctx, Request{Method: "tools/list", ID: json.RawMessage("2"), Modern: true}); a.First != 4 || a.Last != 4 {
		t.Errorf("req#%d-%d, want 4", a.First, a.Last)
	}
	a := NewClient("http://other.example.test/mcp", line, Options{}).Send(ctx, Request{Method: "ping"})
	if !errors.Is(a.Err, wire.ErrBlocked) || a.First != 0 || a.Last != 0 {
		t.Errorf("req#%d-%d %v, want none, blocked", a.First, a.Last, a.Err)
	}
}

func TestRecordedLimit(t *testing.T) {
	for _, media := range []string{"application/json", "text/event-stream"} {
		url, line := recorded(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			io.WriteString(w, strings.Repeat(" \n", 10_000))
		}), wire.Options{MaxBody: 5000})
		a := NewClient(url, line, Options{}).Send(context.Background(), Request{Method: "ping"})
		if !slices.Contains(kinds(a.Faults), FaultTruncated) || a.Reply != nil {
			t.Errorf("%s: %v %v", media, a.Faults, a.Err)
		}
	}
}

func TestRecordedSSE(t *testing.T) {
	s := newSSEServer(func(c call, say func(string)) {
		if c.Method != "notifications/initialized" {
			say(sayResult(c, initOK))
		}
	})
	url, line := recorded(t, s, wire.Options{})
	c := NewClient(url, line, Options{Transport: target.SSE})
	defer c.Close()
	p := c.Probe(context.Background())
	if p.Era != EraLegacy || p.Initialize.First != 1 || p.Initialize.Last != 2 || p.Notified.First != 3 {
		t.Errorf("%s: req#%d-%d and req#%d, want 1-2 (GET and POST) and 3", p.Era, p.Initialize.First, p.Initialize.Last, p.Notified.First)
	}
}
