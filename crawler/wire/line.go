package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// maxRequestBody bounds what is sent, in bytes.
const maxRequestBody = 16 << 20

// Line is one conversation: requests to one host, and to authorization servers
// that it names, all recorded. It is safe for concurrent use.
type Line struct {
	door      *Door
	origin    *url.URL
	home      string // "host:port" of origin
	secure    string // the same host's https, where origin is plain http on port 80
	named     bool
	transport *http.Transport

	mu        sync.Mutex
	scope     map[string]bool // "host:port" to whether it may be asked
	near      map[string]bool // loopback authorization servers of a named loopback target
	blocked   map[string]bool
	exchanges []*Exchange
}

// Allow adds the host of an authorization server that the target names. It
// must be https; plain http is permitted for a loopback host of a line whose
// own host was named by the operator and is loopback too.
func (l *Line) Allow(rawURL string) error {
	u, err := url.Parse(rawURL)
	if err != nil {
		return fmt.Errorf("authorization server: not a URL: %w", errors.Unwrap(err))
	}
	key, err := hostKey(u)
	if err != nil {
		return fmt.Errorf("authorization server %q: %w", maskURL(u), err)
	}
	near := l.named && loopbackName(u.Hostname()) && loopbackName(l.origin.Hostname())
	if u.Scheme != "https" && !near {
		return fmt.Errorf("authorization server %q is not https and is %w", maskURL(u), ErrBlocked)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.scope[key] && len(l.scope) > maxAllowed {
		return fmt.Errorf("authorization server %q is over the bound of %d hosts of one target and is %w", maskURL(u), maxAllowed, ErrBlocked)
	}
	l.scope[key] = true
	if near {
		if l.near == nil {
			l.near = map[string]bool{}
		}
		l.near[key] = true
	}
	return nil
}

func loopbackName(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || (ip != nil && ip.IsLoopback())
}

// Do sends a request and follows at most MaxRedirects redirects: inside the
// scope, never from https to http, and only where the same method and body are
// sent again (307 and 308 always; 301, 302 and 303 for GET and HEAD). A
// redirect that is not followed is the answer.
func (l *Line) Do(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if _, err := takeBody(req); err != nil {
		return nil, &Error{Err: err}
	}
	for hop := 0; ; hop++ {
		resp, err := l.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		next := l.redirect(req, resp)
		if next == nil || hop == MaxRedirects {
			return resp, nil
		}
		// The body of a redirect is evidence and no more: it is read for the
		// record, and whether it ends well changes nothing.
		if resp.ContentLength != 0 {
			_, _ = io.CopyN(io.Discard, resp.Body, MaxRecordedBody)
		}
		_ = resp.Body.Close()
		if err := req.Context().Err(); err != nil {
			return nil, &Error{N: Ref(resp), Err: fmt.Errorf("follow a redirect: %w", err)}
		}
		req = next
	}
}

// redirect returns the request that a redirect asks for, nil when the answer
// is none or must not be followed. A host outside the scope that it leads to is
// noted as blocked.
func (l *Line) redirect(req *http.Request, resp *http.Response) *http.Request {
	same := false // the same method and body are sent again
	switch resp.StatusCode {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		same = true
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		same = req.Method == http.MethodGet || req.Method == http.MethodHead
	default:
		return nil
	}
	location := resp.Header.Get("Location")
	if location == "" {
		return nil
	}
	to, err := req.URL.Parse(location)
	if err != nil || to.User != nil || (to.Scheme != "http" && to.Scheme != "https") {
		return nil
	}
	same = same && (req.URL.Scheme != "https" || to.Scheme == "https")
	key, err := hostKey(to)
	if err != nil || !l.inScope(key) {
		if same || !strings.EqualFold(to.Hostname(), req.URL.Hostname()) {
			l.block(to)
		}
		return nil
	}
	if !same {
		return nil
	}
	next := req.Clone(req.Context())
	if from, err := hostKey(req.URL); err != nil || from != key {
		// What was meant for one host is not shown to another.
		for name := range next.Header {
			if secretHeader(name) || name == sessionHeader {
				next.Header.Del(name)
			}
		}
	}
	next.URL, next.Host, next.Response = to, "", resp
	if req.GetBody != nil {
		if next.Body, err = req.GetBody(); err != nil {
			return nil
		}
	}
	return next
}

func (l *Line) inScope(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.scope[key]
}

// block notes a host that was not contacted, with its port where that is not
// the scheme's own.
func (l *Line) block(u *url.URL) {
	key, err := hostKey(u)
	if err != nil {
		key = u.Host[:min(len(u.Host), 255)]
	}
	for scheme, port := range map[string]string{"https": ":443", "http": ":80"} {
		if u.Scheme == scheme && !strings.EqualFold(u.Hostname(), l.origin.Hostname()) {
			key = strings.TrimSuffix(key, port)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blocked[key] = true
}

// Blocked lists the hosts that were refused, sorted.
func (l *Line) Blocked() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]string, 0, len(l.blocked))
	for host := range l.blocked {
		out = append(out, host)
	}
	slices.Sort(out)
	return out
}

