package check

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/lustrum-mcp/lustrum/crawler/mcp"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// maxIssuers is how many authorization servers of one resource are asked.
const maxIssuers = 2

// judgeMetadata follows a refusal to the metadata that it leads to, and that
// to the authorization servers.
func (r *run) judgeMetadata(ctx context.Context, a *mcp.Answer) {
	hint := r.judgeChallenge(a)
	resource := r.fetchResource(ctx, hint)
	r.judgeResource(a, resource)
	named := []string{}
	if hint != "" {
		named = append(named, hint)
	}
	if !resource.found || len(resource.servers) == 0 {
		for _, id := range []string{"discovery.as", "discovery.as.https", "discovery.as.pkce", "discovery.as.grants", "discovery.registration"} {
			r.skip(id, "no authorization server is listed")
		}
		r.judgePrivate(append(named, resource.servers...), of(a).with(resource.ev))
		return
	}
	r.report.Auth = AuthOAuth
	r.report.Issuers = slices.Clone(resource.servers)
	var servers []authServer
	for _, issuer := range resource.servers[:min(len(resource.servers), maxIssuers)] {
		servers = append(servers, r.fetchServer(ctx, issuer))
	}
	ev := of(a).with(resource.ev)
	named = append(named, resource.servers...)
	for _, s := range servers {
		ev = ev.with(s.ev)
		for _, key := range sortedKeys(s.endpoints) {
			named = append(named, s.endpoints[key])
		}
	}
	r.judgeServers(servers, resource.ev)
	r.judgeHTTPS(resource, servers)
	for _, s := range servers {
		r.judgeServer(s)
	}
	r.judgePrivate(named, ev)
}

// judgeChallenge returns the URL of the metadata that the 401 names.
func (r *run) judgeChallenge(a *mcp.Answer) string {
	const id = "discovery.challenge"
	if a.Status != http.StatusUnauthorized {
		r.skip(id, fmt.Sprintf("first contact is answered HTTP %d: only a 401 carries a challenge", a.Status))
		return readChallenge(a.Header, r.endpoint.URL).metadata
	}
	ev := of(a)
	given := a.Header.Values("WWW-Authenticate")
	c := readChallenge(a.Header, r.endpoint.URL)
	quote := quoteShort(strings.Join(given, ", "), 160)
	switch {
	case len(given) == 0:
		r.warn(id, ev, "the 401 has no WWW-Authenticate header")
	case !c.bearer:
		r.warn(id, ev, "no challenge of the Bearer scheme: "+quote)
	case c.metadata == "":
		r.warn(id, ev, "the Bearer challenge names no usable resource_metadata: "+strings.Join(append(c.faults, quote), "; "))
	case len(c.faults) > 0:
		r.warn(id, ev, strings.Join(c.faults, "; ")+": "+quote)
	default:
		r.pass(id, ev, "resource_metadata is "+quoteShort(c.metadata, 200))
	}
	return c.metadata
}

func (r *run) judgeResource(a *mcp.Answer, m resourceMetadata) {
	const id, match = "discovery.prm", "discovery.prm.resource"
	ev := of(a).with(m.ev)
	if !m.found {
		r.skip(match, "there is no metadata to look at")
		switch {
		case m.unsettled != "":
			r.skip(id, m.unsettled)
		case a.Status != http.StatusUnauthorized:
			r.skip(id, fmt.Sprintf("none found, and HTTP %d does not say that the server is protected by OAuth", a.Status))
		default:
			r.fail(id, rubric.Critical, ev, "none found: "+some(m.tried, 4))
		}
		return
	}
	if len(m.servers) == 0 {
		r.fail(id, rubric.Critical, ev, "the metadata at "+quoteShort(m.url, 140)+" lists no authorization server")
	} else {
		r.pass(id, m.ev, fmt.Sprintf("found at %s, lists %s", quoteShort(m.url, 120), some(m.servers, 3)))
	}
	switch {
	case m.resource == "":
		r.warn(match, m.ev, "the metadata has no resource")
	case m.same:
		r.pass(match, m.ev, quoteShort(m.resource, 200))
	case sameResource(r.endpoint.URL, strings.TrimSuffix(m.resource, "/")) || sameResource(r.endpoint.URL, m.resource+"/"):
		r.warn(match, m.ev, fmt.Sprintf("resource %s differs from the endpoint %s by a trailing slash, which some clients refuse",
			quoteShort(m.resource, 120), quoteShort(r.endpoint.URL, 120)))
	case originOf(m.resource) != "" && strings.TrimSuffix(m.resource, "/") == originOf(r.endpoint.URL):
		r.warn(match, m.ev, fmt.Sprintf("resource is the origin %s and not the endpoint %s: some clients accept that",
			quoteShort(m.resource, 120), quoteShort(r.endpoint.URL, 120)))
	default:
		r.fail(match, rubric.Major, m.ev, fmt.Sprintf("resource is %s, and the endpoint is %s", quoteShort(m.resource, 120), quoteShort(r.endpoint.URL, 120)))
	}
}

