package oauth

import (
	"net/url"
	"slices"
	"strings"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// Names under /.well-known/ of RFC 9728, RFC 8414 and OpenID Connect Discovery.
const (
	wellKnownResource = "/.well-known/oauth-protected-resource"
	wellKnownServer   = "/.well-known/oauth-authorization-server"
	wellKnownOpenID   = "/.well-known/openid-configuration"
)

// ResourceMetadataURL returns the URL that the challenges of an endpoint's 401
// give in resource_metadata (RFC 9728, section 5.1), resolved against the
// endpoint; "" when they give none that can be used. Bearer comes before other
// schemes. Where the URL leads is not judged here.
func ResourceMetadataURL(challenges []Challenge, endpoint string) (string, []Fault) {
	given, found := "", false
	for _, bearer := range []bool{true, false} {
		for _, c := range challenges {
			if c.Is("Bearer") == bearer && !found {
				given, found = c.Param("resource_metadata")
			}
		}
	}
	if !found {
		return "", nil
	}
	if len(given) > target.MaxURL {
		return "", []Fault{{Text: "resource_metadata is longer than any URL that is used", Broken: true}}
	}
	u, err := url.Parse(given)
	if err != nil || given == "" {
		return "", []Fault{{Text: "resource_metadata is not a URL: " + clip(given), Broken: true}}
	}
	var faults []Fault
	if !u.IsAbs() {
		base, err := url.Parse(endpoint)
		if err != nil {
			return "", []Fault{{Text: "relative URL, and no endpoint that it is relative to: " + clip(given), Broken: true}}
		}
		faults = append(faults, Fault{Text: "relative URL: " + clip(given)})
		u = base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return "", append(faults, Fault{Text: "resource_metadata is not a plain http(s) URL: " + clip(u.Redacted()), Broken: true})
	}
	u.Fragment, u.RawFragment = "", ""
	return u.String(), faults
}

// SameResource reports whether a resource identifier is that of an endpoint:
// scheme, host and port compared as RFC 3986, section 6.2.3 has them, path and
// query as they stand, except that no path and "/" are the same. An identifier
// with a fragment or user information is none (RFC 9728, section 1.2).
func SameResource(endpoint, resource string) bool {
	if strings.Contains(resource, "#") {
		return false
	}
	a, err := target.Canonical(endpoint)
	if err != nil {
		return false
	}
	b, err := target.Canonical(resource)
	return err == nil && a == b
}

// WellKnownResource lists where the metadata of an endpoint is looked for when
// no challenge names the place, in the order that MCP asks for: the well-known
// name put before the path (RFC 9728, section 3.1), then at the root. It is
// empty for what is not an http(s) URL.
func WellKnownResource(endpoint string) []string {
	u := httpURL(endpoint)
	if u == nil {
		return nil
	}
	query := ""
	if u.RawQuery != "" {
		query = "?" + u.RawQuery
	}
	out := []string{origin(u) + wellKnownResource + rootless(u) + query, origin(u) + wellKnownResource}
	return slices.Compact(out)
}

// WellKnownIssuer lists where the metadata of an authorization server is looked
// for, in the order that MCP asks for: with a path, by RFC 8414, section 3.1,
// then by its OpenID form, then by OpenID Connect Discovery 1.0, section 4;
// without one, the first and the last. It is empty for what can be no issuer:
// those have neither query nor fragment.
func WellKnownIssuer(issuer string) []string {
	u := httpURL(issuer)
	if u == nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(issuer, "#") {
		return nil
	}
	path := strings.TrimSuffix(rootless(u), "/")
	return slices.Compact([]string{
		origin(u) + wellKnownServer + path,
		origin(u) + wellKnownOpenID + path,
		origin(u) + path + wellKnownOpenID,
	})
}

func httpURL(raw string) *url.URL {
	if len(raw) > target.MaxURL {
		return nil
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return nil
	}
	return u
}

func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// rootless is the escaped path, "" for the root.
func rootless(u *url.URL) string {
	if path := u.EscapedPath(); path != "/" {
		return path
	}
	return ""
}
