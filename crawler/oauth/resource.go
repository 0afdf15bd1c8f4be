package oauth

import (
	"context"
	"slices"
)

// ResourceMetadata is the metadata of a protected resource (RFC 9728).
type ResourceMetadata struct {
	Search
	Resource             string   // "" when the document names none
	AuthorizationServers []string // issuers, each once, as given
	Scopes               []string
	BearerMethods        []string
	DPoPAlgorithms       []string
	DPoPRequired         bool // dpop_bound_access_tokens_required
}

// FetchResourceMetadata looks for the metadata of an endpoint: first where the
// challenge points (hint, "" for nowhere), then at the well-known places, as
// https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization
// orders. A document is metadata when it is a JSON object that names a resource
// or authorization servers; whether it names the right ones is for the caller
// to judge. It never returns nil.
func FetchResourceMetadata(ctx context.Context, do Doer, endpoint, hint string) *ResourceMetadata {
	m := &ResourceMetadata{}
	places := WellKnownResource(endpoint)
	if hint != "" {
		places = append([]string{hint}, slices.DeleteFunc(places, func(p string) bool { return p == hint })...)
	}
	m.Search = search(ctx, do, places, func(_ string, d *document) string {
		_, resource := d.raw("resource")
		_, servers := d.raw("authorization_servers")
		if !resource && !servers {
			return "HTTP 200 with a JSON object that names neither a resource nor authorization servers"
		}
		m.Resource = d.text("resource")
		m.AuthorizationServers, _ = d.list("authorization_servers")
		m.Scopes, _ = d.list("scopes_supported")
		m.BearerMethods, _ = d.list("bearer_methods_supported")
		m.DPoPAlgorithms, _ = d.list("dpop_signing_alg_values_supported")
		m.DPoPRequired = d.flag("dpop_bound_access_tokens_required")
		return ""
	})
	return m
}
