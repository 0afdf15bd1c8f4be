package oauth

import (
	"context"
)

// endpointMembers are the members of a server's metadata that are URLs.
var endpointMembers = []string{
	"authorization_endpoint", "token_endpoint", "registration_endpoint", "jwks_uri", "revocation_endpoint",
	"introspection_endpoint", "userinfo_endpoint", "device_authorization_endpoint", "pushed_authorization_request_endpoint",
}

// ServerMetadata is the metadata of an authorization server (RFC 8414, OpenID
// Connect Discovery 1.0).
type ServerMetadata struct {
	Search
	Issuer      string // the one that was asked for
	OtherIssuer string // of a document that names another one and was not used

	Endpoints                map[string]string // by member name; those that are given
	CodeChallengeMethods     []string
	CodeChallengeGiven       bool // code_challenge_methods_supported is there at all
	GrantTypes               []string
	GrantTypesGiven          bool
	GrantProfiles            []string // authorization_grant_profiles_supported (an IETF draft)
	TokenAuthMethods         []string
	DPoPAlgorithms           []string
	ClientIDMetadataDocument bool // client_id_metadata_document_supported
	IssuerParameter          bool // authorization_response_iss_parameter_supported (RFC 9207)
}

// FetchAuthorizationServer looks for the metadata of an issuer at its
// well-known places in their order. A document whose issuer is not the very
// string that was asked for is not used (RFC 8414, section 3.3), and the search
// goes on. The caller must have allowed the issuer's host on the line. It never
// returns nil; an issuer that can be none is Absent.
func FetchAuthorizationServer(ctx context.Context, do Doer, issuer string) *ServerMetadata {
	m := &ServerMetadata{Issuer: issuer, Endpoints: map[string]string{}}
	places := WellKnownIssuer(issuer)
	if len(places) == 0 {
		m.Search = Search{State: Absent, Attempts: []Attempt{{URL: clip(issuer), Outcome: "an issuer is an http(s) URL without query and fragment"}}}
		return m
	}
	m.Search = search(ctx, do, places, func(_ string, d *document) string {
		switch named := d.text("issuer"); {
		case named == "":
			return "HTTP 200 with a JSON object that names no issuer"
		case named != issuer:
			if m.OtherIssuer == "" {
				m.OtherIssuer = named
			}
			return "the document is of another issuer, " + clip(named)
		}
		m.take(d)
		return ""
	})
	return m
}

func (m *ServerMetadata) take(d *document) {
	for _, name := range endpointMembers {
		if given := d.text(name); given != "" {
			m.Endpoints[name] = given
		}
	}
	m.CodeChallengeMethods, m.CodeChallengeGiven = d.list("code_challenge_methods_supported")
	m.GrantTypes, m.GrantTypesGiven = d.list("grant_types_supported")
	m.GrantProfiles, _ = d.list("authorization_grant_profiles_supported")
	m.TokenAuthMethods, _ = d.list("token_endpoint_auth_methods_supported")
	m.DPoPAlgorithms, _ = d.list("dpop_signing_alg_values_supported")
	m.ClientIDMetadataDocument = d.flag("client_id_metadata_document_supported")
	m.IssuerParameter = d.flag("authorization_response_iss_parameter_supported")
}
