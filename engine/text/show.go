package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Invisible reports whether a character leaves no mark of its own: format
// characters, variation selectors, tags and fillers.
func Invisible(r rune) bool {
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, 0xFFF9, 0xFFFA, 0xFFFB:
		return true
	}
	return unicode.Is(unicode.Cf, r) && !visibleFormat(r) || unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || r >= 0xE0000 && r <= 0xE0FFF
}

// visibleFormat is the few format characters that draw something: the signs
// that enclose Arabic, Syriac and Kaithi numbers.
func visibleFormat(r rune) bool {
	return r >= 0x0600 && r <= 0x0605 || r == 0x06DD || r == 0x070F || r == 0x0890 || r == 0x0891 ||
		r == 0x08E2 || r == 0x110BD || r == 0x110CD
}

// Escape makes text from outside safe to show anywhere: control and invisible
// characters and invalid bytes stand as code points (<U+202E>, <0xFF>), line
// ends and tabs as a space.
func Escape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "<0x%02X>", s[i])
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case r == ' ' || unicode.IsPrint(r) && !Invisible(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
		i += size
	}
	return b.String()
}

// quoteRunes bounds a match's quote, in runes before escaping.
const quoteRunes = 120

// excerpt quotes s[start:end] with some text before and after, escaped.
func excerpt(s string, start, end int) string {
	const around = 24
	for n := 0; n < around && start > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(s[:start])
		start -= size
	}
	for n := 0; n < around && end < len(s); n++ {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	part, cut := s[start:end], false
	for i, n := 0, 0; i < len(part); n++ {
		if n == quoteRunes {
			part, cut = part[:i], true
			break
		}
		_, size := utf8.DecodeRuneInString(part[i:])
		i += size
	}
	quote := Escape(strings.TrimSpace(part))
	if start > 0 {
		quote = "…" + quote
	}
	if cut || end < len(s) {
		quote += "…"
	}
	return quote
}
