package text

import (
	"strings"
	"testing"
)

// A large honest text: the time it takes bounds what a hostile catalogue can
// cost.
func BenchmarkScan(b *testing.B) {
	s := strings.Repeat("Lists the notes of a folder, newest first, and returns their ids. ", 1000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Scan(Field{"tools[0].description", Description, s})
	}
}

// The worst text for speed: it holds the words of every rule, and matches
// none.
func BenchmarkScanHostile(b *testing.B) {
	var words []string
	for _, r := range builtin().Rules {
		for _, p := range r.match {
			words = append(words, p.need...)
		}
	}
	s := strings.Repeat(strings.Join(words, " x "), 20)[:64<<10]
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Scan(Field{"tools[0].description", Description, s})
	}
}

func TestNeededWords(t *testing.T) {
	without := 0
	for _, r := range builtin().Rules {
		for _, p := range r.match {
			if len(p.need) == 0 {
				without++
				t.Logf("%s is tried on every text: %s", r.ID, p.String()[:min(len(p.String()), 100)])
			}
		}
	}
	if without > 8 {
		t.Errorf("%d patterns name no word that a match must hold", without)
	}
}
