package wire

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// tls/cases.json: each case is a certificate made here, with real dates, since
// verification uses the clock of the machine. The two that verification lets
// through show the facts that their checks need.
func TestFieldTLS(t *testing.T) {
	var cases []struct{ Cert string }
	if err := json.Unmarshal(field(t, "tls/cases.json"), &cases); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	const day = 24 * time.Hour
	const host = "mcp.test"
	root, _ := issue(t, nil, "Test Root", true, now.Add(-365*day), now.Add(365*day))
	middle, middleCert := issue(t, root, "Test Intermediate", true, now.Add(-365*day), now.Add(365*day))
	elsewhere, elsewhereCert := issue(t, nil, "Foreign Root", true, now.Add(-365*day), now.Add(365*day))
	pool := x509.NewCertPool()
	pool.AddCert(root.cert)
	leaf := func(parent *authority, from, to time.Duration, name string, more ...tls.Certificate) tls.Certificate {
		_, c := issue(t, parent, "leaf", false, now.Add(from), now.Add(to), name)
		for _, m := range more {
			c.Certificate = append(c.Certificate, m.Certificate...)
		}
		return c
	}
	known := 0
	for _, c := range []struct {
		name    string
		cert    tls.Certificate
		max     uint16
		reason  string
		version string
		issuer  string
		names   []string
		ends    time.Time
	}{
		{"expired yesterday", leaf(root, -90*day, -day, host), 0, TLSExpired, "", "CN=Test Root", []string{host}, now.Add(-day)},
		{"self-signed", leaf(nil, -day, 90*day, host), 0, TLSUnknownAuthority, "", "CN=leaf", []string{host}, now.Add(90 * day)},
		{"valid, other name", leaf(root, -day, 90*day, "other.test"), 0, TLSWrongHost, "", "CN=Test Root", []string{"other.test"}, now.Add(90 * day)},
		{"leaf only, intermediate missing", leaf(middle, -day, 90*day, host), 0, TLSMissingIntermediate, "", "CN=Test Intermediate", []string{host}, now.Add(90 * day)},
		{"valid, TLS 1.2 only", leaf(root, -day, 90*day, host), tls.VersionTLS12, "", "TLS 1.2", "CN=Test Root", []string{host}, now.Add(90 * day)},
		{"valid, ends in 13 days", leaf(root, -77*day, 13*day, host), 0, "", "TLS 1.3", "CN=Test Root", []string{host}, now.Add(13 * day)},
		{"not valid before tomorrow", leaf(root, day, 90*day, host), 0, TLSNotYetValid, "", "CN=Test Root", []string{host}, now.Add(90 * day)},
		{"a whole chain to a foreign root", leaf(elsewhere, -day, 90*day, host, elsewhereCert), 0, TLSUnknownAuthority, "", "CN=Foreign Root", []string{host}, now.Add(90 * day)},
		{"a whole chain", leaf(middle, -day, 90*day, host, middleCert), 0, "", "TLS 1.3", "CN=Test Intermediate", []string{host}, now.Add(90 * day)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if slices.ContainsFunc(cases, func(f struct{ Cert string }) bool { return f.Cert == c.name }) {
				known++
			}
			asked := 0
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			s.TLS = &tls.Config{Certificates: []tls.Certificate{c.cert}, MaxVersion: c.max}
			s.StartTLS()
			defer s.Close()
			l := open(t, Options{RootCAs: pool, Resolve: []string{host + ":443:" + s.Listener.Addr().String()}}, "https://mcp.test/mcp", false)
			got := l.Connect(t.Context())
			if got.TLSReason != c.reason || (got.TLSErr == nil) != (c.reason == "") || got.DNSErr != nil || got.TCPErr != nil || got.N != 1 || got.Scheme != "https" {
				t.Errorf("connection %+v", got)
			}
			if f := got.TLS; f == nil || f.Version != c.version || f.Issuer != c.issuer || !slices.Equal(f.DNSNames, c.names) || f.NotAfter.Sub(c.ends).Abs() > time.Minute {
				t.Errorf("facts %+v", got.TLS)
			}
			if asked != 0 {
				t.Error("a request was sent")
			}
			x := l.Exchanges()
			if len(x) != 1 || x[0].Method != "CONNECT" || x[0].URL != "https://mcp.test:443" || x[0].TLS == nil || x[0].RemoteAddr != s.Listener.Addr().String() || (x[0].Error == "") != (c.reason == "") {
				t.Errorf("recorded %+v", x)
			}
			// Verification is never skipped for requests either.
			_, _, err := fetch(t, l, newRequest(t, "GET", "https://mcp.test/mcp", ""))
			if (err == nil) != (c.reason == "") || asked != map[bool]int{true: 1, false: 0}[c.reason == ""] {
				t.Errorf("a request after it: %v, %d arrived", err, asked)
			}
		})
	}
	if known != len(cases) || known != 6 {
		t.Errorf("%d of %d field cases are made here", known, len(cases))
	}
}

func TestConnect(t *testing.T) {
	p := listen(t, answers(ok))
	t.Run("plain http", func(t *testing.T) {
		l := open(t, Options{}, p.url("/"), true)
		c := l.Connect(t.Context())
		if c.N != 1 || c.TLS != nil || !c.Loopback || c.TCPErr != nil || !slices.Equal(c.Addresses, []netip.Addr{netip.MustParseAddr("127.0.0.1")}) {
			t.Errorf("%+v", c)
		}
		if requests, _ := p.seen(); len(requests) != 0 {
			t.Error("a request was sent")
		}
	})
	t.Run("led to loopback", func(t *testing.T) {
		l := open(t, Options{Resolve: []string{p.at("mcp.test:80")}}, "http://mcp.test/", false)
		if c := l.Connect(t.Context()); c.Loopback || c.Blocked || c.N != 1 {
			t.Errorf("%+v", c)
		}
	})
	t.Run("nobody listens", func(t *testing.T) {
		gone := listen(t, answers(ok))
		gone.Close()
		l := open(t, Options{}, gone.url("/"), true)
		if c := l.Connect(t.Context()); c.TCPErr == nil || c.DNSErr != nil || c.N != 1 || c.Blocked || l.Exchanges()[0].Error == "" {
			t.Errorf("%+v", c)
		}
	})
	t.Run("no such name", func(t *testing.T) {
		l := open(t, Options{ConnectTimeout: 2 * time.Second}, "https://no-such-host.invalid/", false)
		if c := l.Connect(t.Context()); c.DNSErr == nil || c.N != 1 || len(c.Addresses) != 0 {
			t.Errorf("%+v", c)
		}
	})
	t.Run("no TLS", func(t *testing.T) {
		plain := listen(t, func(_ *peer, c net.Conn) { io.WriteString(c, "220 mail.test ESMTP\r\n") })
		l := open(t, Options{Resolve: []string{plain.at("mcp.test:443")}}, "https://mcp.test/", false)
		if c := l.Connect(t.Context()); c.TLSReason != TLSHandshake || c.TLS != nil || c.TLSErr == nil || c.N != 1 {
			t.Errorf("%+v", c)
		}
	})
	t.Run("a peer that says nothing", func(t *testing.T) {
		silent := listen(t, func(_ *peer, c net.Conn) { io.Copy(io.Discard, c) })
		l := open(t, Options{ConnectTimeout: 100 * time.Millisecond, Resolve: []string{silent.at("mcp.test:443")}}, "https://mcp.test/", false)
		if c := l.Connect(t.Context()); c.TLSErr == nil || c.TLSReason != TLSHandshake {
			t.Errorf("%+v", c)
		}
	})
}
