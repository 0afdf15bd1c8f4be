package wire

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// Limits that hold unless Options say otherwise.
const (
	DefaultTimeout        = 20 * time.Second
	DefaultConnectTimeout = 10 * time.Second
	DefaultMaxBody        = 16 << 20 // decoded bytes
	MaxRedirects          = 3
	maxResponseHeader     = 256 << 10 // bytes
	idleConnection        = 30 * time.Second
	maxAllowed            = 16 // hosts that one line may ask besides its own
)

// Clock tells the time and waits. Tests bring their own.
type Clock interface {
	Now() time.Time
	// Wait returns after d, or with ctx's error when ctx ends before.
	Wait(ctx context.Context, d time.Duration) error
}

// Options are the rules of a run.
type Options struct {
	UserAgent      string
	PerHost        float64        // requests per second and host; 0: no cap
	Overall        float64        // requests per second of the whole run; 0: no cap
	Resolve        []string       // host:port:address[:port], as curl's --resolve; the operator's word that the address may be reached
	RootCAs        *x509.CertPool // nil: the system's
	Timeout        time.Duration  // absolute, of one exchange with its body; default DefaultTimeout
	ConnectTimeout time.Duration  // default DefaultConnectTimeout
	MaxBody        int64          // decoded bytes of one answer; default DefaultMaxBody
	Clock          Clock          // default: the system's
}

// Door is the rules of a run. It is safe for concurrent use.
type Door struct {
	o       Options
	resolve map[string]netip.AddrPort // "host:port" to where it is
	pace    *pacer

	mu   sync.Mutex
	busy map[string]chan struct{} // hosts with a check under way
}

// NewDoor checks the options and returns a door.
func NewDoor(o Options) (*Door, error) {
	for _, rate := range []float64{o.PerHost, o.Overall} {
		if !(rate >= 0 && rate < math.Inf(1)) || (rate > 0 && rate < minRate) {
			return nil, fmt.Errorf("a rate of %g requests per second is none: give 0 for no cap, or at least %g", rate, minRate)
		}
	}
	if strings.ContainsAny(o.UserAgent, "\r\n") {
		return nil, errors.New("the User-Agent must be one line")
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = DefaultConnectTimeout
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	d := &Door{o: o, resolve: map[string]netip.AddrPort{}, busy: map[string]chan struct{}{}, pace: newPacer(o.Clock, o.PerHost, o.Overall)}
	for _, r := range o.Resolve {
		from, to, err := parseResolve(r)
		if err != nil {
			return nil, err
		}
		if other, twice := d.resolve[from]; twice && other != to {
			return nil, fmt.Errorf("--resolve leads %s to %s and to %s; give one of them", from, other, to)
		}
		d.resolve[from] = to
	}
	return d, nil
}

// parseResolve reads host:port:address or host:port:address:port.
func parseResolve(s string) (from string, to netip.AddrPort, err error) {
	bad := fmt.Errorf("--resolve %q is not host:port:address or host:port:address:port", s)
	host, rest, ok := strings.Cut(s, ":")
	if strings.HasPrefix(s, "[") {
		end := strings.Index(s, "]:")
		if end < 0 {
			return "", to, bad
		}
		host, rest, ok = s[1:end], s[end+2:], true
	}
	if !ok || host == "" {
		return "", to, bad
	}
	portText, address, ok := strings.Cut(rest, ":")
	port, err := strconv.ParseUint(portText, 10, 16)
	if !ok || err != nil || port == 0 {
		return "", to, bad
	}
	to, err = netip.ParseAddrPort(address)
	if err != nil {
		bare, bracketed := strings.CutPrefix(address, "[")
		if bracketed {
			bare, bracketed = strings.CutSuffix(bare, "]")
		}
		ip, err := netip.ParseAddr(bare)
		if err != nil || bracketed != strings.HasPrefix(address, "[") || (bracketed && ip.Is4()) {
			return "", to, bad
		}
		to = netip.AddrPortFrom(ip, uint16(port))
	}
	if to.Port() == 0 || to.Addr().Zone() != "" {
		return "", to, bad
	}
	from, err = hostKey(&url.URL{Scheme: "https", Host: net.JoinHostPort(host, portText)})
	if err != nil {
		return "", to, fmt.Errorf("--resolve %q: %w", s, err)
	}
	return from, to, nil
}

// Acquire waits until no other check is under way on a host and holds it until
// release is called: a host is never asked by two checks at once.
func (d *Door) Acquire(ctx context.Context, host string) (release func(), err error) {
	for {
		d.mu.Lock()
		wait := d.busy[host]
		if wait == nil {
			done := make(chan struct{})
			d.busy[host] = done
			d.mu.Unlock()
			return sync.OnceFunc(func() {
				d.mu.Lock()
				delete(d.busy, host)
				d.mu.Unlock()
				close(done)
			}), nil
		}
		d.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Open starts a line whose scope is the host and port of rawURL, and for plain
// http on its own port the same host's https. named says
// that the operator named this host, so that it may be private or loopback.
func (d *Door) Open(rawURL string, named bool) (*Line, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("open a line: not a URL: %w", errors.Unwrap(err))
	}
	key, err := hostKey(u)
	if err != nil {
		return nil, fmt.Errorf("open a line to %q: %w", maskURL(u), err)
	}
	l := &Line{door: d, origin: u, named: named, scope: map[string]bool{key: true}, blocked: map[string]bool{}}
	l.home = key
	if host, ok := strings.CutSuffix(key, ":80"); ok && u.Scheme == "http" {
		// The same host in its other default form: many answer plain http with
		// nothing but the way to https.
		l.secure = host + ":443"
		l.scope[l.secure] = true
	}
	l.transport = l.newTransport()
	return l, nil
}

// hostKey is the "host:port" of a URL in the one spelling that target.Canonical
// gives a host. Hosts that only some resolvers take for an address (decimal,
// octal and hexadecimal forms, zones) have none.
func hostKey(u *url.URL) (string, error) {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("scheme %q is neither http nor https", u.Scheme)
	case u.Hostname() == "":
		return "", errors.New("the URL names no host")
	case strings.ContainsAny(u.Host, `/\?#@`):
		return "", fmt.Errorf("host %q is not a host", u.Host)
	}
	canonical, err := target.Canonical(u.Scheme + "://" + u.Host + "/")
	if err != nil {
		return "", err
	}
	named, err := url.Parse(canonical)
	if err != nil {
		return "", errors.Unwrap(err)
	}
	port := named.Port()
	switch {
	case port == "" && u.Scheme == "https":
		port = "443"
	case port == "":
		port = "80"
	}
	return net.JoinHostPort(named.Hostname(), port), nil
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// userAgent sets the run's User-Agent on a request.
func (d *Door) userAgent(h http.Header) {
	agent := d.o.UserAgent
	if agent == "" {
		agent = "lustrum"
	}
	h.Set("User-Agent", agent)
}
