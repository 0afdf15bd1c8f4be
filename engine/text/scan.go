package text

import (
	"cmp"
	"encoding/base64"
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// Match is one find.
type Match struct {
	Rule     string          // the rule's id
	Check    string          // the check it belongs to
	Severity rubric.Severity // critical, major or minor
	Field    string          // where: the path of the field
	Quote    string          // the text around it, escaped; at most a line
	Note     string          // how it was read, when that is not plain; escaped
}

// Scan judges texts: each by itself, and all together as one text, since a
// signal may be split over the fields of one definition. Give it the fields of
// one definition at a time. Matches come in the order of the fields, the most
// severe of a field first; a rule is reported once a field.
func Scan(fields ...Field) []Match {
	var all []Match
	for _, f := range fields {
		if len(f.Text) > MaxText {
			f.Text = strings.ToValidUTF8(f.Text[:MaxText], "")
		}
		matches := slices.Concat(hidden(f), confusable(f), words(f), encoded(f))
		slices.SortStableFunc(matches, func(a, b Match) int { return cmp.Compare(weight(b.Severity), weight(a.Severity)) })
		all = append(all, once(matches)...)
	}
	return append(all, together(fields)...)
}

func weight(s rubric.Severity) int {
	switch s {
	case rubric.Critical:
		return 3
	case rubric.Major:
		return 2
	}
	return 1
}

// once keeps the first match of each rule.
func once(matches []Match) []Match {
	seen := map[string]bool{}
	return slices.DeleteFunc(matches, func(m Match) bool {
		again := seen[m.Rule]
		seen[m.Rule] = true
		return again
	})
}

// shortest text that can say anything, in bytes.
const shortest = 6

// words tries every rule on every reading of a text.
func words(f Field) []Match {
	if len(f.Text) < shortest {
		return nil
	}
	s := f.Text
	if strings.Contains(s, "&") && strings.Contains(s, ";") {
		s = html.UnescapeString(s)
	}
	all := readings(s)
	plain := fold(s, foldOptions{})
	var matches []Match
	for i := range builtin().Rules {
		r := &builtin().Rules[i]
		if r.Reading == "plain" {
			matches = append(matches, r.try(f, s, plain, all[0])...)
			continue
		}
		for _, reading := range all {
			if found := r.try(f, s, reading, all[0]); len(found) > 0 {
				matches = append(matches, found...)
				break
			}
		}
	}
	return append(matches, squeezed(f, s)...)
}

// try returns the match of one rule on one reading of a text, if any: the
// first at the rule's severity, else the first that was lowered. A mention in
// front must not hide a use behind it.
func (r *rule) try(f Field, s string, in, base *reading) []Match {
	var lowered []Match
	for _, re := range r.match {
		if !in.any(re.need) {
			continue
		}
		for _, at := range re.FindAllStringIndex(in.text, 16) {
			window := in.text[at[0]:min(len(in.text), at[1]+60)]
			if slices.ContainsFunc(r.unless, func(u pattern) bool { return u.MatchString(window) }) {
				continue
			}
			m := Match{Rule: r.ID, Check: r.Check, Severity: r.Severity, Field: f.Path}
			start, end := in.original(at[0], at[1], len(s))
			m.Quote = excerpt(s, start, end)
			if in.name != "words" && in.name != "" || differs(s, start, end) {
				m.Note = "read as " + quoted(in.text[at[0]:at[1]])
			}
			if slices.Contains(r.Lower, f.Kind) || mentioned(s, start, end, base) {
				m.Severity = rubric.Minor
				lowered = append(lowered, m)
				continue
			}
			return []Match{m}
		}
	}
	return lowered[:min(len(lowered), 1)]
}

// differs reports whether what was matched hides something from the eye.
func differs(s string, start, end int) bool {
	return strings.ContainsFunc(s[start:end], func(r rune) bool {
		return Invisible(r) || unicode.IsControl(r) && !unicode.IsSpace(r) || r > 0xFF00 && r < 0xFFF0
	})
}

// mentioned reports whether s[start:end] is told rather than said: quoted or
// introduced as an example, by a text about finding such things.
func mentioned(s string, start, end int, base *reading) bool {
	set := builtin()
	if !slices.ContainsFunc(set.detector, func(re pattern) bool { return base.any(re.need) && re.MatchString(base.text) }) {
		return false
	}
	lead := strings.ToLower(s[max(0, start-80):start])
	told := slices.ContainsFunc(set.told, func(re pattern) bool {
		return re.MatchString(strings.TrimRight(lead, " \t\n")) || re.MatchString(lead)
	})
	return told && (enclosed(s, start, end) || strings.HasSuffix(strings.TrimSpace(lead), " to"))
}

// enclosed reports whether quotation marks open right before s[start:end], or
// within the few words before it, and close soon after.
func enclosed(s string, start, end int) bool {
	const marks = "\"'`“”‘’«»„"
	before := s[max(0, start-24):start]
	after := s[end:min(len(s), end+60)]
	open := strings.LastIndexAny(before, marks)
	if open < 0 || strings.ContainsAny(before[open:], ".!?\n") {
		return false
	}
	stop := strings.IndexAny(after, marks)
	return stop >= 0 && !strings.ContainsAny(after[:stop], ".!?\n")
}

var spelled = regexp.MustCompile(`(?:^|[^\pL])(?:\pL[\s.\-_*|/]+){6,}`)

// squeezed reads texts that are spelt letter by letter.
func squeezed(f Field, s string) []Match {
	at := spelled.FindStringIndex(s)
	if at == nil {
		return nil
	}
	letters := strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, fold(s, foldOptions{words: true, lookalike: true}).text)
	for _, phrase := range builtin().Squeezed {
		if strings.Contains(letters, phrase) {
			return []Match{{Rule: "spelt-out", Check: "catalog.text.instructions", Severity: rubric.Critical, Field: f.Path,
				Quote: excerpt(s, at[0], at[1]), Note: "read as " + quoted(phrase)}}
		}
	}
	return nil
}

