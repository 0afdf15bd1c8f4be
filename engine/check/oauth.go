package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/lustrum-mcp/lustrum/crawler/mcp"
	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/crawler/wire"
)

// Bounds of one metadata document.
const (
	maxMetadata     = 256 << 10 // bytes
	metadataTimeout = 15 * time.Second
	maxServers      = 20 // entries of authorization_servers
)

// resourceMetadata is RFC 9728 metadata as it was found, or not.
type resourceMetadata struct {
	found     bool
	url       string
	resource  string
	same      bool     // resource is the endpoint
	servers   []string // authorization_servers, each once
	tried     []string // what came of each location
	unsettled string   // why not finding any proves nothing
	ev        span
}

// authServer is the metadata of one authorization server.
type authServer struct {
	issuer          string
	found           bool
	url             string
	other           string            // the issuer of a document that names another one
	endpoints       map[string]string // the URLs of the document, by member
	pkce            []string
	pkceGiven       bool
	grants          []string
	clientDocuments bool
	tried           []string // what came of each location
	unsettled       string
	ev              span
}

// fetched is one well-known document, or why there is none.
type fetched struct {
	members   map[string]json.RawMessage // nil without a JSON object
	ev        span
	came      string // in words
	unsettled bool   // it proves nothing
}

// fetchResource looks for the metadata where the specification says, in this
// order: the URL of the challenge, the well-known location with the endpoint's
// path, the one without
// (https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/authorization-server-discovery).
func (r *run) fetchResource(ctx context.Context, hint string) resourceMetadata {
	var m resourceMetadata
	for _, location := range resourceLocations(r.url, hint) {
		doc := r.fetch(ctx, location)
		m.ev = m.ev.with(doc.ev)
		_, hasResource := doc.members["resource"]
		_, hasServers := doc.members["authorization_servers"]
		switch {
		case hasResource || hasServers:
			m.found, m.url, m.ev = true, location, doc.ev
			m.resource, _ = jsonString(doc.members["resource"])
			m.same = sameResource(r.endpoint.URL, m.resource)
			servers, _ := jsonStrings(doc.members["authorization_servers"])
			for _, s := range servers[:min(len(servers), maxServers)] {
				if !slices.Contains(m.servers, s) {
					m.servers = append(m.servers, s)
				}
			}
			return m
		case doc.members != nil:
			doc.came = "JSON without resource and authorization_servers"
		}
		m.tried = append(m.tried, quoteShort(location, 100)+" "+doc.came)
		if doc.unsettled && m.unsettled == "" {
			m.unsettled = quoteShort(location, 140) + ": " + doc.came
		}
	}
	return m
}

func resourceLocations(endpoint *url.URL, hint string) []string {
	const wellKnown = "/.well-known/oauth-protected-resource"
	var list []string
	add := func(location string) {
		if location != "" && !slices.Contains(list, location) {
			list = append(list, location)
		}
	}
	add(hint)
	root := endpoint.Scheme + "://" + endpoint.Host + wellKnown
	if path := endpoint.EscapedPath(); path != "" && path != "/" {
		add(root + path)
	}
	add(root)
	return list
}

// sameResource compares a resource with the endpoint in canonical spelling: a
// root without its slash is the same, any other path is what it is.
func sameResource(endpoint, resource string) bool {
	a, errA := target.Canonical(endpoint)
	b, errB := target.Canonical(resource)
	return errA == nil && errB == nil && a == b
}

// serverLocations are the places of an issuer's metadata in the order of the
// specification, none for an issuer that is no http(s) URL.
func serverLocations(issuer string) []string {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil
	}
	root, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	if path == "" {
		return []string{root + "/.well-known/oauth-authorization-server", root + "/.well-known/openid-configuration"}
	}
	return []string{root + "/.well-known/oauth-authorization-server" + path, root + "/.well-known/openid-configuration" + path,
		root + path + "/.well-known/openid-configuration"}
}

// fetchServer looks for the metadata of an authorization server. A document
// that names another issuer is not used.
func (r *run) fetchServer(ctx context.Context, issuer string) authServer {
	s := authServer{issuer: issuer, endpoints: map[string]string{}}
	locations := serverLocations(issuer)
	if locations == nil {
		s.tried = []string{"the issuer is no http(s) URL"}
		return s
	}
	if err := r.line.Allow(issuer); err != nil {
		s.unsettled = "not asked: " + err.Error()
		return s
	}
	for _, location := range locations {
		doc := r.fetch(ctx, location)
		s.ev = s.ev.with(doc.ev)
		named, ok := jsonString(doc.members["issuer"])
		switch {
		case ok && named == issuer:
			s.found, s.url, s.ev = true, location, doc.ev
			s.read(doc.members)
			return s
		case ok:
			s.other = named
			doc.came = "names the issuer " + quoteShort(named, 80)
		case doc.members != nil:
			doc.came = "JSON without an issuer"
		}
		s.tried = append(s.tried, quoteShort(location, 100)+" "+doc.came)
		if doc.unsettled && s.unsettled == "" {
			s.unsettled = quoteShort(location, 140) + ": " + doc.came
		}
	}
	return s
}

// serverURLs are the members of the metadata that codes and tokens pass
// through, or that a client follows.
var serverURLs = []string{"authorization_endpoint", "token_endpoint", "registration_endpoint", "jwks_uri", "introspection_endpoint",
	"revocation_endpoint", "device_authorization_endpoint", "pushed_authorization_request_endpoint", "userinfo_endpoint"}

func (s *authServer) read(members map[string]json.RawMessage) {
	for _, key := range serverURLs {
		if u, ok := jsonString(members[key]); ok && u != "" {
			s.endpoints[key] = u
		}
	}
	s.pkce, _ = jsonStrings(members["code_challenge_methods_supported"])
	s.pkceGiven = !absent(members["code_challenge_methods_supported"])
	s.grants, _ = jsonStrings(members["grant_types_supported"])
	s.clientDocuments = is(hint(members["client_id_metadata_document_supported"]), true)
}

// fetch gets one JSON document. Only 200 with a JSON object counts; another
// 2xx, 3xx or 4xx is a miss, and 429, 5xx or silence prove nothing.
func (r *run) fetch(ctx context.Context, location string) fetched {
	ctx, cancel := context.WithTimeout(ctx, metadataTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, location, nil)
	if err != nil {
		return fetched{came: "is no URL to ask"}
	}
	req.Header.Set("Accept", "application/json")
	resp, err := r.line.Do(req)
	if err != nil {
		blocked := errors.Is(err, wire.ErrBlocked)
		came := "was not answered: " + err.Error()
		if blocked {
			came = "was not contacted: it is outside the scope of this run"
		}
		return fetched{ev: at(wire.RefOf(err)), came: clip(came, 160), unsettled: !blocked}
	}
	defer resp.Body.Close()
	doc := fetched{ev: at(wire.Ref(resp)), came: fmt.Sprintf("gave HTTP %d", resp.StatusCode)}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxMetadata+1))
	switch {
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500:
		doc.unsettled = true
	case resp.StatusCode != http.StatusOK:
	case err != nil:
		doc.came, doc.unsettled = "broke off: "+clip(err.Error(), 100), true
	case len(body) > maxMetadata:
		doc.came = "is too long to be read"
	default:
		members, ok := mcp.Object(body)
		if !ok {
			doc.came = "gave HTTP 200 that is no JSON object"
			break
		}
		doc.members = members
	}
	return doc
}
