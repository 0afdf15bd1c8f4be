package check

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/lustrum-mcp/lustrum/crawler/wire"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// phaseNet looks at name, connection and certificate, before any MCP traffic.
func (r *run) phaseNet(ctx context.Context) {
	c := r.connection(ctx)
	ev := at(c.N)
	if c.Blocked {
		reason := "not contacted: the scope of this run refuses " + r.url.Host
		if c.TCPErr != nil {
			reason = "not contacted: " + c.TCPErr.Error()
		}
		r.block(PhaseNet, reason)
		r.skipMissing(reason, []string{PhaseNet})
		return
	}
	r.judgeScheme(ev)
	if !r.judgeName(ctx, c, ev) || !r.judgeTCP(ctx, c, ev) {
		return
	}
	r.judgeTLS(ctx, c, ev)
}

// connection looks at the path to the endpoint once a run.
func (r *run) connection(ctx context.Context) *wire.Connection {
	if r.conn == nil {
		r.conn = r.line.Connect(ctx)
	}
	return r.conn
}

// loopback reports whether the endpoint is on the machine that checks it.
func (r *run) loopback() bool {
	if r.conn != nil && r.conn.Loopback {
		return true
	}
	return loopbackHost(r.url.Hostname())
}

func loopbackHost(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

func (r *run) judgeScheme(ev span) {
	const id = "net.scheme"
	switch {
	case r.url.Scheme == "https":
		r.pass(id, ev, "https")
	case r.loopback():
		r.info(id, ev, "plain http on loopback")
	default:
		r.fail(id, rubric.Critical, ev, "plain http to "+r.url.Host)
	}
}

func (r *run) judgeName(ctx context.Context, c *wire.Connection, ev span) bool {
	const id = "net.dns"
	err := c.DNSErr
	if err == nil {
		if _, parseErr := netip.ParseAddr(r.url.Hostname()); parseErr == nil {
			r.pass(id, ev, "the host is an address")
			return true
		}
		r.pass(id, ev, fmt.Sprintf("%s has %s", r.url.Hostname(), count(len(c.Addresses), "address", "addresses")))
		return true
	}
	var dns *net.DNSError
	notFound := errors.As(err, &dns) && dns.IsNotFound
	switch {
	case ctx.Err() != nil:
		r.unreachable(id, ended(ctx.Err()))
	case !notFound && (errors.As(err, &dns) && (dns.IsTimeout || dns.IsTemporary)):
		r.unreachable(id, "the resolver could not tell: "+err.Error())
	default:
		r.fail(id, rubric.Critical, ev, err.Error())
		r.block(PhaseNet, "the host name does not resolve: "+err.Error())
	}
	return false
}

func (r *run) judgeTCP(ctx context.Context, c *wire.Connection, ev span) bool {
	const id = "net.tcp"
	err := c.TCPErr
	switch {
	case err == nil:
		r.pass(id, ev, "connected")
		return true
	case ctx.Err() != nil:
		r.unreachable(id, ended(ctx.Err()))
	default:
		r.fail(id, rubric.Critical, ev, err.Error())
		r.block(PhaseNet, "no connection opens: "+err.Error())
	}
	return false
}

// unreachable is a step of the path that nobody could judge; what needs it
// can't run.
func (r *run) unreachable(id, reason string) {
	r.skip(id, reason)
	r.block(PhaseNet, reason)
}

func (r *run) judgeTLS(ctx context.Context, c *wire.Connection, ev span) {
	if r.url.Scheme != "https" {
		for _, id := range []string{"net.tls", "net.tls.version", "net.tls.cert"} {
			r.skip(id, "plain http: there is no TLS to look at")
		}
		return
	}
	if c.TLSErr != nil && ctx.Err() != nil {
		r.unreachable("net.tls", ended(ctx.Err()))
		return
	}
	if c.TLSErr == nil {
		r.pass("net.tls", ev, "the certificate verifies for "+r.url.Hostname())
		r.judgeTLSVersion(c.TLS, ev)
	} else {
		reason, advice := tlsReason(c)
		details := []detail{}
		if advice != "" {
			details = append(details, advise("%s", advice))
		}
		r.fail("net.tls", rubric.Critical, ev, reason, details...)
		r.skip("net.tls.version", "the handshake was not completed")
		r.block(PhaseNet, "TLS does not verify: "+reason)
	}
	r.judgeCertificate(c.TLS, ev)
}

// tlsReason says in words what is wrong with a handshake, and what to do about
// it when the catalogue's advice is not exact enough.
func tlsReason(c *wire.Connection) (reason, advice string) {
	facts := c.TLS
	if facts == nil {
		return c.TLSErr.Error(), ""
	}
	switch c.TLSReason {
	case wire.TLSExpired:
		return "expired: the certificate ended on " + date(facts.NotAfter), "Renew the certificate, and automate the renewal."
	case wire.TLSNotYetValid:
		return "not yet valid: the certificate begins on " + date(facts.NotBefore), "Check the clock of the server and the dates of the certificate."
	case wire.TLSWrongHost:
		names := "no names"
		if len(facts.DNSNames) > 0 {
			names = strings.Join(facts.DNSNames[:min(len(facts.DNSNames), 8)], ", ")
		}
		return "wrong host: the certificate is for " + names, "Install a certificate whose names include the host."
	case wire.TLSMissingIntermediate:
		return fmt.Sprintf("unknown authority: the server sends its own certificate only, signed by %s; an intermediate may be missing", quoteShort(facts.Issuer, 120)),
			"Send the whole chain, the server's certificate followed by every intermediate: browsers forgive a missing one and other clients don't. If none is missing, the authority is not a public one."
	case wire.TLSUnknownAuthority:
		if facts.Subject == facts.Issuer {
			return "unknown authority: the certificate is signed by itself", "Install a certificate from a public authority."
		}
		return fmt.Sprintf("unknown authority: %s is not trusted here", quoteShort(facts.Issuer, 120)), "Install a certificate from a public authority."
	}
	return c.TLSErr.Error(), ""
}

func (r *run) judgeTLSVersion(facts *wire.TLSFacts, ev span) {
	const id = "net.tls.version"
	switch {
	case facts == nil || facts.Version == "":
		r.skip(id, "the version was not recorded")
	case facts.Version >= "TLS 1.3" && strings.HasPrefix(facts.Version, "TLS "):
		r.pass(id, ev, facts.Version)
	default:
		r.warn(id, ev, facts.Version)
	}
}

// Bounds of net.tls.cert.
const (
	certWarning   = 14 * 24 * time.Hour
	shortLifetime = 30 * 24 * time.Hour
	shortShare    = 5 // a fifth of a short lifetime
)

func (r *run) judgeCertificate(facts *wire.TLSFacts, ev span) {
	const id = "net.tls.cert"
	if facts == nil || facts.NotAfter.IsZero() {
		r.skip(id, "no certificate was seen")
		return
	}
	now := r.opts.Now()
	left, lifetime := facts.NotAfter.Sub(now), facts.NotAfter.Sub(facts.NotBefore)
	enough := certWarning
	if lifetime < shortLifetime {
		enough = lifetime / shortShare
	}
	switch {
	case left <= 0:
		r.fail(id, rubric.Critical, ev, "expired on "+date(facts.NotAfter))
	case now.Before(facts.NotBefore):
		r.fail(id, rubric.Critical, ev, "not valid before "+date(facts.NotBefore))
	case left < enough:
		r.warn(id, ev, fmt.Sprintf("ends on %s, in %s", date(facts.NotAfter), days(left)))
	default:
		r.pass(id, ev, fmt.Sprintf("valid until %s, another %s", date(facts.NotAfter), days(left)))
	}
}

func date(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

func days(d time.Duration) string {
	if d < 48*time.Hour {
		return count(int(d/time.Hour), "hour", "hours")
	}
	return count(int(d/(24*time.Hour)), "day", "days")
}

// count words a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
