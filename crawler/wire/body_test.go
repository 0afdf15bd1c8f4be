package wire

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The raw answers of the field cases: the message is the one that an
// independent reader (Python's http.client and gzip) finds in them.
func TestFieldBodies(t *testing.T) {
	const message = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}}`
	for file, wireSize := range map[string]int64{"gzip_unasked": 128, "chunked_ext": 0} {
		p := listen(t, answers(string(field(t, "http/"+file+".http"))))
		l := open(t, Options{}, p.url("/mcp"), true)
		r := newRequest(t, "POST", p.url("/mcp"), "{}")
		r.Header.Set("Accept-Encoding", "identity") // gzip is not asked for
		resp, body, err := fetch(t, l, r)
		if err != nil || body != message {
			t.Fatalf("%s: %q, %v", file, body, err)
		}
		if resp.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: the decoded answer says that it is encoded", file)
		}
		x := l.Exchanges()[0]
		sum := sha256.Sum256([]byte(message))
		if b := x.ResponseBody; b.Size != int64(len(message)) || b.WireSize != wireSize || b.SHA256 != hex.EncodeToString(sum[:]) || string(b.Data) != message || b.Truncated {
			t.Errorf("%s: recorded %+v", file, b)
		}
		if wireSize > 0 && x.ResponseHeader.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: the record hides the encoding: %v", file, x.ResponseHeader)
		}
	}
}

func zip(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, s); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestLimitOfDecodedBytes(t *testing.T) {
	long := strings.Repeat("0123456789", 20_000) // more than a record keeps
	for _, c := range []struct {
		name, encoding, body string
		max                  int64
		err                  error
	}{
		{"just as long", "", long, int64(len(long)), nil},
		{"a byte too long", "", long, int64(len(long)) - 1, ErrTooLarge},
		{"gzip, just as long", "gzip", zip(t, long), int64(len(long)), nil},
		{"gzip, a byte too long", "GZIP", zip(t, long), int64(len(long)) - 1, ErrTooLarge},
		{"gzip, far too long", "x-gzip", zip(t, long), 10, ErrTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := listen(t, func(p *peer, conn net.Conn) {
				each(p, conn, func(int, request) bool {
					io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Encoding: "+c.encoding+"\r\n\r\n"+c.body)
					return false
				})
			})
			l := open(t, Options{MaxBody: c.max}, p.url("/"), true)
			resp, err := l.Do(newRequest(t, "GET", p.url("/"), ""))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			want := long[:min(int64(len(long)), c.max)]
			if !errors.Is(err, c.err) || string(got) != want {
				t.Errorf("%d bytes, %v; want %d, %v", len(got), err, len(want), c.err)
			}
			sum := sha256.Sum256([]byte(want))
			b := l.Exchanges()[0].ResponseBody
			if b.Size != int64(len(want)) || b.SHA256 != hex.EncodeToString(sum[:]) || b.Truncated != (c.err != nil) || string(b.Data) != want[:min(len(want), MaxRecordedBody)] {
				t.Errorf("recorded size %d, %d bytes kept, truncated %v", b.Size, len(b.Data), b.Truncated)
			}
		})
	}
}

// endless writes text over and over until the peer goes away.
func endless(w io.Writer, text string) {
	chunk := bytes.Repeat([]byte(text), 1+(32<<10)/len(text))
	for {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// behaviour/cases.json body_big and gzip_bomb, with a small limit.
func TestEndlessBodies(t *testing.T) {
	for name, send := range map[string]func(net.Conn){
		"body_big": func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
			endless(c, "[")
		},
		"gzip_bomb": func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
			z, _ := gzip.NewWriterLevel(c, gzip.BestCompression)
			endless(z, "\x00")
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := listen(t, func(p *peer, c net.Conn) { each(p, c, func(int, request) bool { send(c); return false }) })
			l := open(t, Options{MaxBody: 1 << 20}, p.url("/"), true)
			resp, err := l.Do(newRequest(t, "GET", p.url("/"), ""))
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if n != 1<<20 || !errors.Is(err, ErrTooLarge) {
				t.Errorf("%d bytes, %v", n, err)
			}
			if b := l.Exchanges()[0].ResponseBody; !b.Truncated || b.Size != 1<<20 || len(b.Data) != MaxRecordedBody {
				t.Errorf("recorded size %d, %d bytes kept, truncated %v", b.Size, len(b.Data), b.Truncated)
			}
		})
	}
}

// The limit of an exchange is absolute: traffic does not put it off. These are
// behaviour/cases.json slow_drip, endless_non_http and get_stream_silent, an
// endless header, and a peer that says nothing.
func TestAbsoluteLimit(t *testing.T) {
	drip := func(c net.Conn, text string) {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if _, err := io.WriteString(c, text); err != nil {
				return
			}
		}
	}
	until := func(c net.Conn) { io.Copy(io.Discard, c) } // the peer goes away
	for name, c := range map[string]struct {
		send   func(net.Conn)
		status int
	}{
		"slow_drip of the header": {func(c net.Conn) { drip(c, "H") }, 0},
		"slow_drip of the body":   {func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n"); drip(c, "x") }, 200},
		"keepalive comments": {func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
			drip(c, ":\n\n")
		}, 200},
		"get_stream_silent": {func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
			until(c)
		}, 200},
		"gzip header and no more": {func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b")
			until(c)
		}, 200},
		"silence":                     {until, 0},
		"interim answers, one by one": {func(c net.Conn) { drip(c, "HTTP/1.1 102 Processing\r\n\r\n") }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := listen(t, func(p *peer, conn net.Conn) { each(p, conn, func(int, request) bool { c.send(conn); return false }) })
			l := open(t, Options{Timeout: 150 * time.Millisecond}, p.url("/"), true)
			start := time.Now()
			resp, err := l.Do(newRequest(t, "GET", p.url("/"), ""))
			if resp != nil {
				_, err = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			if took := time.Since(start); err == nil || took > 5*time.Second {
				t.Errorf("ended after %v with %v", took, err)
			}
			x := l.Exchanges()
			if len(x) != 1 || x[0].Status != c.status || x[0].Error == "" {
				t.Errorf("recorded %+v", x)
			}
			if name != "interim answers, one by one" && !strings.Contains(x[0].Error, "no complete answer within 150ms") {
				t.Errorf("the record says %q", x[0].Error)
			}
		})
	}
}

func TestNotHTTP(t *testing.T) {
	for name, send := range map[string]func(net.Conn){
		"endless_non_http": func(c net.Conn) { endless(c, "\x8f\x03q~") },
		"endless header":   func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\n"); endless(c, "X-A: b\r\n") },
		"a long header":    func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\nX: "); endless(c, "y") },
		"SSH":              func(c net.Conn) { io.WriteString(c, "SSH-2.0-OpenSSH_9.7\r\n") },
		"nothing":          func(net.Conn) {},
	} {
		t.Run(name, func(t *testing.T) {
			p := listen(t, func(p *peer, c net.Conn) { each(p, c, func(int, request) bool { send(c); return false }) })
			l := open(t, Options{Timeout: 20 * time.Second}, p.url("/"), true)
			start := time.Now()
			_, err := l.Do(newRequest(t, "POST", p.url("/"), "{}"))
			if err == nil || RefOf(err) != 1 || time.Since(start) > 10*time.Second {
				t.Errorf("ended after %v with %v, req#%d", time.Since(start), err, RefOf(err))
			}
			if x := l.Exchanges(); len(x) != 1 || x[0].Status != 0 || len(x[0].Error) > 1000 {
				t.Errorf("recorded %d exchanges", len(x))
			}
		})
	}
}

// behaviour/cases.json reset: one record, and the next request runs.
func TestReset(t *testing.T) {
	p := listen(t, func(p *peer, c net.Conn) {
		each(p, c, func(n int, _ request) bool {
			if n > 0 {
				io.WriteString(c, ok)
				return true
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
			c.(*net.TCPConn).SetLinger(0)
			return false
		})
	})
	l := open(t, Options{}, p.url("/"), true)
	resp, err := l.Do(newRequest(t, "POST", p.url("/"), "{}"))
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if err == nil {
		t.Error("a reset is no error")
	}
	if x := l.Exchanges(); len(x) != 1 || x[0].Error == "" {
		t.Errorf("recorded %+v", x)
	}
	if _, body, err := fetch(t, l, newRequest(t, "POST", p.url("/"), "{}")); err != nil || body != "ok" {
		t.Errorf("the next request: %q, %v", body, err)
	}
}

// An event reaches the reader while the stream stays open, plain or in gzip:
// the server sends the second only when the first has been read.
func TestStreamsAsItComes(t *testing.T) {
	for _, encoding := range []string{"identity", "gzip"} {
		t.Run(encoding, func(t *testing.T) {
			more := make(chan bool)
			p := listen(t, func(p *peer, c net.Conn) {
				each(p, c, func(int, request) bool {
					io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: "+encoding+"\r\n\r\n")
					var w io.Writer = c
					flush := func() error { return nil }
					if encoding == "gzip" {
						z := gzip.NewWriter(c)
						w, flush = z, z.Flush
					}
					for {
						io.WriteString(w, "data: 1\n\n")
						flush()
						if !<-more {
							return false
						}
					}
				})
			})
			l := open(t, Options{}, p.url("/"), true)
			resp, err := l.Do(newRequest(t, "GET", p.url("/"), ""))
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				event := make([]byte, len("data: 1\n\n"))
				if _, err := io.ReadFull(resp.Body, event); err != nil || string(event) != "data: 1\n\n" {
					t.Fatalf("%q, %v", event, err)
				}
				more <- true
			}
			if l.Exchanges()[0].ResponseBody != nil {
				t.Error("the exchange is complete while its stream is open")
			}
			resp.Body.Close()
			close(more)
			if b := l.Exchanges()[0].ResponseBody; b == nil || !strings.HasPrefix(string(b.Data), strings.Repeat("data: 1\n\n", 3)) || b.Truncated {
				t.Errorf("recorded %+v", b)
			}
			if _, err := resp.Body.Read(make([]byte, 1)); err == nil {
				t.Error("a closed body can be read")
			}
		})
	}
}

// Closing from another goroutine ends a Read that waits.
func TestCloseEndsRead(t *testing.T) {
	p := listen(t, func(p *peer, c net.Conn) {
		each(p, c, func(int, request) bool {
			io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			io.Copy(io.Discard, c)
			return false
		})
	})
	l := open(t, Options{}, p.url("/"), true)
	resp, err := l.Do(newRequest(t, "GET", p.url("/"), ""))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := io.ReadAll(resp.Body)
		ended <- err
	}()
	resp.Body.Close()
	if err := <-ended; err == nil {
		t.Error("a Read that was cut off saw a regular end")
	}
}

func TestDamagedGzip(t *testing.T) {
	good := zip(t, strings.Repeat("text ", 100))
	for name, body := range map[string]string{"no gzip at all": "plain text", "cut off": good[:len(good)-9], "a wrong sum": good[:len(good)-8] + "12345678"} {
		p := listen(t, func(p *peer, c net.Conn) {
			each(p, c, func(int, request) bool {
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"+body)
				return false
			})
		})
		l := open(t, Options{}, p.url("/"), true)
		if _, _, err := fetch(t, l, newRequest(t, "GET", p.url("/"), "")); err == nil {
			t.Errorf("%s: no error", name)
		}
		if x := l.Exchanges()[0]; x.Error == "" || x.ResponseBody == nil {
			t.Errorf("%s: recorded %+v", name, x)
		}
	}
}

// An answer that has no body by its method or status, though it speaks of one.
func TestNoBody(t *testing.T) {
	for _, c := range []struct{ method, head string }{
		{"HEAD", "200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 99"},
		{"GET", "204 No\r\nContent-Encoding: gzip"},
		{"GET", "200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0"},
	} {
		p := listen(t, answers("HTTP/1.1 "+c.head+"\r\n\r\n"))
		l := open(t, Options{}, p.url("/"), true)
		if resp, body, err := fetch(t, l, newRequest(t, c.method, p.url("/"), "")); err != nil || body != "" || resp.StatusCode >= 300 {
			t.Errorf("%s %q: %q, %v", c.method, c.head, body, err)
		}
	}
}

func TestHTTP2(t *testing.T) {
	server := newHTTP2(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			http.Error(w, r.Proto, http.StatusHTTPVersionNotSupported)
			return
		}
		io.WriteString(w, "two")
	}))
	l := open(t, Options{RootCAs: server.pool, Resolve: []string{"example.com:443:" + server.addr}}, "https://example.com/", false)
	if _, body, err := fetch(t, l, newRequest(t, "GET", "https://example.com/", "")); err != nil || body != "two" {
		t.Fatalf("%q, %v", body, err)
	}
	if x := l.Exchanges()[0]; x.TLS == nil || x.TLS.Version != "TLS 1.3" || x.RemoteAddr != server.addr || x.Status != 200 {
		t.Errorf("recorded %+v", x)
	}
}
