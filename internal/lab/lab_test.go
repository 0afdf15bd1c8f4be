package lab_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lustrum-mcp/lustrum/internal/lab"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// client reaches the lab's hosts by name, as --resolve and --ca-file do.
func client(t *testing.T, l *lab.Lab) *http.Client {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(l.Authority()) {
		t.Fatal("the lab's authority is not PEM")
	}
	address := map[string]string{}
	for _, r := range l.Resolve() {
		parts := strings.SplitN(r, ":", 3)
		address[parts[0]+":"+parts[1]] = parts[2]
	}
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots},
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address[addr])
		},
	}}
}

// TestHonestServersByTheSDK asks every server that lists tools with the
// official client, which shares no code with the scripted ones.
func TestHonestServersByTheSDK(t *testing.T) {
	l, err := lab.Start(lab.Standard())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	doer := client(t, l)
	if n := len(l.Servers()); n < 20 {
		t.Errorf("%d servers, want a score", n)
	}
	for _, s := range l.Servers() {
		if len(s.Tools) == 0 || s.Host == "future.cinder.example" {
			continue // the SDK's client refuses revisions that it does not know
		}
		t.Run(s.Host, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: s.URL(), HTTPClient: doer, DisableStandaloneSSE: true}
			if s.Transport == "sse" {
				transport = &mcp.SSEClientTransport{Endpoint: s.URL(), HTTPClient: doer}
			}
			session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, transport, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			result, err := session.ListTools(ctx, nil)
			if err != nil {
				if s.Host == "untidy.cinder.example" {
					t.Skip("the SDK's client refuses its schemas:", err)
				}
				t.Fatal(err)
			}
			var got []string
			for _, tool := range result.Tools {
				got = append(got, tool.Name)
			}
			if !slices.Equal(got, s.Tools) {
				t.Errorf("the SDK lists %q, the lab says %q", got, s.Tools)
			}
		})
	}
}

func TestEntriesNameEveryListedServerOnce(t *testing.T) {
	l, err := lab.Start(lab.Standard())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	listed := map[string]int{}
	for _, raw := range l.Entries() {
		var e struct {
			Server struct{ Name string }
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		listed[e.Server.Name]++
	}
	for _, s := range l.Servers() {
		if s.Path != "" && listed[s.Name] != 1 {
			t.Errorf("%s is listed %d times", s.Name, listed[s.Name])
		}
	}
}
