package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// Rules about characters. Their ids and severities are fixed here because the
// rule is the code; what they mean is in rules.yaml under "characters".
const (
	ruleTags      = "tag-characters"
	ruleSelectors = "variation-selectors"
	ruleOverride  = "bidi-override"
	ruleEmbedding = "bidi-embedding"
	ruleZeroWidth = "zero-width"
	ruleFiller    = "filler"
	ruleANSI      = "terminal-sequence"
	ruleControl   = "control-character"
	rulePadding   = "padding"
)

const checkHidden = "catalog.text.hidden"

// joinerScripts write words that need U+200C or U+200D inside (Unicode
// Standard, chapter 23.2).
var joinerScripts = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Mongolian, unicode.Phags_Pa, unicode.Nko,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
	unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
	unicode.Tibetan, unicode.Balinese, unicode.Javanese, unicode.Limbu, unicode.Meetei_Mayek, unicode.Newa,
	unicode.Grantha, unicode.Tirhuta, unicode.Sharada, unicode.Kaithi, unicode.Chakma, unicode.Adlam,
}

// breakScripts write without spaces, and mark word breaks with U+200B.
var breakScripts = []*unicode.RangeTable{
	unicode.Khmer, unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Tibetan, unicode.Javanese,
	unicode.Balinese, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Tai_Le, unicode.New_Tai_Lue,
}

// rtlScripts run from right to left and use directional marks.
var rtlScripts = []*unicode.RangeTable{
	unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Adlam, unicode.Mandaic,
}

// hidden finds characters that hide text, bytes or the order of reading.
func hidden(f Field) []Match {
	s := f.Text
	if plainASCII(s) && !padded(s) {
		return nil
	}
	v := &hiddenScan{field: f, runes: []rune(s), rtl: strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, rtlScripts...) })}
	v.offsets = make([]int, 0, len(v.runes)+1)
	for i := range s {
		v.offsets = append(v.offsets, i)
	}
	v.offsets = append(v.offsets, len(s))
	for i := 0; i < len(v.runes); {
		i += max(v.look(i), 1)
	}
	v.conclude()
	v.padding()
	return v.matches
}

// plainASCII is the quick way out: most texts have nothing to look at.
func plainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c == 0x7F {
			return false
		}
	}
	return true
}

type hiddenScan struct {
	field   Field
	runes   []rune
	offsets []int
	rtl     bool
	matches []Match

	splits, strays   []int // zero-width characters between letters; elsewhere
	selectors, marks []int // selectors on bases that take none; directional marks
}

func (v *hiddenScan) at(i int) rune {
	if i < 0 || i >= len(v.runes) {
		return -1
	}
	return v.runes[i]
}

func (v *hiddenScan) hit(rule string, severity rubric.Severity, from, to int, note string) {
	for i, m := range v.matches {
		if m.Rule != rule {
			continue
		}
		if weight(m.Severity) >= weight(severity) {
			return // the worst of a kind says it all
		}
		v.matches = slices.Delete(v.matches, i, i+1)
		break
	}
	v.matches = append(v.matches, Match{
		Rule: rule, Check: checkHidden, Severity: severity, Field: v.field.Path, Note: note,
		Quote: excerpt(v.field.Text, v.offsets[from], v.offsets[min(to, len(v.runes))]),
	})
}

