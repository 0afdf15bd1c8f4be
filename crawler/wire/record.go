package wire

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"time"
)

const masked = "(masked)"

const sessionHeader = "Mcp-Session-Id"

// secretHeaders are parts of names, in lower case, of headers whose values
// never reach a recording. A challenge (WWW-Authenticate) is no secret.
var secretHeaders = []string{"authorization", "cookie", "token", "secret", "password", "api-key", "apikey", "access-key", "signature"}

func secretHeader(name string) bool {
	lower := strings.ToLower(name)
	return slices.ContainsFunc(secretHeaders, func(part string) bool { return strings.Contains(lower, part) })
}

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
	for name, values := range out {
		switch {
		case secretHeader(name):
			out[name] = []string{masked}
		case strings.EqualFold(name, sessionHeader):
			for i, id := range values {
				// A session is a secret, but which requests share one is evidence.
				sum := sha256.Sum256([]byte(id))
				values[i] = "(session " + hex.EncodeToString(sum[:4]) + ")"
			}
		case slices.Contains(urlHeaders, name):
			for i, value := range values {
				values[i] = masked
				if u, err := url.Parse(value); err == nil {
					values[i] = maskURL(u)
				}
			}
		}
	}
	return out
}

// urlHeaders hold a URL, which may carry secrets in its query.
var urlHeaders = []string{"Location", "Content-Location", "Referer"}

// secretParams are parts of names of query parameters whose values are masked.
var secretParams = []string{"token", "key", "secret", "password", "passwd", "signature", "session", "code", "auth"}

// maskURL is a URL without user information and fragment, and with the values
// of secret query parameters masked.
func maskURL(u *url.URL) string {
	copied := *u
	copied.User, copied.Fragment, copied.RawFragment = nil, "", ""
	if u.RawQuery == "" {
		return copied.String()
	}
	var parts []string
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		name, _, ok := strings.Cut(part, "=")
		lower := strings.ToLower(name)
		if plain, err := url.QueryUnescape(name); err == nil {
			lower = strings.ToLower(plain)
		}
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
