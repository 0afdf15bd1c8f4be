package check

import (
	"regexp"
	"unicode/utf8"

	"github.com/lustrum-mcp/lustrum/engine/text"
)

// MaxObserved bounds Finding.Observed, in runes.
const MaxObserved = 300

// secretKinds are the shapes of secrets that are masked in everything that is
// quoted, by kind. The prefix that names the kind is kept.
var secretKinds = []struct {
	kind string
	re   *regexp.Regexp
}{
	{"private key", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?`)},
	{"jwt", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?`)},
	{"github token", regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})`)},
	{"gitlab token", regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{16,}`)},
	{"slack token", regexp.MustCompile(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`)},
	{"aws key id", regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`)},
	{"google key", regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{30,}`)},
	{"stripe key", regexp.MustCompile(`\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}`)},
	{"api key", regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{16,}`)},
	{"npm token", regexp.MustCompile(`\bnpm_[A-Za-z0-9]{30,}`)},
	// Not a parameter of a challenge, whose name is followed by = and a value.
	{"bearer token", regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+[A-Za-z0-9._~+/-]{16,}(?P<rest>=*(?:[\s,;)<>]|$)|["'])`)},
	{"password in a URL", regexp.MustCompile(`://[^/\s:@]+:[^/\s@]+@`)},
	{"credential", regexp.MustCompile(`(?i)\b(?:api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|secret[_-]?key|password|passwd)["']?\s*[:=]\s*["']?[A-Za-z0-9._~+/-]{12,}=*`)},
}

// Mask replaces secrets by their kind in angle brackets.
func Mask(s string) string {
	for _, k := range secretKinds {
		s = k.re.ReplaceAllString(s, "<"+k.kind+" masked>${rest}")
	}
	return s
}

// Quote makes text from outside safe to show: secrets are masked by kind,
// control and invisible characters and invalid bytes stand as code points
// (<U+202E>), line ends and tabs as a space, and the whole is cut at
// MaxObserved runes.
func Quote(s string) string {
	const bound = 16 << 10 // nothing behind this can reach the output
	if len(s) > bound {
		s = s[:bound]
	}
	return clip(text.Escape(Mask(s)), MaxObserved)
}

// quoteShort is Quote for a part of a sentence, in double quotes.
func quoteShort(s string, limit int) string {
	return `"` + clip(Quote(s), limit) + `"`
}

func clip(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := []rune(s)
	return string(runes[:limit-1]) + "…"
}
