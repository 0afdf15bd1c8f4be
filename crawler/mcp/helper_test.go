package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

const testURL = "http://h.example.test/mcp"

// memory serves a handler over pipes: real net/http on both sides, no socket,
// and usable under a fake clock.
func memory(t testing.TB, h http.Handler) *http.Client {
	t.Helper()
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: h}
	served := make(chan struct{})
	go func() { defer close(served); server.Serve(l) }()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		near, far := net.Pipe()
		select {
		case l.conns <- far:
			return near, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	t.Cleanup(func() { transport.CloseIdleConnections(); server.Close(); <-served })
	return &http.Client{Transport: transport}
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

// replay answers the first request of each connection with raw bytes.
func replay(t testing.TB, raw []byte) *http.Client {
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			req, err := http.ReadRequest(bufio.NewReader(far))
			if err != nil {
				return
			}
			io.Copy(io.Discard, req.Body)
			far.Write(raw)
		}()
		return near, nil
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// call is one request as a fake server saw it.
type call struct {
	HTTP    string
	Method  string
	ID      json.RawMessage
	Params  map[string]json.RawMessage
	Cursor  *string
	Version string // of the modern metadata
	Header  http.Header
	Body    []byte
}

// fake is a server written in a test: it logs each call and answers by f.
type fake struct {
	mu    sync.Mutex
	calls []call
	f     func(w http.ResponseWriter, r *http.Request, c call)
}

func (s *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c := call{HTTP: r.Method, Header: r.Header.Clone(), Body: body}
	if object, ok := Object(body); ok {
		c.ID = object["id"]
		c.Method, _ = stringOf(object["method"])
		c.Params, _ = Object(object["params"])
		if cursor, ok := stringOf(c.Params["cursor"]); ok {
			c.Cursor = &cursor
		}
		meta, _ := Object(c.Params["_meta"])
		c.Version, _ = stringOf(meta[MetaProtocolVersion])
	}
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.mu.Unlock()
	s.f(w, r, c)
}

func (s *fake) log() []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// methods lists the JSON-RPC methods asked, HTTP methods where there is none.
func (s *fake) methods() []string {
	var list []string
	for _, c := range s.log() {
		if c.Method != "" {
			list = append(list, c.Method)
		} else {
			list = append(list, c.HTTP)
		}
	}
	return list
}

func writeJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	io.WriteString(w, body)
}

func result(w http.ResponseWriter, c call, result string) {
	writeJSON(w, 200, `{"jsonrpc":"2.0","id":`+string(c.ID)+`,"result":`+result+`}`)
}

func failWith(w http.ResponseWriter, status int, c call, failure string) {
	writeJSON(w, status, `{"jsonrpc":"2.0","id":`+string(c.ID)+`,"error":`+failure+`}`)
}

func newClient(t testing.TB, h http.Handler, o Options) *Client {
	t.Helper()
	c := NewClient(testURL, memory(t, h), o)
	t.Cleanup(c.Close)
	return c
}

func field(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "field", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func unmarshal(t testing.TB, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

func kinds(faults []Fault) []string {
	list := []string{}
	for _, f := range faults {
		list = append(list, f.Kind)
	}
	return list
}

func wantKinds(t testing.TB, faults []Fault, want ...string) {
	t.Helper()
	if got := kinds(faults); !slices.Equal(got, want) {
		t.Errorf("faults %q, want %q: %v", got, want, faults)
	}
}

// sameJSON compares two JSON texts as values.
func sameJSON(t testing.TB, got, want []byte) {
	t.Helper()
	var a, b bytes.Buffer
	if err := canonical(&a, got); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if err := canonical(&b, want); err != nil {
		t.Fatalf("%s: %v", want, err)
	}
	if a.String() != b.String() {
		t.Errorf("got %s\nwant %s", a.String(), b.String())
	}
}

func canonical(w io.Writer, raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(v)
}
