package discover_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/lustrum-mcp/lustrum/crawler/discover"
	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/crawler/wire"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func server() *mcp.Server {
	return mcp.NewServer(&mcp.Implementation{Name: "here", Version: "2"}, nil)
}

func streamable() http.Handler {
	s := server()
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true})
}

// probe looks at a loopback server that serves the handlers by path, and
// returns what was found and the paths that were asked.
func probe(t *testing.T, handlers map[string]http.Handler, o discover.Options, paths ...string) (*discover.Result, []string) {
	t.Helper()
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(asked, r.URL.Path) {
			asked = append(asked, r.URL.Path)
		}
		if h := handlers[r.URL.Path]; h != nil {
			h.ServeHTTP(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	for i, p := range paths {
		paths[i] = s.URL + p
	}
	if len(paths) == 0 {
		paths = []string{s.URL}
	}
	targets, err := target.ReadTargets("test", strings.NewReader(strings.Join(paths, "\n")))
	if err != nil || len(targets) != 1 {
		t.Fatalf("%d targets, %v", len(targets), err)
	}
	door, err := wire.NewDoor(wire.Options{UserAgent: "test"})
	if err != nil {
		t.Fatal(err)
	}
	line, err := door.Open(s.URL, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(line.Close)
	o.Target, o.Line, o.Name, o.Version = targets[0], line, "test", "1"
	r, err := discover.Probe(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Endpoints {
		r.Endpoints[i].URL = strings.TrimPrefix(r.Endpoints[i].URL, s.URL)
	}
	return r, asked
}

func urls(r *discover.Result) []string {
	var out []string
	for _, e := range r.Endpoints {
		out = append(out, e.URL)
	}
	return out
}

func document(v any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v)
	})
}

func TestProbe(t *testing.T) {
	t.Run("stops at the first proof", func(t *testing.T) {
		r, asked := probe(t, map[string]http.Handler{"/mcp": streamable()}, discover.Options{})
		if !slices.Equal(urls(r), []string{"/mcp"}) || !slices.Equal(asked, []string{"/mcp"}) {
			t.Errorf("found %q, asked %q", urls(r), asked)
		}
		if e := r.Endpoints[0]; e.Era != "dual" || e.Server != "here 2" || !strings.HasPrefix(e.Evidence, "req#1-") {
			t.Errorf("endpoint %+v", e)
		}
	})
	t.Run("a path of the target comes first", func(t *testing.T) {
		r, asked := probe(t, map[string]http.Handler{"/tools": streamable(), "/mcp": streamable()}, discover.Options{}, "/tools")
		if !slices.Equal(urls(r), []string{"/tools"}) || !slices.Equal(asked, []string{"/tools"}) {
			t.Errorf("found %q, asked %q", urls(r), asked)
		}
	})
	t.Run("HTTP+SSE is proven too", func(t *testing.T) {
		s := server()
		sse := mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil)
		r, _ := probe(t, map[string]http.Handler{"/sse": sse}, discover.Options{})
		if !slices.Equal(urls(r), []string{"/sse"}) || r.Endpoints[0].Transport != target.SSE {
			t.Errorf("found %+v", r.Endpoints)
		}
	})
	t.Run("a page is no endpoint", func(t *testing.T) {
		page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<title>MCP</title>")
		})
		r, asked := probe(t, map[string]http.Handler{"/mcp": page, "/sse": page, "/.well-known/mcp": page}, discover.Options{})
		if len(r.Endpoints) != 0 || len(r.Protected) != 0 {
			t.Errorf("found %+v, %+v", r.Endpoints, r.Protected)
		}
		if want := discover.Paths; !slices.Equal(asked, want) {
			t.Errorf("asked %q, want the listed paths and no other: %q", asked, want)
		}
	})
	t.Run("401 is protected", func(t *testing.T) {
		refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://a.test/p"`)
			w.WriteHeader(http.StatusUnauthorized)
		})
		r, _ := probe(t, map[string]http.Handler{"/mcp": refuse}, discover.Options{})
		if len(r.Endpoints) != 0 || len(r.Protected) != 1 || r.Protected[0].Status != 401 ||
			r.Protected[0].Metadata != "https://a.test/p" ||
			!slices.Equal(r.Protected[0].Challenge, []string{`Bearer resource_metadata="https://a.test/p"`}) {
			t.Errorf("found %+v, %+v", r.Endpoints, r.Protected)
		}
	})
	t.Run("a pointer has to prove itself", func(t *testing.T) {
		handlers := map[string]http.Handler{
			"/.well-known/mcp": document(map[string]any{"endpoints": []any{map[string]any{"url": "/deep/mcp"}, map[string]any{"url": "/nothing"}}}),
			"/deep/mcp":        streamable(),
		}
		r, _ := probe(t, handlers, discover.Options{AllPaths: true})
		if !slices.Equal(urls(r), []string{"/deep/mcp"}) {
			t.Errorf("found %q", urls(r))
		}
	})
	t.Run("a pointer to another host is not followed", func(t *testing.T) {
		contacted := false
		other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { contacted = true }))
		defer other.Close()
		r, _ := probe(t, map[string]http.Handler{"/.well-known/mcp": document(map[string]any{"url": other.URL + "/mcp"})}, discover.Options{})
		if contacted {
			t.Error("a host that nobody named was contacted")
		}
		if want := strings.TrimPrefix(other.URL, "http://"); !slices.Equal(r.Blocked, []string{want}) {
			t.Errorf("blocked %q, want %q", r.Blocked, want)
		}
	})
}
