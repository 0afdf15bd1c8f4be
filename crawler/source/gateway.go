package source

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// Gateway reads the configuration of an MCP gateway.
func Gateway(path string) (*File, error) {
	data, err := read(path)
	if err != nil {
		return nil, err
	}
	return ParseGateway(path, data)
}

// ParseGateway reads the configuration of an MCP gateway: the MCP targets of
// agentgateway, in its own file or as Kubernetes resources, and the entries of
// an Obot catalog. Backends are read by their place. A URL anywhere else, such
// as an issuer, an icon or a link to documentation, is no server that the
// gateway asks.
func ParseGateway(path string, data []byte) (*File, error) {
	docs, err := parse(path, data, parseYAML)
	if err != nil {
		return nil, err
	}
	g := gateway{builder: builder{path: path, file: &File{}}}
	for _, doc := range docs {
		if err := g.look(doc, ""); err != nil {
			return nil, err
		}
	}
	if !g.found {
		return nil, fmt.Errorf("%s: no MCP backends are named in it: looked for targets (agentgateway), remoteConfig and runtime (Obot) and mcpServers", path)
	}
	return g.done(), nil
}

type gateway struct {
	builder
	found bool
}

// look searches a document for backends. named is the name of what is around.
func (g *gateway) look(n *node, named string) error {
	for _, item := range n.items {
		if err := g.look(item, named); err != nil {
			return err
		}
	}
	if n.kind != object {
		return nil
	}
	if name := n.str("name"); name != "" {
		named = name
	}
	if n.get("runtime") != nil || n.get("remoteConfig") != nil {
		g.found = true
		return g.entry(n, named)
	}
	for _, m := range n.members {
		var err error
		switch {
		case m.key == "targets" && m.value.kind == list:
			err = g.targets(m.value)
		case m.key == "targets" && m.value.kind == object: // by protocol, in early agentgateway
			if mcp := m.value.get("mcp"); mcp != nil && mcp.kind == list {
				err = g.targets(mcp)
			}
		case m.key == "mcpServers" && m.value.kind != scalar:
			g.found = true
			err = g.servers(m.value, n)
		default:
			err = g.look(m.value, named)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// protocols are how a target of agentgateway says that it is a remote server.
var protocols = []string{"mcp", "sse", "static", "streamableHttp", "streamable-http", "http"}

func (g *gateway) targets(targets *node) error {
	for _, t := range targets.items {
		if t.kind != object {
			continue
		}
		name := t.str("name")
		for _, m := range t.members {
			switch m.key {
			case "stdio":
				g.found = true
				g.skip(t, name, Program)
			case "openapi", "selector":
				g.found = true
				g.skip(t, name, NoAddress)
			}
		}
		for _, protocol := range protocols {
			if backend := t.get(protocol); backend != nil && backend.kind == object {
				g.found = true
				if err := g.backend(backend, t, name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// backend reads an address that is a URL, or in pieces: host, port and path.
func (g *gateway) backend(n, around *node, name string) error {
	host := n.get("host")
	if host == nil || host.kind != scalar || host.text == "" {
		for _, key := range addressKeys {
			if u := n.get(key); u != nil && u.kind == scalar && u.text != "" {
				return g.address(u, name, u.text)
			}
		}
		g.skip(around, name, NoAddress) // a backend that stands elsewhere
		return nil
	}
	path := n.str("path")
	if path != "" && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if strings.Contains(host.text, "://") {
		u := host.text
		if rest := u[strings.Index(u, "://")+3:]; path != "" && !strings.ContainsAny(strings.TrimSuffix(rest, "/"), "/?#") {
			u = strings.TrimSuffix(u, "/") + path
		}
		return g.address(host, name, u)
	}
	if variable(host.text) || variable(path) {
		g.skip(host, name, Placeholder)
		return nil
	}
	address, err := join(host.text, n.str("port"))
	if err != nil {
		return fmt.Errorf("%s: %w", g.at(host, name), err)
	}
	// The host first and alone: with a path behind it a range would be none.
	t, err := target.ParseTarget(address)
	if err != nil {
		return fmt.Errorf("%s: %w", g.at(host, name), err)
	}
	scheme := "http"
	if t.Port == 443 || secure(n) || secure(around) {
		scheme = "https"
	}
	return g.address(host, name, scheme+"://"+address+path)
}

// join puts a port to a host that has none.
func join(host, port string) (string, error) {
	if port == "" {
		return host, nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", fmt.Errorf("port %q is not between 1 and 65535", clip(port))
	}
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") && net.ParseIP(host) == nil {
		return "", fmt.Errorf("host %q has a port of its own, and the port %s stands beside it: give one", clip(host), port)
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port), nil
}

// secure reports whether a backend's policies ask for TLS.
func secure(n *node) bool {
	for _, around := range []*node{n, n.get("policies")} {
		for _, key := range []string{"tls", "backendTLS"} {
			if around.get(key) != nil {
				return true
			}
		}
	}
	return false
}

// entry reads an entry of an Obot catalog.
func (g *gateway) entry(n *node, name string) error {
	if n.is("enabled", "false") || n.is("disabled", "true") {
		g.skip(n, name, Disabled)
		return nil
	}
	remote := n.get("remoteConfig")
	if remote == nil || remote.kind != object {
		reason := Program
		if n.str("runtime") == "remote" {
			reason = NoAddress
		}
		g.skip(n, name, reason)
		return nil
	}
	for _, key := range []string{"fixedURL", "fixedUrl", "url"} {
		if u := remote.get(key); u != nil && u.kind == scalar && u.text != "" {
			return g.address(u, name, u.text)
		}
	}
	reason := NoAddress // a host name that each user completes is a pattern
	if remote.str("urlTemplate") != "" {
		reason = Placeholder
	}
	g.skip(remote, name, reason)
	return nil
}