// RoundTrip sends one request and follows nothing. It implements
// http.RoundTripper, except that errors are *Error.
func (l *Line) RoundTrip(req *http.Request) (*http.Response, error) {
	key, err := hostKey(req.URL)
	if err != nil {
		return nil, &Error{Err: fmt.Errorf("%s %q: %w", req.Method, maskURL(req.URL), err)}
	}
	if req.URL.User != nil {
		return nil, &Error{Err: fmt.Errorf("the URL carries credentials: %w", ErrBlocked)}
	}
	if !l.inScope(key) {
		l.block(req.URL)
		return nil, &Error{Err: fmt.Errorf("host %s is %w", key, ErrBlocked)}
	}
	host := hostOf(key)
	if err := l.door.pace.wait(req.Context(), host); err != nil {
		return nil, &Error{Err: fmt.Errorf("wait for the turn of host %s: %w", key, err)}
	}
	ctx, cancel := context.WithTimeoutCause(req.Context(), l.door.o.Timeout, fmt.Errorf("no complete answer within %s", l.door.o.Timeout))
	out := req.Clone(ctx)
	body, err := takeBody(out)
	if err != nil {
		cancel()
		return nil, &Error{Err: err}
	}
	l.door.userAgent(out.Header)
	if out.Header.Get("Accept-Encoding") == "" {
		out.Header.Set("Accept-Encoding", "gzip")
	}
	x := newExchange(l.door.o.Clock.Now(), out, body)
	resp, err := l.transport.RoundTrip(out.WithContext(l.traced(ctx, x)))
	if err != nil {
		defer cancel()
		return nil, l.failed(ctx, req.URL, x, err)
	}
	l.door.pace.heed(host, resp)
	n := l.add(x, resp)
	resp.Request = req.WithContext(context.WithValue(req.Context(), refKey{}, n))
	l.wrapBody(ctx, cancel, x, resp)
	return resp, nil
}

// failed records a request that brought no response; one that the address
// guard refused was never sent and is none.
func (l *Line) failed(ctx context.Context, u *url.URL, x *Exchange, err error) error {
	if errors.Is(err, ErrBlocked) {
		l.block(u)
		return &Error{Err: err}
	}
	if ctx.Err() != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = fmt.Errorf("%w (%w)", cause, ctx.Err())
		}
	}
	n := l.add(x, nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	x.Error, x.TotalMS = err.Error(), l.since(x)
	return &Error{N: n, Err: err}
}

// hostOf is the host of a key that hostKey made.
func hostOf(key string) string {
	host, _, err := net.SplitHostPort(key)
	if err != nil {
		return key
	}
	return host
}

// takeBody reads the request's body, so that it can be recorded and sent
// again.
func takeBody(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	raw, err := io.ReadAll(io.LimitReader(req.Body, maxRequestBody+1))
	if err = errors.Join(err, req.Body.Close()); err != nil {
		return nil, fmt.Errorf("read the request's body: %w", err)
	}
	if len(raw) > maxRequestBody {
		return nil, fmt.Errorf("the request's body is over %d bytes", maxRequestBody)
	}
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(raw))), nil }
	req.Body, _ = req.GetBody()
	req.ContentLength = int64(len(raw))
	return raw, nil
}

// Close ends the line's connections. What was recorded stays.
func (l *Line) Close() { l.transport.CloseIdleConnections() }
