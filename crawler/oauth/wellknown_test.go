package oauth

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFieldSameResource(t *testing.T) {
	cases := lines[struct {
		Endpoint string
		Resource *string
		Same     bool
	}](t, "resource_match.jsonl")
	if len(cases) != 9 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		resource := ""
		if c.Resource != nil {
			resource = *c.Resource
		}
		if got := SameResource(c.Endpoint, resource); got != c.Same {
			t.Errorf("%q and %q: %v, want %v", c.Endpoint, resource, got, c.Same)
		}
	}
	for _, resource := range []string{"https://h.test/mcp#", "https://u@h.test/mcp", "h.test/mcp", "https://h.test/MCP"} {
		if SameResource("https://h.test/mcp", resource) {
			t.Errorf("%q is taken for https://h.test/mcp", resource)
		}
	}
}

type orderCase struct {
	Issuer   string
	Endpoint string
	Order    []string
	PRMOrder []string `json:"prm_order"`
	PRMPath  any      `json:"prm_path"`
	Served   map[string]any
}

func orders(t *testing.T) []orderCase {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "field", "wellknown_order.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []orderCase
	if err := json.Unmarshal(raw, &cases); err != nil || len(cases) != 6 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	return cases
}

func TestFieldOrders(t *testing.T) {
	looked := 0
	for _, c := range orders(t) {
		if c.Order != nil {
			looked++
			if got := WellKnownIssuer(c.Issuer); !slices.Equal(got, c.Order) {
				t.Errorf("%s: %q, want %q", c.Issuer, got, c.Order)
			}
		}
		if c.PRMOrder != nil {
			looked++
			if got := WellKnownResource(c.Endpoint); !slices.Equal(got, c.PRMOrder[1:]) {
				t.Errorf("%s: %q, want %q", c.Endpoint, got, c.PRMOrder[1:])
			}
		}
	}
	if looked != 3 {
		t.Errorf("%d orders looked at", looked)
	}
}

func TestWellKnown(t *testing.T) {
	for endpoint, want := range map[string][]string{
		"https://h.test":      {"https://h.test/.well-known/oauth-protected-resource"},
		"https://h.test/":     {"https://h.test/.well-known/oauth-protected-resource"},
		"https://h.test/mcp/": {"https://h.test/.well-known/oauth-protected-resource/mcp/", "https://h.test/.well-known/oauth-protected-resource"},
		// The example of RFC 9728, section 3.1, with a port and a query.
		"https://h.test:8443/r1?k=1": {"https://h.test:8443/.well-known/oauth-protected-resource/r1?k=1", "https://h.test:8443/.well-known/oauth-protected-resource"},
		"https://h.test/a%2Fb":       {"https://h.test/.well-known/oauth-protected-resource/a%2Fb", "https://h.test/.well-known/oauth-protected-resource"},
		"ftp://h.test/":              nil,
		"https://u:p@h.test/":        nil,
		"/mcp":                       nil,
	} {
		if got := WellKnownResource(endpoint); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", endpoint, got, want)
		}
	}
	for issuer, want := range map[string][]string{
		// "any terminating slash must be removed", RFC 8414, section 3.1.
		"https://as.test/":     {"https://as.test/.well-known/oauth-authorization-server", "https://as.test/.well-known/openid-configuration"},
		"https://as.test/t/":   {"https://as.test/.well-known/oauth-authorization-server/t", "https://as.test/.well-known/openid-configuration/t", "https://as.test/t/.well-known/openid-configuration"},
		"https://as.test/?a=b": nil,
		"https://as.test/#":    nil,
		"mailto:as@as.test":    nil,
		"":                     nil,
	} {
		if got := WellKnownIssuer(issuer); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", issuer, got, want)
		}
	}
}
