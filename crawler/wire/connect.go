package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"time"
)

// Reasons why a TLS handshake failed.
const (
	TLSExpired             = "expired"
	TLSNotYetValid         = "not-yet-valid"
	TLSWrongHost           = "wrong-host"
	TLSUnknownAuthority    = "unknown-authority"
	TLSMissingIntermediate = "missing-intermediate" // probably: the server sent its own certificate only
	TLSHandshake           = "handshake"            // anything else
)

// Connection is what a look at the network path showed.
type Connection struct {
	N         int // the exchange that shows it; 0 when the guard refused
	Scheme    string
	Addresses []netip.Addr
	DNSErr    error
	TCPErr    error
	TLSErr    error
	TLS       *TLSFacts // also when the certificate did not verify
	TLSReason string    // why TLSErr is set
	Loopback  bool      // the address connected to is a loopback one
	Blocked   bool      // the guard refused: nothing was sent
}

// certificate fills in what a certificate says.
func (f *TLSFacts) certificate(c *x509.Certificate) {
	f.Subject, f.Issuer = c.Subject.String(), c.Issuer.String()
	f.DNSNames = c.DNSNames
	f.NotBefore, f.NotAfter = c.NotBefore.UTC(), c.NotAfter.UTC()
}

// Connect looks up the line's host, opens a TCP connection and does the TLS
// handshake with full verification, and sends nothing else. It is recorded as
// one exchange with the method CONNECT.
func (l *Line) Connect(ctx context.Context) *Connection {
	c := &Connection{Scheme: l.origin.Scheme}
	if err := l.door.pace.wait(ctx, hostOf(l.home)); err != nil {
		c.TCPErr = err
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, l.door.o.ConnectTimeout)
	defer cancel()
	x := &Exchange{Started: l.door.o.Clock.Now(), Method: "CONNECT", URL: l.origin.Scheme + "://" + l.home}
	err := l.connect(ctx, c, x)
	if errors.Is(err, ErrBlocked) {
		l.block(l.origin)
		c.Blocked = true
		return c
	}
	if err != nil {
		x.Error = err.Error()
	}
	x.TLS = c.TLS
	x.TotalMS = l.since(x)
	c.N = l.add(x, nil)
	return c
}

func (l *Line) connect(ctx context.Context, c *Connection, x *Exchange) error {
	host := hostOf(l.home)
	if to, ok := l.door.resolve[l.home]; ok {
		c.Addresses = []netip.Addr{to.Addr()}
	} else if ip, err := netip.ParseAddr(host); err == nil {
		c.Addresses = []netip.Addr{ip}
	} else if c.Addresses, c.DNSErr = net.DefaultResolver.LookupNetIP(ctx, "ip", host); c.DNSErr != nil {
		return c.DNSErr
	}
	conn, err := l.dial(ctx, "tcp", l.home)
	if err != nil {
		c.TCPErr = err
		return err
	}
	defer conn.Close()
	x.RemoteAddr = conn.RemoteAddr().String()
	// Where --resolve leads says nothing of the host that the name belongs to.
	if _, led := l.door.resolve[l.home]; led {
		c.Loopback = loopbackName(host)
	} else if peer, err := netip.ParseAddrPort(x.RemoteAddr); err == nil {
		c.Loopback = peer.Addr().Unmap().IsLoopback()
	}
	if c.Scheme != "https" {
		return nil
	}
	secure := tls.Client(conn, &tls.Config{ServerName: host, RootCAs: l.door.o.RootCAs, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}})
	if err := secure.HandshakeContext(ctx); err != nil {
		c.TLSErr = err
		c.TLSReason, c.TLS = diagnose(err, l.door.o.Clock.Now())
		return err
	}
	state := secure.ConnectionState()
	c.TLS = tlsFacts(&state)
	return nil
}

// diagnose says why a handshake failed, and what certificate was shown.
func diagnose(err error, now time.Time) (string, *TLSFacts) {
	var unverified *tls.CertificateVerificationError
	if !errors.As(err, &unverified) || len(unverified.UnverifiedCertificates) == 0 {
		return TLSHandshake, nil
	}
	chain := unverified.UnverifiedCertificates
	facts := &TLSFacts{}
	facts.certificate(chain[0])
	var (
		invalid x509.CertificateInvalidError
		name    x509.HostnameError
		unknown x509.UnknownAuthorityError
	)
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && now.Before(invalid.Cert.NotBefore):
		return TLSNotYetValid, facts
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return TLSExpired, facts
	case errors.As(err, &name):
		return TLSWrongHost, facts
	case errors.As(err, &unknown) && len(chain) == 1 && chain[0].Subject.String() != chain[0].Issuer.String():
		return TLSMissingIntermediate, facts
	case errors.As(err, &unknown):
		return TLSUnknownAuthority, facts
	}
	return TLSHandshake, facts
}
