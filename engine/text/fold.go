package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// reading is one way of reading a text: folded, with the way back to the
// original bytes.
type reading struct {
	text string
	from []int // for each byte of text, the offset in the original
	name string
	holds
}

// original returns the offsets in the original of text[start:end].
func (r *reading) original(start, end int, size int) (int, int) {
	if start >= len(r.from) {
		return size, size
	}
	last := size
	if end < len(r.from) {
		last = r.from[end]
	}
	return r.from[start], max(last, r.from[start])
}

type foldOptions struct {
	words     bool // drop mark-up, so that only words are left
	lookalike bool // read look-alike letters of other scripts as Latin
	leet      bool // read digits inside words as letters
}

var leetDigits = map[rune]rune{'0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '@': 'a', '$': 's', '!': 'i'}

// fold makes a reading: compatibility forms, case, accents and invisible
// characters go, runs of white space become one space, or one line feed where
// mark-up stays.
func fold(s string, opts foldOptions) *reading {
	var b strings.Builder
	from := make([]int, 0, len(s)+16)
	write := func(r rune, at int) {
		n := b.Len()
		b.WriteRune(r)
		for range b.Len() - n {
			from = append(from, at)
		}
	}
	space, spaceAt := rune(0), 0
	for i := 0; i < len(s); {
		if n := ansiSequence(s[i:]); n > 0 {
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		at := i
		i += size
		switch {
		case unicode.IsSpace(r) || r == '_' && opts.words:
			if space == 0 {
				space, spaceAt = ' ', at
			}
			if !opts.words && (r == '\n' || r == '\r' || r == 0x2028 || r == 0x2029) {
				space = '\n'
			}
			continue
		case Invisible(r) || unicode.IsControl(r):
			continue
		case opts.words && strings.ContainsRune("*`~", r):
			continue
		}
		if space != 0 {
			write(space, spaceAt)
			space = 0
		}
		for _, c := range foldRune(r, opts) {
			write(c, at)
		}
	}
	return &reading{text: b.String(), from: from, holds: holds{in: b.String()}}
}

// foldRune returns what one character reads as.
func foldRune(r rune, opts foldOptions) string {
	switch {
	case r < utf8.RuneSelf:
		if opts.leet {
			if l, ok := leetDigits[r]; ok {
				return string(l)
			}
		}
		return string(unicode.ToLower(r))
	case strings.ContainsRune("‘’‛ʼ′´", r):
		return "'"
	case strings.ContainsRune("“”„‟″«»", r):
		return `"`
	case unicode.Is(unicode.Pd, r):
		return "-"
	case r >= 0x1F150 && r <= 0x1F169: // negative circled letters
		return string('a' + r - 0x1F150)
	case r >= 0x1F170 && r <= 0x1F189: // negative squared letters
		return string('a' + r - 0x1F170)
	case r >= 0x1F1E6 && r <= 0x1F1FF: // regional indicators
		return string('a' + r - 0x1F1E6)
	}
	if opts.lookalike {
		if l, ok := lookalikes()[r]; ok {
			return strings.ToLower(l)
		}
	}
	var b strings.Builder
	for _, c := range norm.NFKC.String(string(r)) {
		c = unicode.ToLower(c)
		if opts.lookalike {
			if l, ok := lookalikes()[c]; ok {
				b.WriteString(strings.ToLower(l))
				continue
			}
		}
		b.WriteString(stripAccents(c))
	}
	return b.String()
}

// stripAccents drops the combining marks of scripts where a text stays
// readable without them.
func stripAccents(r rune) string {
	if r < utf8.RuneSelf {
		return string(r)
	}
	if r >= 0x300 && r <= 0x36F {
		return ""
	}
	if !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) {
		return string(r)
	}
	var b strings.Builder
	for _, c := range norm.NFD.String(string(r)) {
		if c < 0x300 || c > 0x36F {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// readings returns the ways a text is judged, the plainest first; equal ones
// are left out.
func readings(s string) []*reading {
	list := []*reading{fold(s, foldOptions{words: true})}
	list[0].name = "words"
	if look := fold(s, foldOptions{words: true, lookalike: true}); look.text != list[0].text {
		look.name = "with look-alike letters read as Latin"
		list = append(list, look)
	}
	if mixesDigits(s) {
		leet := fold(s, foldOptions{words: true, lookalike: true, leet: true})
		leet.name = "with digits read as letters"
		list = append(list, leet)
	}
	return list
}

// mixesDigits reports whether a digit or sign stands between two letters, as
// in pr3vious.
func mixesDigits(s string) bool {
	for i := 1; i+1 < len(s); i++ {
		if leetDigits[rune(s[i])] != 0 && isLetter(s[i-1]) && isLetter(s[i+1]) {
			return true
		}
	}
	return false
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// ansiSequence returns the length of a terminal control sequence at the start
// of s, 0 when there is none (ECMA-48, section 5.4).
func ansiSequence(s string) int {
	var i int
	switch {
	case strings.HasPrefix(s, "\x1b["):
		i = 2
	case strings.HasPrefix(s, "\u009b"):
		i = len("\u009b")
	case strings.HasPrefix(s, "\x1b]"):
		// An operating system command runs to its terminator.
		for _, end := range []string{"\a", "\x1b\\", "\u009c"} {
			if n := strings.Index(s, end); n > 0 && n < 256 {
				return n + len(end)
			}
		}
		return 2
	case strings.HasPrefix(s, "\x1b") && len(s) > 1:
		return 2
	default:
		return 0
	}
	for i < len(s) && i < 64 && s[i] >= 0x20 && s[i] <= 0x3F {
		i++
	}
	if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7E {
		i++
	}
	return i
}
