package check

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/crawler/wire"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// authority issues certificates for tests.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

var serial int64

func issue(t testing.TB, parent *authority, name string, ca bool, from, to time.Time, hosts ...string) (*authority, tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial++
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: to,
		IsCA: ca, BasicConstraintsValid: true, DNSNames: hosts, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
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

// tls/cases.json: each case is a certificate, made here with real dates, since
// verification uses the clock of the machine.
func TestFieldTLS(t *testing.T) {
	var cases []struct{ Cert, Expect string }
	if err := json.Unmarshal(fieldFile(t, "tls", "cases.json"), &cases); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	day := 24 * time.Hour
	root, _ := issue(t, nil, "Test Root", true, now.Add(-365*day), now.Add(365*day))
	middle, middleCert := issue(t, root, "Test Intermediate", true, now.Add(-365*day), now.Add(365*day))
	pool := x509.NewCertPool()
	pool.AddCert(root.cert)
	const host = "mcp.test"
	_, expired := issue(t, root, "leaf", false, now.Add(-90*day), now.Add(-day), host)
	_, self := issue(t, nil, "leaf", false, now.Add(-day), now.Add(90*day), host)
	_, other := issue(t, root, "leaf", false, now.Add(-day), now.Add(90*day), "other.test", "www.other.test")
	_, alone := issue(t, middle, "leaf", false, now.Add(-day), now.Add(90*day), host)
	_, good := issue(t, root, "leaf", false, now.Add(-day), now.Add(90*day), host)
	_, ending := issue(t, root, "leaf", false, now.Add(-77*day), now.Add(13*day), host)
	_, short := issue(t, root, "leaf", false, now.Add(-day), now.Add(5*day), host)
	whole := tls.Certificate{Certificate: append([][]byte{alone.Certificate[0]}, middleCert.Certificate...), PrivateKey: alone.PrivateKey}

	for _, c := range []struct {
		name    string
		cert    tls.Certificate
		version uint16
		want    map[string]string
		says    string // in net.tls
		advises string
		mcp     bool // MCP traffic followed
	}{
		{"expired yesterday", expired, 0, map[string]string{"net.tls": "fail critical", "net.tls.cert": "fail critical"}, "expired", "Renew", false},
		{"self-signed", self, 0, map[string]string{"net.tls": "fail critical"}, "unknown authority", "public authority", false},
		{"valid, other name", other, 0, map[string]string{"net.tls": "fail critical"}, "other.test, www.other.test", "", false},
		{"leaf only, intermediate missing", alone, 0, map[string]string{"net.tls": "fail critical"}, "Test Intermediate", "intermediate", false},
		{"valid, TLS 1.2 only", good, tls.VersionTLS12, map[string]string{"net.tls": "pass", "net.tls.version": "warn", "net.tls.cert": "pass"}, "", "", true},
		{"valid, ends in 13 days", ending, 0, map[string]string{"net.tls": "pass", "net.tls.version": "pass", "net.tls.cert": "warn"}, "", "", true},
		{"whole chain", whole, 0, map[string]string{"net.tls": "pass", "net.tls.cert": "pass", "net.scheme": "pass"}, "", "", true},
		{"short-lived, fresh", short, 0, map[string]string{"net.tls.cert": "pass"}, "", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(legacy("2025-11-25", goodTool))
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.TLS = &tls.Config{Certificates: []tls.Certificate{c.cert}, MaxVersion: c.version}
			server.StartTLS()
			defer server.Close()
			address := server.Listener.Addr().(*net.TCPAddr)
			door, err := wire.NewDoor(wire.Options{RootCAs: pool, Resolve: []string{"mcp.test:443:" + address.String()}})
			if err != nil {
				t.Fatal(err)
			}
			endpoint, err := target.New(target.StreamableHTTP, "https://mcp.test/mcp")
			if err != nil {
				t.Fatal(err)
			}
			line, err := door.Open(endpoint.URL, true)
			if err != nil {
				t.Fatal(err)
			}
			defer line.Close()
			rep := Run(context.Background(), endpoint, Options{Line: line, Named: true})
			wellFormed(t, rep)
			wantOutcomes(t, rep, c.want)
			f := find(rep, "net.tls")[0]
			if !strings.Contains(f.Observed, c.says) || !strings.Contains(f.Advice, c.advises) {
				t.Errorf("net.tls: %s (%s)", f.Observed, f.Advice)
			}
			if followed := len(rep.Exchanges) > 1; followed != c.mcp {
				t.Errorf("MCP traffic after TLS: %v", followed)
			}
			if !c.mcp && (rep.Blocked == nil || rep.Blocked.Phase != PhaseNet || outcome(rep, "handshake.initialize") != "skip") {
				t.Errorf("blocked %+v, initialize %s", rep.Blocked, outcome(rep, "handshake.initialize"))
			}
		})
	}
	if len(cases) != 6 {
		t.Errorf("%d cases in tls/cases.json, and 6 are made here", len(cases))
	}
}