// originOf is scheme and host of a URL, "" when it has none.
func originOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// judgeServers says whether any listed authorization server can be used.
func (r *run) judgeServers(servers []authServer, listed span) {
	const id = "discovery.as"
	usable, open := 0, 0
	for _, s := range servers {
		switch {
		case s.found:
			usable++
		case s.unsettled != "":
			open++
		}
	}
	for _, s := range servers {
		ev := s.ev.with(listed)
		switch {
		case s.found:
			r.pass(id, s.ev, "metadata found at "+quoteShort(s.url, 200), about(s.issuer))
		case s.other != "":
			r.fail(id, rubric.Major, ev, "the metadata is of another issuer, "+quoteShort(s.other, 160), about(s.issuer))
		case s.unsettled != "":
			r.skip(id, s.unsettled, about(s.issuer))
		case usable == 0 && open == 0:
			r.fail(id, rubric.Critical, ev, "no usable metadata: "+some(s.tried, 3), about(s.issuer))
		default:
			r.skip(id, "no usable metadata, while another listed server may have some: "+some(s.tried, 3), about(s.issuer))
		}
	}
}

// judgeHTTPS looks at every URL through which codes and tokens pass.
func (r *run) judgeHTTPS(m resourceMetadata, servers []authServer) {
	const id = "discovery.as.https"
	t := &tally{run: r, id: id, ev: m.ev}
	for _, issuer := range m.servers {
		if !secure(issuer) {
			t.fail(rubric.Major, issuer, "the issuer is not https: "+quoteShort(issuer, 200))
		}
	}
	for _, s := range servers {
		if !s.found {
			continue
		}
		t.ev = m.ev.with(s.ev)
		for _, key := range sortedKeys(s.endpoints) {
			if !secure(s.endpoints[key]) {
				t.fail(rubric.Major, s.issuer, fmt.Sprintf("%s is not https: %s", key, quoteShort(s.endpoints[key], 200)))
			}
		}
	}
	t.done("the issuers and their endpoints are https, or on loopback")
}

func secure(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http" && loopbackHost(u.Hostname()))
}

// judgeServer looks at what one authorization server says of itself.
func (r *run) judgeServer(s authServer) {
	const pkce, grants, registration = "discovery.as.pkce", "discovery.as.grants", "discovery.registration"
	who := about(s.issuer)
	if !s.found {
		for _, id := range []string{pkce, grants, registration} {
			r.skip(id, "there is no metadata to look at", who)
		}
		return
	}
	switch {
	case !s.pkceGiven:
		r.warn(pkce, s.ev, "code_challenge_methods_supported is absent, and clients must refuse", who)
	case slices.Contains(s.pkce, "S256"):
		r.pass(pkce, s.ev, "S256 is listed", who)
	default:
		r.fail(pkce, rubric.Major, s.ev, "code_challenge_methods_supported is "+listQuoted(s.pkce), who)
	}
	if len(s.grants) == 0 {
		r.info(grants, s.ev, "not listed, so authorization_code and implicit (RFC 8414)", who)
	} else {
		r.info(grants, s.ev, listQuoted(s.grants), who)
	}
	offered := []string{}
	if s.clientDocuments {
		offered = append(offered, "Client ID Metadata Documents")
	}
	if s.endpoints["registration_endpoint"] != "" {
		offered = append(offered, "dynamic registration")
	}
	if len(offered) == 0 {
		r.warn(registration, s.ev, "neither Client ID Metadata Documents nor dynamic registration is offered", who)
		return
	}
	r.pass(registration, s.ev, strings.Join(offered, " and "), who)
}

// judgePrivate looks at the URLs that the server controls. Of a server that is
// on a private address itself, they may point there.
func (r *run) judgePrivate(named []string, ev span) {
	const id = "discovery.ssrf"
	if len(named) == 0 {
		r.skip(id, "the server names no URL")
		return
	}
	if r.loopback() || privateHost(r.url.Hostname()) {
		r.skip(id, "the endpoint is itself on a private address")
		return
	}
	var private []string
	for _, raw := range named {
		if u, err := url.Parse(raw); err == nil && privateHost(u.Hostname()) {
			private = append(private, quoteShort(raw, 120))
		}
	}
	if len(private) > 0 {
		r.fail(id, rubric.Major, ev, "points at a private address, which was not contacted: "+some(slices.Compact(private), 4))
		return
	}
	r.pass(id, ev, fmt.Sprintf("none of %s points at a private address", count(len(named), "URL", "URLs")))
}

// privateHost reports whether a host is by its own spelling on a private,
// loopback or link-local address. Where a name leads is judged when it is
// dialled.
func privateHost(host string) bool {
	if loopbackHost(host) {
		return true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(host, "."))
	if err != nil {
		return strings.HasSuffix(strings.ToLower(host), ".internal") || strings.HasSuffix(strings.ToLower(host), ".local")
	}
	addr = addr.Unmap()
	return addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() || addr.IsUnspecified()
}