// look judges the character at i and returns how many it has dealt with.
func (v *hiddenScan) look(i int) int {
	r := v.runes[i]
	switch {
	case r == 0x1F3F4 && v.at(i+1) >= 0xE0020 && v.at(i+1) <= 0xE007F:
		return 1 + v.flag(i+1)
	case r >= 0xE0000 && r <= 0xE007F:
		return v.tags(i)
	case r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF:
		return v.selector(i)
	case r == 0x202D || r == 0x202E:
		v.hit(ruleOverride, rubric.Critical, i, i+1, "the order of reading is overridden")
	case (r == 0x202A || r == 0x202B || r == 0x2067) && !v.rtl:
		v.hit(ruleEmbedding, rubric.Minor, i, i+1, "a directional embedding in a text without right-to-left letters")
	case r == 0x200E || r == 0x200F || r == 0x061C:
		if !v.rtl {
			v.marks = append(v.marks, i)
		}
	case r == 0x200B || r == 0x200C || r == 0x200D || r == 0x2060 || r == 0xFEFF || r == 0x180E || r == 0x034F ||
		r >= 0x2061 && r <= 0x2064 || r >= 0x206A && r <= 0x206F || r >= 0xFFF9 && r <= 0xFFFB || r >= 0x1D173 && r <= 0x1D17A:
		return v.zeroWidth(i)
	case r == 0x00AD:
		if v.at(i+1) == 0x00AD {
			v.strays = append(v.strays, i)
		}
	case r == 0x3164 || r == 0xFFA0 || (r == 0x115F || r == 0x1160) && !unicode.Is(unicode.Hangul, v.at(i+1)) && !unicode.Is(unicode.Hangul, v.at(i-1)):
		v.hit(ruleFiller, rubric.Major, i, i+1, "a filler that shows nothing")
	case r == 0x1B || r == 0x9B:
		return v.terminal(i)
	case r == 0x08 || r == 0x7F:
		v.hit(ruleControl, rubric.Major, i, i+1, "a character that erases the one before on a terminal")
	case unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' && r != '\f' && r != 0x85:
		v.hit(ruleControl, rubric.Minor, i, i+1, "a control character")
	}
	return 1
}

// flag reads a flag sequence (UTS #51, ED-14a): U+1F3F4, a region and its
// subdivision in tag letters, U+E007F. Anything else is a run of tags.
func (v *hiddenScan) flag(i int) int {
	n := 0
	for c := v.at(i + n); c >= 0xE0030 && c <= 0xE0039 || c >= 0xE0061 && c <= 0xE007A; c = v.at(i + n) {
		n++
	}
	if n < 3 || n > 6 || v.at(i+n) != 0xE007F {
		return v.tags(i)
	}
	return n + 1
}

func (v *hiddenScan) tags(i int) int {
	var spelt strings.Builder
	n := 0
	for c := v.at(i + n); c >= 0xE0000 && c <= 0xE007F; c = v.at(i + n) {
		if c >= 0xE0020 && c < 0xE007F {
			spelt.WriteRune(c - 0xE0000)
		}
		n++
	}
	v.hit(ruleTags, rubric.Critical, i, i+min(n, 6), "tag characters that spell "+quoted(spelt.String()))
	return n
}

// selector judges a run of variation selectors. One on a base that takes it
// is fine; a run carries bytes.
func (v *hiddenScan) selector(i int) int {
	n := 1
	for c := v.at(i + n); c >= 0xFE00 && c <= 0xFE0F || c >= 0xE0100 && c <= 0xE01EF; c = v.at(i + n) {
		n++
	}
	if n > 1 {
		v.hit(ruleSelectors, rubric.Critical, i, i+min(n, 6), "a run of variation selectors after one character carries bytes: "+quoted(selectorBytes(v.runes[i:i+n])))
		return n
	}
	if !takesSelector(v.at(i-1), v.runes[i]) {
		v.selectors = append(v.selectors, i)
	}
	return n
}

// selectorBytes decodes the usual way of hiding bytes in selectors.
func selectorBytes(run []rune) string {
	out := make([]byte, 0, len(run))
	for _, r := range run {
		if r <= 0xFE0F {
			out = append(out, byte(r-0xFE00))
		} else {
			out = append(out, byte(r-0xE0100+16))
		}
	}
	return string(out)
}

// takesSelector reports whether a base is of a kind that the selector is
// defined for (StandardizedVariants, emoji and ideographic sequences).
func takesSelector(base, selector rune) bool {
	switch {
	case selector >= 0xE0100:
		return unicode.Is(unicode.Han, base)
	case selector >= 0xFE0E:
		return pictographic(base)
	}
	return unicode.In(base, unicode.Han, unicode.Sm, unicode.Myanmar, unicode.Phags_Pa, unicode.Manichaean, unicode.Mongolian) ||
		base == '0' || unicode.Is(unicode.Po, base) || pictographic(base)
}

// pictographic is near enough to Extended_Pictographic and the keycap bases.
func pictographic(r rune) bool {
	return r >= 0x1F000 && r <= 0x1FAFF || r >= 0x2190 && r <= 0x2BFF || r == '#' || r == '*' || r >= '0' && r <= '9' ||
		r == 0xA9 || r == 0xAE || r == 0x203C || r == 0x2049 || r == 0x2122 || r == 0x2139 || r == 0x3030 || r == 0x303D || r == 0x3297 || r == 0x3299
}

