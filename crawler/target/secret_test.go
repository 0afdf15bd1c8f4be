package target

import (
	"slices"
	"testing"
)

func TestTemplateVariable(t *testing.T) {
	for raw, want := range map[string]string{
		"https://{tenant}.example.test/mcp": "tenant",
		"https://${env:MCP_URL}/mcp":        `"env:MCP_URL"`,
		"https://{{host}}/mcp":              "host",
		"https://<your-host>/mcp":           "your-host",
		"https://example.test/%7Btenant%7D": "tenant",
		"https://example.test/{":            `""`,
	} {
		if got, ok := TemplateVariable(raw); !ok || got != want {
			t.Errorf("%s: %q, %v; want %q", raw, got, ok, want)
		}
	}
	if name, ok := TemplateVariable("https://example.test/mcp?x=1"); ok {
		t.Errorf("a plain URL has the variable %q", name)
	}
}

func TestSecretsLeaveTheURL(t *testing.T) {
	for _, c := range []struct {
		in, out string
		gone    []string
	}{
		{"https://e.test/mcp?api_key=1&tools=a#x", "https://e.test/mcp?tools=a#x", []string{"api_key"}},
		{"https://e.test/mcp?exaApiKey=1", "https://e.test/mcp", []string{"exaApiKey"}},
		{"https://e.test/mcp?key=1&TOKEN=2", "https://e.test/mcp", []string{"key", "TOKEN"}},
		{"https://e.test/mcp?token=", "https://e.test/mcp?token=", nil},
		{"https://e.test/mcp?monkey=1", "https://e.test/mcp?monkey=1", nil},
		{"https://e.test/mcp#token=1", "https://e.test/mcp#token=1", nil},
		{"https://e.test/mcp", "https://e.test/mcp", nil},
	} {
		out, gone := WithoutSecrets(c.in)
		if out != c.out || !slices.Equal(gone, c.gone) {
			t.Errorf("%s: %s, %q; want %s, %q", c.in, out, gone, c.out, c.gone)
		}
		if first := SecretParameter(c.in); (first != "") != (len(gone) > 0) {
			t.Errorf("%s: the secret parameter is %q and those left out %q", c.in, first, gone)
		}
	}
}
