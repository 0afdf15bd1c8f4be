package wire

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func field(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "field", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// peer is a TCP server on loopback that speaks what a test lets it speak.
type peer struct {
	net.Listener
	mu       sync.Mutex
	conns    int
	requests []request
}

// request is what a peer was sent.
type request struct {
	*http.Request
	body string
}

// listen starts a peer. handle gets each connection and closes nothing.
func listen(t testing.TB, handle func(p *peer, c net.Conn)) *peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, l, handle)
}

func serve(t testing.TB, l net.Listener, handle func(p *peer, c net.Conn)) *peer {
	p := &peer{Listener: l}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.mu.Lock()
			p.conns++
			p.mu.Unlock()
			running.Go(func() {
				defer c.Close()
				handle(p, c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		running.Wait()
	})
	return p
}

func (p *peer) port() string {
	_, port, _ := net.SplitHostPort(p.Addr().String())
	return port
}

func (p *peer) url(path string) string { return "http://" + p.Addr().String() + path }

// at is the --resolve that leads host and port to the peer.
func (p *peer) at(hostPort string) string { return hostPort + ":" + p.Addr().String() }

// seen returns what was sent, and over how many connections.
func (p *peer) seen() ([]request, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]request(nil), p.requests...), p.conns
}

// answers replies to the requests of a connection with raw bytes: the n-th of
// the peer with the n-th text, the last one for all that follow.
func answers(texts ...string) func(*peer, net.Conn) {
	return func(p *peer, c net.Conn) {
		each(p, c, func(n int, _ request) bool {
			_, err := io.WriteString(c, texts[min(n, len(texts)-1)])
			return err == nil
		})
	}
}

// each reads the requests of a connection and hands them on while reply says
// so.
func each(p *peer, c net.Conn, reply func(n int, r request) bool) {
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		p.mu.Lock()
		n := len(p.requests)
		p.requests = append(p.requests, request{r, string(body)})
		p.mu.Unlock()
		if !reply(n, request{r, string(body)}) {
			return
		}
	}
}

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func open(t testing.TB, o Options, url string, named bool) *Line {
	t.Helper()
	d, err := NewDoor(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := d.Open(url, named)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func newRequest(t testing.TB, method, url, body string) *http.Request {
	t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, url, in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fetch does a request and reads the answer to its end.
func fetch(t testing.TB, l *Line, r *http.Request) (*http.Response, string, error) {
	t.Helper()
	resp, err := l.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

// authority issues certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func issue(t testing.TB, parent *authority, name string, ca bool, from, to time.Time, hosts ...string) (*authority, tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: to,
		IsCA: ca, BasicConstraintsValid: true, DNSNames: hosts, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if ca {
		template.KeyUsage |= x509.KeyUsageCertSign
	}
	signer, signKey := template, key
	if parent != nil {
		signer, signKey = parent.cert, parent.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer, &key.PublicKey, signKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert, key}, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// listenTLS starts a peer behind TLS. The pool trusts it.
func listenTLS(t testing.TB, handle func(*peer, net.Conn), hosts ...string) (*peer, *x509.CertPool) {
	t.Helper()
	now := time.Now()
	root, _ := issue(t, nil, "Root", true, now.Add(-time.Hour), now.Add(time.Hour))
	_, leaf := issue(t, root, "leaf", false, now.Add(-time.Hour), now.Add(time.Hour), hosts...)
	pool := x509.NewCertPool()
	pool.AddCert(root.cert)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{leaf}})
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, l, handle), pool
}

// clock is a Clock whose time passes only by waiting.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	waited []time.Duration
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Wait(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	c.waited = append(c.waited, d)
	c.now = c.now.Add(d)
	return nil
}

// http2Server serves HTTP/2 for example.com.
type http2Server struct {
	addr string
	pool *x509.CertPool
}

func newHTTP2(t testing.TB, h http.Handler) http2Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return http2Server{s.Listener.Addr().String(), pool}
}