func emojiPart(r rune) bool {
	return r == 0xFE0F || r == 0xFE0E || r == 0x20E3 || r >= 0xE0020 && r <= 0xE007F || pictographic(r) && !(r >= '0' && r <= '9')
}

func (v *hiddenScan) zeroWidth(i int) int {
	n := 1
	for Invisible(v.at(i+n)) && v.at(i+n) != 0x00AD && !(v.at(i+n) >= 0xFE00 && v.at(i+n) <= 0xFE0F) {
		n++
	}
	r, before, after := v.runes[i], v.at(i-1), v.at(i+n)
	if n >= 4 {
		v.hit(ruleZeroWidth, rubric.Critical, i, i+n, "a run of characters without width carries bytes")
		return n
	}
	switch {
	case r == 0xFEFF && i == 0 && n == 1,
		r == 0x200D && emojiPart(before) && pictographic(after),
		(r == 0x200C || r == 0x200D) && (unicode.In(before, joinerScripts...) || before == -1 && unicode.In(after, joinerScripts...)),
		r == 0x200B && (unicode.In(before, breakScripts...) || unicode.In(after, breakScripts...)),
		r >= 0x2061 && r <= 0x2064 && n == 1 && (unicode.Is(unicode.Sm, before) || unicode.Is(unicode.Sm, after)):
		return n
	case unicode.IsLetter(before) && unicode.IsLetter(after):
		v.splits = append(v.splits, i)
	default:
		v.strays = append(v.strays, i)
	}
	return n
}

// terminal judges an escape sequence. One that conceals, moves or erases has
// no honest place in a text; one that colours does not belong there either.
func (v *hiddenScan) terminal(i int) int {
	s := v.field.Text[v.offsets[i]:]
	n := max(ansiSequence(s), 1)
	sequence := s[:min(n, len(s))]
	severity, note := rubric.Major, "a terminal control sequence"
	if conceals(sequence) {
		severity, note = rubric.Critical, "a terminal control sequence that conceals or rewrites what follows"
	}
	runes := utf8.RuneCountInString(sequence)
	v.hit(ruleANSI, severity, i, i+runes, note)
	return runes
}

func conceals(sequence string) bool {
	if !strings.HasPrefix(sequence, "\x1b[") && !strings.HasPrefix(sequence, "\u009b") {
		return strings.HasPrefix(sequence, "\x1b]")
	}
	last := sequence[len(sequence)-1]
	if last != 'm' {
		return strings.IndexByte("ABCDEFGHJKSTfsu", last) >= 0
	}
	params := strings.TrimSuffix(strings.TrimLeft(sequence, "\x1b[\u009b"), "m")
	for _, p := range strings.Split(params, ";") {
		if p == "8" {
			return true
		}
	}
	return false
}

// conclude judges what only the number of finds can tell.
func (v *hiddenScan) conclude() {
	if n := len(v.splits); n > 0 {
		severity, note := rubric.Critical, "characters without width split words"
		if n == 1 {
			severity, note = rubric.Major, "a character without width splits a word"
		}
		v.hit(ruleZeroWidth, severity, v.splits[0], v.splits[0]+1, note)
	}
	if n := len(v.strays); n > 0 {
		severity := rubric.Minor
		if n >= 8 {
			severity = rubric.Major
		}
		v.hit(ruleZeroWidth, severity, v.strays[0], v.strays[0]+1, "a stray character without width")
	}
	if n := len(v.selectors); n > 0 {
		severity, note := rubric.Minor, "a variation selector on a character that takes none"
		if n >= 4 || v.runes[v.selectors[0]] >= 0xE0100 {
			severity, note = rubric.Critical, "variation selectors on characters that take none carry bytes"
		}
		v.hit(ruleSelectors, severity, v.selectors[0], v.selectors[0]+1, note)
	}
	if n := len(v.marks); n > 0 {
		severity := rubric.Minor
		if n >= 8 {
			severity = rubric.Critical
		}
		v.hit(ruleEmbedding, severity, v.marks[0], v.marks[0]+1, "directional marks in a text without right-to-left letters")
	}
}

func quoted(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return `"` + Escape(s) + `"`
}