var base64Run = regexp.MustCompile(`[A-Za-z0-9+/_-]{24,}={0,2}`)

// encoded decodes what looks like base64 and judges the text inside, if there
// is one. A picture or a key decodes to no text.
func encoded(f Field) []Match {
	for _, run := range base64Run.FindAllString(f.Text, 8) {
		inside, ok := decode(run)
		if !ok {
			continue
		}
		for _, m := range words(Field{f.Path, f.Kind, inside}) {
			if weight(m.Severity) >= weight(rubric.Major) {
				m.Rule, m.Note = "encoded-"+m.Rule, "decoded from base64"
				return []Match{m}
			}
		}
	}
	return nil
}

func decode(run string) (string, bool) {
	run = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(run), "=")
	raw, err := base64.RawStdEncoding.DecodeString(run)
	if err != nil || !utf8.Valid(raw) {
		return "", false
	}
	printable := 0
	for _, r := range string(raw) {
		if unicode.IsPrint(r) || unicode.IsSpace(r) {
			printable++
		}
	}
	return string(raw), printable*10 >= utf8.RuneCount(raw)*9
}

// together reads all texts of a definition as one, and reports what no single
// field showed.
func together(fields []Field) []Match {
	// Names and keywords stand between the texts and not in them.
	fields = slices.DeleteFunc(slices.Clone(fields), func(f Field) bool { return f.Kind == Name || f.Kind == Keyword })
	if len(fields) < 2 {
		return nil
	}
	var b strings.Builder
	var starts []int
	for _, f := range fields {
		if b.Len()+len(f.Text) > MaxText {
			break
		}
		starts = append(starts, b.Len())
		b.WriteString(strings.TrimSpace(f.Text))
		b.WriteByte(' ')
	}
	s := b.String()
	in := fold(s, foldOptions{words: true, lookalike: true})
	var matches []Match
	for i := range builtin().Rules {
		r := &builtin().Rules[i]
		if !r.Together {
			continue
		}
		for _, re := range r.match {
			if !in.any(re.need) {
				continue
			}
			for _, at := range re.FindAllStringIndex(in.text, 16) {
				start, end := in.original(at[0], at[1], len(s))
				first, last := fieldAt(starts, start), fieldAt(starts, max(start, end-1))
				if first == last || mentioned(s, start, end, in) {
					continue
				}
				matches = append(matches, Match{Rule: r.ID, Check: r.Check, Severity: r.Severity,
					Field: fields[first].Path, Quote: excerpt(s, start, end), Note: "split over fields, up to " + Escape(fields[last].Path)})
			}
		}
	}
	return once(matches)
}

func fieldAt(starts []int, offset int) int {
	i, ok := slices.BinarySearch(starts, offset)
	if !ok {
		i--
	}
	return i
}
