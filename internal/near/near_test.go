package near

import (
	"strings"
	"testing"
)

func TestWord(t *testing.T) {
	known := []string{"namespace", "out", "registry", "handshake"}
	for word, want := range map[string]string{
		"namespaces": "namespace", "Namespace": "namespace", "nmaespace": "namespace", "hadnshake": "handshake",
		"ou": "out", "resigtry": "registry", "colour": "", "": "", "x": "",
		strings.Repeat("namespace", 100): "",
	} {
		if got := Word(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

// Distances counted by hand.
func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"flaw", "lawn", 2}, {"same", "same", 0}} {
		if got := edits(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