// scripted is a Line that shows one connection and no traffic.
type scripted struct{ conn *wire.Connection }

func (s scripted) Connect(context.Context) *wire.Connection { return s.conn }
func (s scripted) Do(*http.Request) (*http.Response, error) {
	return nil, errors.New("no traffic here")
}
func (s scripted) Blocked() []string  { return nil }
func (s scripted) Allow(string) error { return errors.New("not in this test") }
func (s scripted) Exchanges() []wire.Exchange {
	if s.conn.N == 0 {
		return nil
	}
	return []wire.Exchange{{N: s.conn.N, Method: "CONNECT"}}
}

func TestNetOutcomes(t *testing.T) {
	at := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	facts := func(from, to time.Duration) *wire.TLSFacts {
		return &wire.TLSFacts{Version: "TLS 1.3", NotBefore: at.Add(from), NotAfter: at.Add(to)}
	}
	for _, c := range []struct {
		name string
		url  string
		conn wire.Connection
		want map[string]string
	}{
		{"plain http in public", "http://mcp.test/", wire.Connection{N: 1}, map[string]string{"net.scheme": "fail critical", "net.tls": "skip", "net.tcp": "pass"}},
		{"no such host", "https://mcp.test/", wire.Connection{N: 1, DNSErr: &net.DNSError{Err: "no such host", Name: "mcp.test", IsNotFound: true}},
			map[string]string{"net.dns": "fail critical", "net.tcp": "skip", "net.tls": "skip", "handshake.era": "skip"}},
		{"resolver timed out", "https://mcp.test/", wire.Connection{N: 1, DNSErr: &net.DNSError{Err: "i/o timeout", Name: "mcp.test", IsTimeout: true}},
			map[string]string{"net.dns": "skip", "net.tcp": "skip"}},
		{"refused", "https://mcp.test/", wire.Connection{N: 1, TCPErr: errors.New("connection refused")}, map[string]string{"net.dns": "pass", "net.tcp": "fail critical", "net.tls": "skip"}},
		{"outside the scope", "https://mcp.test/", wire.Connection{Blocked: true, TCPErr: wire.ErrBlocked}, map[string]string{"net.scheme": "skip", "net.dns": "skip", "net.tcp": "skip", "net.tls": "skip"}},
		{"13 days of 90", "https://mcp.test/", wire.Connection{N: 1, TLS: facts(-77*day, 13*day)}, map[string]string{"net.tls.cert": "warn"}},
		{"14 days of 90", "https://mcp.test/", wire.Connection{N: 1, TLS: facts(-76*day, 14*day)}, map[string]string{"net.tls.cert": "pass"}},
		// A fifth of 6 days is 28.8 hours.
		{"2 of 6 days", "https://mcp.test/", wire.Connection{N: 1, TLS: facts(-4*day, 2*day)}, map[string]string{"net.tls.cert": "pass"}},
		{"1 of 6 days", "https://mcp.test/", wire.Connection{N: 1, TLS: facts(-5*day, day)}, map[string]string{"net.tls.cert": "warn"}},
		{"ended", "https://mcp.test/", wire.Connection{N: 1, TLS: facts(-90*day, -day)}, map[string]string{"net.tls.cert": "fail critical"}},
		{"not begun", "https://mcp.test/", wire.Connection{N: 1, TLS: facts(day, 90*day)}, map[string]string{"net.tls.cert": "fail critical"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			endpoint, err := target.New(target.StreamableHTTP, c.url)
			if err != nil {
				t.Fatal(err)
			}
			rep := Run(context.Background(), endpoint, Options{Line: scripted{&c.conn}, Now: func() time.Time { return at }})
			wellFormed(t, rep)
			wantOutcomes(t, rep, c.want)
		})
	}
}

func TestRunNeedsALine(t *testing.T) {
	endpoint, _ := target.New(target.StreamableHTTP, "https://mcp.test/")
	rep := Run(context.Background(), endpoint, Options{})
	wellFormed(t, rep)
	if rep.Blocked == nil || rep.Score != nil || rep.Counts()[rubric.Skip] != len(Catalogue()) {
		t.Errorf("blocked %+v, score %+v, counts %v", rep.Blocked, rep.Score, rep.Counts())
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	rep = Run(ctx, endpoint, Options{Line: scripted{&wire.Connection{N: 1}}})
	wellFormed(t, rep)
	if rep.Blocked == nil || rep.Score != nil {
		t.Errorf("after a stop: blocked %+v, score %+v", rep.Blocked, rep.Score)
	}
	rep = Run(context.Background(), endpoint, Options{Line: scripted{&wire.Connection{N: 1}}, Phases: []string{"execution"}})
	if rep.Blocked == nil || !strings.Contains(rep.Blocked.Reason, "execution") {
		t.Errorf("an unknown phase: %+v", rep.Blocked)
	}
}
