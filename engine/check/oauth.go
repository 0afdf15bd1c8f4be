package check

import (
	"context"
	"net/http"

	"github.com/lustrum-mcp/lustrum/crawler/oauth"
)

// maxServers is how many listed authorization servers are looked at at all.
const maxServers = 20

// challenge is what the WWW-Authenticate headers of an answer say about Bearer
// tokens.
type challenge struct {
	bearer   bool
	metadata string   // URL of resource_metadata; "" without a usable one
	faults   []string // deviations that did not stop the reading
}

func readChallenge(h http.Header, endpoint string) challenge {
	all, faults := oauth.ParseChallenges(h.Values("WWW-Authenticate"))
	var c challenge
	for _, one := range all {
		c.bearer = c.bearer || one.Is("Bearer")
	}
	url, more := oauth.ResourceMetadataURL(all, endpoint)
	c.metadata = url
	for _, f := range append(faults, more...) {
		c.faults = append(c.faults, f.String())
	}
	return c
}

// resourceMetadata is RFC 9728 metadata as it was found, or not.
type resourceMetadata struct {
	*oauth.ResourceMetadata
	servers []string // authorization servers that are looked at
	ev      span
}

// fetchResource looks for the endpoint's metadata, first where the challenge
// points.
func (r *run) fetchResource(ctx context.Context, hint string) resourceMetadata {
	m := resourceMetadata{ResourceMetadata: oauth.FetchResourceMetadata(ctx, r.line, r.endpoint.URL, hint)}
	m.ev = seen(&m.Search)
	m.servers = m.AuthorizationServers[:min(len(m.AuthorizationServers), maxServers)]
	return m
}

// authServer is the metadata of one authorization server, or why there is
// none.
type authServer struct {
	*oauth.ServerMetadata
	refused string // why it was not asked
	ev      span
}

// fetchServer asks an authorization server that the metadata lists, within the
// scope of the run.
func (r *run) fetchServer(ctx context.Context, issuer string) authServer {
	if err := r.line.Allow(issuer); err != nil {
		return authServer{
			ServerMetadata: &oauth.ServerMetadata{Issuer: issuer, Search: oauth.Search{State: oauth.Blocked}},
			refused:        "not asked: " + clip(Quote(err.Error()), 160),
		}
	}
	s := authServer{ServerMetadata: oauth.FetchAuthorizationServer(ctx, r.line, issuer)}
	s.ev = seen(&s.Search)
	return s
}

// unsettled says why a search proves nothing, "" when it is settled.
func (s authServer) unsettled() string {
	if s.refused != "" {
		return s.refused
	}
	if why := s.Why(); why != "" {
		return clip(Quote(why), 200)
	}
	return ""
}

// seen is the exchange that shows a document, or all of a search for none.
func seen(s *oauth.Search) span {
	if s.State == oauth.Found {
		return at(s.Ref)
	}
	first, last := s.Refs()
	return span{first, last}
}

// tried is what came of each place.
func tried(s *oauth.Search) []string {
	var out []string
	for _, a := range s.Attempts {
		out = append(out, clip(Quote(a.String()), 160))
	}
	return out
}
