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
		IdleConnTimeout:        idleConnection,
		MaxResponseHeaderBytes: maxResponseHeader,
	}
}

// dial connects to "host:port": where the operator said that the host is, or
// where DNS says, which is judged for each address at the moment of dialling.
func (l *Line) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: l.door.o.ConnectTimeout}
	addr = dialKey(addr)
	if to, ok := l.door.resolve[addr]; ok {
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

// dialKey is an address to dial as hostKey spells it.
func dialKey(addr string) string {
	host, port, err := net.SplitHostPort(strings.ToLower(addr))
	if err != nil {
		return addr
	}
	return net.JoinHostPort(strings.TrimSuffix(host, "."), port)
}

// mayBePrivate reports whether the operator named this host.
func (l *Line) mayBePrivate(addr string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return (l.named && (addr == l.home || addr == l.secure)) || l.near[addr]
}
