package site

import "testing"

func TestAccessInWords(t *testing.T) {
	for _, c := range []struct{ state, outcome, want, class string }{
		{"open", "answered", "Open", "open"},
		{"oauth", "protected", "Protected, OAuth", "protected"},
		{"protected", "protected", "Protected", "protected"},
		{"unreachable", "unreachable", "Unreachable", "unknown"},
		{"unreachable", "not-mcp", "Not MCP", "unknown"},
		{"unreachable", "undetermined", "Not known", "unknown"},
		{"", "undetermined", "Not known", "unknown"},
		{"no such state", "answered", "Not known", "unknown"},
	} {
		if got := authLabel(c.state, c.outcome); got.Text != c.want || got.Class != c.class || got.Title == "" {
			t.Errorf("%q, %q: %+v, want %q in class %q", c.state, c.outcome, got, c.want, c.class)
		}
	}
}
