package lab

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Kind says how a server's port behaves below HTTP.
type Kind int

// Kinds of ports.
const (
	Secure  Kind = iota // TLS 1.3 with a valid certificate
	Plain               // no TLS
	Expired             // a certificate that ended
	Old                 // TLS 1.2 only
	Closed              // nothing listens
)

// Server is one lab server.
type Server struct {
	Name      string // registry name, such as "example.atlas/clean"
	Host      string
	Path      string // of the MCP endpoint; empty for a server that no registry lists
	Transport string // streamable-http or sse
	Title     string
	About     string // what is special about it; the listing's description
	Kind      Kind
	Tools     []string // names that tools/list gives without credentials, in order
	Handler   http.Handler
}

// URL is the endpoint as a registry lists it.
func (s Server) URL() string {
	scheme := "https"
	if s.Kind == Plain {
		scheme = "http"
	}
	return scheme + "://" + s.Host + s.Path
}

// Lab is a set of running servers.
type Lab struct {
	servers   []Server
	ports     map[string]string // host to loopback address
	authority *authority
	stop      []func()
	once      sync.Once
}

// Start runs the servers on loopback until Close.
func Start(servers []Server) (*Lab, error) {
	ca, err := newAuthority(time.Now())
	if err != nil {
		return nil, fmt.Errorf("make the lab's certificate authority: %w", err)
	}
	l := &Lab{servers: servers, ports: map[string]string{}, authority: ca}
	for _, s := range servers {
		if err := l.serve(s); err != nil {
			l.Close()
			return nil, fmt.Errorf("start the lab server %q: %w", s.Host, err)
		}
	}
	return l, nil
}

func (l *Lab) serve(s Server) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	l.ports[s.Host] = ln.Addr().String()
	if s.Kind == Closed {
		return ln.Close()
	}
	if s.Kind != Plain {
		cert, err := l.authority.issue(s.Host, s.Kind == Expired)
		if err != nil {
			return errors.Join(err, ln.Close())
		}
		conf := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}}
		if s.Kind == Old {
			conf.MinVersion, conf.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
		}
		ln = tls.NewListener(ln, conf)
	}
	srv := &http.Server{Handler: s.Handler, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go srv.Serve(ln) //nolint:errcheck // ends with Close
	l.stop = append(l.stop, func() { srv.Close() })
	return nil
}

// Close stops every server. It may be called more than once.
func (l *Lab) Close() {
	l.once.Do(func() {
		for _, stop := range l.stop {
			stop()
		}
	})
}

// Servers lists what runs.
func (l *Lab) Servers() []Server { return l.servers }

// Resolve gives "host:port:address:port" for every server, as the --resolve
// flag takes it.
func (l *Lab) Resolve() []string {
	var out []string
	for _, s := range l.servers {
		port := "443"
		if s.Kind == Plain {
			port = "80"
		}
		out = append(out, s.Host+":"+port+":"+l.ports[s.Host])
	}
	return out
}

// Authority is the certificate authority of the lab, in PEM.
func (l *Lab) Authority() []byte { return l.authority.pem }

// Entries lists the servers as a registry does, in its schema of 2025-12-11,
// with a few entries more that a census has to leave out.
func (l *Lab) Entries() []json.RawMessage {
	var out []json.RawMessage
	for _, s := range l.servers {
		if s.Path == "" {
			continue
		}
		remote := []any{map[string]any{"type": s.Transport, "url": s.URL()}}
		out = append(out, entry(s.Name, s.Title, s.About, "1.0.0", "active", map[string]any{"remotes": remote}))
	}
	return append(out, leftOut()...)
}

// leftOut are entries of the same publishers that no census may contact or
// needs to.
func leftOut() []json.RawMessage {
	remote := func(url string) map[string]any {
		return map[string]any{"remotes": []any{map[string]any{"type": "streamable-http", "url": url}}}
	}
	return []json.RawMessage{
		entry("example.atlas/tenant", "Tenant", "Its address holds a variable", "1.0.0", "active", remote("https://{tenant}.atlas.example/mcp")),
		entry("example.atlas/inside", "Inside", "Its address is private", "1.0.0", "active", remote("https://10.0.0.5/mcp")),
		entry("example.atlas/retired", "Retired", "Deleted by its publisher", "1.0.0", "deleted", remote("https://retired.atlas.example/mcp")),
		entry("example.borealis/twin", "Twin", "Lists an endpoint that another name lists too", "1.0.0", "active", remote("https://dual.borealis.example/mcp")),
		entry("example.borealis/program", "Program", "A package, not a remote server", "1.0.0", "active", map[string]any{
			"packages": []any{map[string]any{"registryType": "npm", "identifier": "@borealis/program", "version": "1.0.0", "transport": map[string]any{"type": "stdio"}}},
		}),
		entry("example.elsewhere/other", "Other", "Of a publisher that the demo does not ask for", "1.0.0", "active", remote("https://other.elsewhere.example/mcp")),
	}
}

func entry(name, title, about, version, status string, more map[string]any) json.RawMessage {
	server := map[string]any{
		"$schema":     "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		"name":        name,
		"title":       title,
		"description": about,
		"version":     version,
	}
	for key, value := range more {
		server[key] = value
	}
	raw, err := json.Marshal(map[string]any{
		"server": server,
		"_meta": map[string]any{"io.modelcontextprotocol.registry/official": map[string]any{
			"status": status, "isLatest": true, "statusChangedAt": listedAt, "publishedAt": listedAt, "updatedAt": listedAt,
		}},
	})
	if err != nil {
		panic(err) // only strings and maps of them
	}
	return raw
}

const listedAt = "2026-11-01T00:00:00Z"
