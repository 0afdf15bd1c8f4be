package wire

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
)

// newTransport has no proxy, no cookies and no compression of its own, and
// takes nothing from the environment.
func (l *Line) newTransport() *http.Transport {
	o := l.door.o
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            l.dial,
		TLSClientConfig:        &tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    o.ConnectTimeout,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    4,
		MaxResponseHeaderBytes: maxResponseHeader,
	}
}

// dial connects to "host:port": where the operator said that the host is, or
// where DNS says, which is judged for each address at the moment of dialling.
func (l *Line) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: l.door.o.ConnectTimeout}
	if to, ok := l.door.resolve[strings.ToLower(addr)]; ok {
		return dialer.DialContext(ctx, network, to.String())
	}
	if !l.mayBePrivate(addr) {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			return publicAddress(to.Addr())
		}
	}
	return dialer.DialContext(ctx, network, addr)
}

// mayBePrivate reports whether the operator named this host.
func (l *Line) mayBePrivate(addr string) bool {
	key := strings.ToLower(addr)
	l.mu.Lock()
	defer l.mu.Unlock()
	return (l.named && key == l.home) || l.near[key]
}
