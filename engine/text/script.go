package text

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"gopkg.in/yaml.v3"

	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

//go:embed lookalikes.yaml
var lookalikeYAML []byte

func parseLookalikes(data []byte) (map[rune]string, error) {
	var rows map[string]string
	if err := yaml.Unmarshal(data, &rows); err != nil {
		return nil, fmt.Errorf("not a table of look-alikes: %w", err)
	}
	table := map[rune]string{}
	for latin, letters := range rows {
		for _, r := range letters {
			if table[r] != "" {
				return nil, fmt.Errorf("U+%04X is in two rows, %q and %q", r, table[r], latin)
			}
			table[r] = latin
		}
	}
	return table, nil
}

var lookalikes = sync.OnceValue(func() map[rune]string {
	table, err := parseLookalikes(lookalikeYAML)
	if err != nil {
		return nil // a test loads the table
	}
	return table
})

const (
	checkConfusable = "catalog.names.confusable"
	ruleMixed       = "mixed-script-name"
	ruleDisguised   = "look-alike-name"
	ruleCompat      = "compatibility-letters"
	ruleTwins       = "names-look-the-same"
)

// disguising are the scripts whose letters pass for Latin ones. Latin beside
// Han, Kana or Hangul is everyday writing (UTS #39, section 5.2, highly
// restrictive) and no finding.
var disguising = map[string]*unicode.RangeTable{
	"Cyrillic": unicode.Cyrillic, "Greek": unicode.Greek, "Armenian": unicode.Armenian, "Cherokee": unicode.Cherokee,
	"Lisu": unicode.Lisu, "Coptic": unicode.Coptic, "Canadian_Aboriginal": unicode.Canadian_Aboriginal, "Georgian": unicode.Georgian,
}

// confusable judges one name, word by word: mixing within a word disguises it,
// while two words in two scripts are what a bilingual author writes.
func confusable(f Field) []Match {
	if f.Kind != Name && f.Kind != Title || plainASCII(f.Text) {
		return nil
	}
	match := func(rule string, severity rubric.Severity, note string) []Match {
		return []Match{{Rule: rule, Check: checkConfusable, Severity: severity, Field: f.Path, Note: note, Quote: spell(f.Text)}}
	}
	words := strings.FieldsFunc(f.Text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	latinWords, disguised := 0, 0
	for _, w := range words {
		latin, other, alike, letters := 0, "", 0, 0
		for _, r := range w {
			if !unicode.IsLetter(r) {
				continue
			}
			letters++
			if unicode.Is(unicode.Latin, r) {
				latin++
				continue
			}
			for name, table := range disguising {
				if unicode.Is(table, r) {
					other = name
					if lookalikes()[r] != "" {
						alike++
					}
				}
			}
		}
		switch {
		case latin > 0 && alike > 0:
			return match(ruleMixed, rubric.Critical, "Latin and "+other+" letters in one word, some of which look alike")
		case latin > 0:
			latinWords++
		case alike == letters && letters >= 3:
			disguised++
		}
	}
	if f.Kind == Name {
		if disguised > 0 && latinWords > 0 {
			return match(ruleDisguised, rubric.Critical, "a word of another script that is drawn entirely in letters like Latin ones, beside Latin words")
		}
		if folded := norm.NFKC.String(f.Text); folded != f.Text && plainASCII(folded) {
			return match(ruleCompat, rubric.Major, "compatibility forms of "+quoted(folded))
		}
		if disguised > 0 && disguised == len(words) {
			return match(ruleDisguised, rubric.Major, "a name drawn entirely in letters that look like Latin ones")
		}
	}
	return nil
}

// spell shows a name with the code points of its letters outside ASCII, which
// is the only way to see the difference.
func spell(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > quoteRunes {
			b.WriteString("…")
			break
		}
		b.WriteString(Escape(string(r)))
		if r > unicode.MaxASCII && unicode.IsLetter(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// Skeleton is what a name looks like: two names with one skeleton can't be
// told apart at a glance (UTS #39, section 4, with our table).
func Skeleton(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKC.String(name) {
		if Invisible(r) {
			continue
		}
		if l, ok := lookalikes()[r]; ok {
			b.WriteString(l)
			continue
		}
		b.WriteRune(r)
	}
	return strings.NewReplacer("0", "O", "1", "l", "I", "l", "|", "l", "rn", "m", "vv", "w").Replace(b.String())
}

// Twins finds names that look the same and are not. Names that are equal are
// the business of catalog.tools.unique; names that differ only in where they
// put digits (v1, vl) count only when they are long enough to be a disguise.
func Twins(fields []Field) []Match {
	var matches []Match
	seen := map[string]Field{}
	for _, f := range fields {
		if f.Kind != Name || len(f.Text) < 5 {
			continue
		}
		key := Skeleton(f.Text)
		first, ok := seen[key]
		switch {
		case !ok:
			seen[key] = f
		case first.Text != f.Text:
			matches = append(matches, Match{Rule: ruleTwins, Check: checkConfusable, Severity: rubric.Major, Field: f.Path,
				Note: "looks the same as " + spell(first.Text), Quote: spell(f.Text)})
		}
	}
	return matches
}
