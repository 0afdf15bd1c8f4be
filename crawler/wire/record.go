package wire

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"
)

const masked = "(masked)"

// secretHeaders never reach a recording.
var secretHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key"}

// newExchange begins the record of a request.
func newExchange(now time.Time, req *http.Request, body []byte) *Exchange {
	x := &Exchange{Started: now, Method: req.Method, URL: maskURL(req.URL), RequestHeader: maskHeader(req.Header)}
	if body != nil {
		sum := sha256.Sum256(body)
		x.RequestBody = &Body{Size: int64(len(body)), SHA256: hex.EncodeToString(sum[:]), Data: body[:min(len(body), MaxRecordedBody)]}
	}
	return x
}

// traced notes the peer's address and the time of the first byte. A transport
// may still report after it gave up, hence the lock.
func (l *Line) traced(ctx context.Context, x *Exchange) context.Context {
	note := func(f func()) {
		l.mu.Lock()
		defer l.mu.Unlock()
		f()
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) {
			note(func() { x.RemoteAddr = i.Conn.RemoteAddr().String() })
		},
		GotFirstResponseByte: func() {
			note(func() { x.FirstByteMS = l.since(x) })
		},
	})
}

// add puts an exchange into the record and returns its number.
func (l *Line) add(x *Exchange, resp *http.Response) int {
	if resp != nil {
		x.Status = resp.StatusCode
		x.ResponseHeader = maskHeader(resp.Header)
		x.TLS = tlsFacts(resp.TLS)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	x.N = len(l.exchanges) + 1
	l.exchanges = append(l.exchanges, x)
	return x.N
}

// Exchanges returns a copy of the record so far, in the order of numbers.
func (l *Line) Exchanges() []Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Exchange, len(l.exchanges))
	for i, x := range l.exchanges {
		out[i] = *x
	}
	return out
}

func (l *Line) since(x *Exchange) float64 {
	return milliseconds(l.door.o.Clock.Now().Sub(x.Started))
}

// milliseconds keeps three decimals: recordings are read by people too.
func milliseconds(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000
}

func maskHeader(h http.Header) http.Header {
	out := h.Clone()
	for _, name := range secretHeaders {
		if _, ok := out[name]; ok {
			out[name] = []string{masked}
		}
	}
	if ids := out["Mcp-Session-Id"]; len(ids) > 0 {
		// A session is a secret, but which requests share one is evidence.
		sum := sha256.Sum256([]byte(ids[0]))
		out["Mcp-Session-Id"] = []string{"(session " + hex.EncodeToString(sum[:4]) + ")"}
	}
	for name, values := range out {
		if strings.EqualFold(name, "Location") && len(values) > 0 {
			if u, err := url.Parse(values[0]); err == nil {
				out[name] = []string{maskURL(u)}
			}
		}
	}
	return out
}

// secretParams are parts of names of query parameters whose values are masked.
var secretParams = []string{"token", "key", "secret", "password", "passwd", "signature", "session", "code", "auth"}

func maskURL(u *url.URL) string {
	if u.RawQuery == "" && u.User == nil {
		return u.String()
	}
	copied := *u
	copied.User = nil
	var parts []string
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		name, _, ok := strings.Cut(part, "=")
		lower := strings.ToLower(name)
		for _, secret := range secretParams {
			if ok && strings.Contains(lower, secret) {
				part = name + "=" + url.QueryEscape(masked)
				break
			}
		}
		parts = append(parts, part)
	}
	copied.RawQuery = strings.Join(parts, "&")
	return copied.String()
}

func tlsFacts(s *tls.ConnectionState) *TLSFacts {
	if s == nil {
		return nil
	}
	f := &TLSFacts{Version: tls.VersionName(s.Version)}
	if len(s.PeerCertificates) > 0 {
		f.certificate(s.PeerCertificates[0])
	}
	return f
}
