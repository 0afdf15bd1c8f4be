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
	"github.com/lustrum-mcp/lustrum/crawler/oauth"
	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// maxIssuers is how many authorization servers of one resource are asked.
const maxIssuers = 2

// judgeMetadata follows a refusal to the metadata that it leads to, and that
// to the authorization servers.
func (r *run) judgeMetadata(ctx context.Context, a *mcp.Answer) {
	hint := r.judgeChallenge(a)
	resource := r.fetchResource(ctx, hint)
	r.judgeResource(a, resource, hint)
	named := []string{}
	if hint != "" {
		named = append(named, hint)
	}
	if resource.State != oauth.Found || len(resource.servers) == 0 {
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
		for _, key := range sortedKeys(s.Endpoints) {
			named = append(named, s.Endpoints[key])
		}
	}
	r.judgeServers(servers, resource)
	r.judgeHTTPS(resource, servers)
	var refused []string
	for _, s := range servers {
		r.judgeServer(s)
		if s.guarded() {
			refused = append(refused, s.Issuer)
		}
	}
	r.judgePrivate(named, ev, refused...)
}

// guarded reports whether the address guard kept the server from being asked:
// it was in the scope, no request left, and no failure explains that.
func (s authServer) guarded() bool {
	return s.refused == "" && s.State == oauth.Blocked
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

func (r *run) judgeResource(a *mcp.Answer, m resourceMetadata, hint string) {
	const id, match = "discovery.prm", "discovery.prm.resource"
	ev := of(a).with(m.ev)
	if m.State != oauth.Found {
		r.skip(match, "there is no metadata to look at")
		switch {
		case m.State == oauth.Inconclusive:
			r.skip(id, clip(Quote(m.Why()), 240))
		case a.Status != http.StatusUnauthorized:
			r.skip(id, fmt.Sprintf("none found, and HTTP %d does not say that the server is protected by OAuth", a.Status))
		default:
			if hint != "" && !sameHost(hint, r.endpoint.URL) && !privateURL(hint) {
				r.skip(id, "the challenge points at another host, which the scope of this run leaves out: "+quoteShort(hint, 160))
				break
			}
			r.fail(id, rubric.Critical, ev, "none found: "+some(tried(&m.Search), 4))
		}
		return
	}
	if len(m.servers) == 0 {
		r.fail(id, rubric.Critical, ev, "the metadata at "+quoteShort(m.URL, 140)+" lists no authorization server"+deviations(m.Faults))
	} else {
		r.pass(id, m.ev, fmt.Sprintf("found at %s, lists %s", quoteShort(m.URL, 120), some(m.servers, 3))+deviations(m.Faults))
	}
	switch {
	case m.Resource == "":
		r.warn(match, m.ev, "the metadata has no resource")
	case oauth.SameResource(r.endpoint.URL, m.Resource):
		r.pass(match, m.ev, quoteShort(m.Resource, 200))
	case slashApart(r.endpoint.URL, m.Resource):
		r.warn(match, m.ev, fmt.Sprintf("resource %s differs from the endpoint %s by a trailing slash, which some clients refuse",
			quoteShort(m.Resource, 120), quoteShort(r.endpoint.URL, 120)))
	case oauth.SameResource(originOf(r.endpoint.URL), m.Resource):
		r.warn(match, m.ev, fmt.Sprintf("resource is the origin %s and not the endpoint %s: some clients accept that",
			quoteShort(m.Resource, 120), quoteShort(r.endpoint.URL, 120)))
	default:
		r.fail(match, rubric.Major, m.ev, fmt.Sprintf("resource is %s, and the endpoint is %s", quoteShort(m.Resource, 120), quoteShort(r.endpoint.URL, 120)))
	}
}

// deviations words what is odd about a document that can be read all the same.
func deviations(faults []oauth.Fault) string {
	var parts []string
	for _, f := range faults {
		parts = append(parts, f.String())
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + some(parts, 2)
}

// slashApart reports whether two URLs differ by a trailing slash alone.
func slashApart(endpoint, resource string) bool {
	without, had := strings.CutSuffix(resource, "/")
	return had && oauth.SameResource(endpoint, without) || !had && oauth.SameResource(endpoint, resource+"/")
}

// originOf is scheme and host of a URL, "" when it has none.
func originOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// sameHost reports whether two URLs lead to the same host and port.
func sameHost(a, b string) bool {
	canonical, err := target.Canonical(a)
	if err != nil {
		return false
	}
	other, err := target.Canonical(b)
	return err == nil && hostPort(canonical) == hostPort(other)
}

func hostPort(raw string) string {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return ""
	case u.Port() != "":
		return u.Host
	case u.Scheme == "https":
		return u.Host + ":443"
	}
	return u.Host + ":80"
}

// judgeServers says whether any listed authorization server can be used.
func (r *run) judgeServers(servers []authServer, m resourceMetadata) {
	const id = "discovery.as"
	// Whether none can be used is only known when all were asked and answered.
	usable, open := 0, len(m.servers)-len(servers)
	for _, s := range servers {
		switch {
		case s.State == oauth.Found:
			usable++
		case s.unsettled() != "":
			open++
		}
	}
	for _, s := range servers {
		ev := s.ev.with(m.ev)
		switch {
		case s.State == oauth.Found:
			r.pass(id, s.ev, "metadata found at "+quoteShort(s.URL, 140)+deviations(s.Faults), about(s.Issuer))
		case s.guarded():
			r.skip(id, "not asked: from here the host leads to an address that is not public", about(s.Issuer))
		case s.unsettled() != "":
			r.skip(id, s.unsettled(), about(s.Issuer))
		case s.OtherIssuer != "":
			r.fail(id, rubric.Major, ev, "the metadata is of another issuer, "+quoteShort(s.OtherIssuer, 160), about(s.Issuer))
		case usable == 0 && open == 0:
			r.fail(id, rubric.Critical, ev, "no usable metadata: "+some(tried(&s.Search), 3), about(s.Issuer))
		default:
			r.skip(id, "no usable metadata, while another listed server may have some: "+some(tried(&s.Search), 3), about(s.Issuer))
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
		if s.State != oauth.Found {
			continue
		}
		t.ev = m.ev.with(s.ev)
		for _, key := range sortedKeys(s.Endpoints) {
			if !secure(s.Endpoints[key]) {
				t.fail(rubric.Major, s.Issuer, fmt.Sprintf("%s is not https: %s", key, quoteShort(s.Endpoints[key], 200)))
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
	who := about(s.Issuer)
	if s.State != oauth.Found {
		for _, id := range []string{pkce, grants, registration} {
			r.skip(id, "there is no metadata to look at", who)
		}
		return
	}
	switch {
	case !s.CodeChallengeGiven:
		r.warn(pkce, s.ev, "code_challenge_methods_supported is absent, and clients must refuse", who)
	case slices.Contains(s.CodeChallengeMethods, "S256"):
		r.pass(pkce, s.ev, "S256 is listed", who)
	default:
		r.fail(pkce, rubric.Major, s.ev, "code_challenge_methods_supported is "+listQuoted(s.CodeChallengeMethods), who)
	}
	if len(s.GrantTypes) == 0 {
		r.info(grants, s.ev, "not listed, so authorization_code and implicit (RFC 8414)", who)
	} else {
		r.info(grants, s.ev, listQuoted(s.GrantTypes), who)
	}
	offered := []string{}
	if s.ClientIDMetadataDocument {
		offered = append(offered, "Client ID Metadata Documents")
	}
	if s.Endpoints["registration_endpoint"] != "" {
		offered = append(offered, "dynamic registration")
	}
	if len(offered) == 0 {
		r.warn(registration, s.ev, "neither Client ID Metadata Documents nor dynamic registration is offered", who)
		return
	}
	r.pass(registration, s.ev, strings.Join(offered, " and "), who)
}

// judgePrivate looks at the URLs that the server controls; refused are those
// whose host the address guard refused to dial. Of a server that is on
// a private address itself, they may point there.
func (r *run) judgePrivate(named []string, ev span, refused ...string) {
	const id = "discovery.ssrf"
	if len(named) == 0 {
		r.skip(id, "the server names no URL")
		return
	}
	if r.loopback() || target.IsLocal(r.url.Hostname()) || r.connectedInside() {
		r.skip(id, "the endpoint is itself on a private address")
		return
	}
	var private []string
	for _, raw := range named {
		if shown := quoteShort(raw, 120); (privateURL(raw) || slices.Contains(refused, raw)) && !slices.Contains(private, shown) {
			private = append(private, shown)
		}
	}
	if len(private) > 0 {
		r.fail(id, rubric.Major, ev, "points at a private or reserved address, which was not contacted: "+some(private, 4))
		return
	}
	r.pass(id, ev, fmt.Sprintf("none of %s points at a private address", count(len(named), "URL", "URLs")))
}

// connectedInside reports whether every address of the endpoint is private.
func (r *run) connectedInside() bool {
	return r.conn != nil && len(r.conn.Addresses) > 0 &&
		!slices.ContainsFunc(r.conn.Addresses, func(a netip.Addr) bool { return target.NotPublic(a) == "" })
}

func privateURL(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && target.IsLocal(u.Hostname())
}
