package text

import (
	"unicode"
	"unicode/utf8"

	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// Padding that pushes what follows out of sight.
const (
	padLines  = 20
	padSpaces = 120
)

func padded(s string) bool { return padEnd(s) > 0 }

// padEnd returns the offset behind a run of white space with text after it
// that is long enough to push that text out of sight, 0 when there is none.
func padEnd(s string) int {
	lines, spaces := 0, 0
	for i, r := range s {
		switch {
		case r == '\n':
			lines++
		case unicode.IsSpace(r):
			spaces++
		default:
			if i > 0 && (lines >= padLines || spaces >= padSpaces) {
				return i
			}
			lines, spaces = 0, 0
		}
	}
	return 0
}

func (v *hiddenScan) padding() {
	end := padEnd(v.field.Text)
	if end == 0 {
		return
	}
	text := v.field.Text[end:]
	_, size := utf8.DecodeRuneInString(text)
	v.matches = append(v.matches, Match{
		Rule: rulePadding, Check: checkHidden, Severity: rubric.Major, Field: v.field.Path,
		Note: "blank space pushes the text behind it out of sight", Quote: excerpt(text, 0, size),
	})
}
