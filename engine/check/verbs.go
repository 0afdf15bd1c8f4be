package check

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"gopkg.in/yaml.v3"
)

//go:embed verbs.yaml
var verbsYAML []byte

type words map[string]bool

// deed is a group of verbs and what they must be done to.
type deed struct {
	verbs, to, except words
	alone             bool // counts without a thing
	only              bool // counts without a thing only
}

type verbs struct {
	read, answers, preps, nouns words
	change, destroy             []deed
}

type deedText struct {
	Verbs  []string `yaml:"verbs"`
	To     []string `yaml:"to"`
	Except []string `yaml:"except"`
	Alone  bool     `yaml:"alone"`
	Only   bool     `yaml:"only"`
}

func parseVerbs(data []byte) (*verbs, error) {
	var lists struct {
		Read    []string   `yaml:"read"`
		Answers []string   `yaml:"answers"`
		Preps   []string   `yaml:"preps"`
		Pure    []string   `yaml:"pure"`
		Things  []string   `yaml:"things"`
		Noun    []string   `yaml:"noun"`
		Change  []deedText `yaml:"change"`
		Destroy []deedText `yaml:"destroy"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&lists); err != nil {
		return nil, fmt.Errorf("not a list of verbs: %w", err)
	}
	set := func(list []string) words {
		m := words{}
		for _, w := range list {
			switch w {
			case "things":
				for _, w := range lists.Things {
					m[w] = true
				}
			case "pure":
				for _, w := range lists.Pure {
					m[w] = true
				}
			}
			m[w] = true
		}
		return m
	}
	v := &verbs{read: set(lists.Read), answers: set(lists.Answers), preps: set(lists.Preps), nouns: set(lists.Noun)}
	deeds := func(texts []deedText) ([]deed, error) {
		var out []deed
		for _, d := range texts {
			if len(d.Verbs) == 0 || len(d.To) > 0 && len(d.Except) > 0 {
				return nil, fmt.Errorf("a group has no verbs, or both to and except: %v", d)
			}
			for _, w := range d.Verbs {
				if v.read[w] {
					return nil, fmt.Errorf("%q both reads and changes", w)
				}
			}
			out = append(out, deed{set(d.Verbs), set(d.To), set(d.Except), d.Alone, d.Only})
		}
		return out, nil
	}
	var err error
	if v.change, err = deeds(lists.Change); err != nil {
		return nil, err
	}
	v.destroy, err = deeds(lists.Destroy)
	return v, err
}

var verbLists = sync.OnceValue(func() *verbs {
	v, err := parseVerbs(verbsYAML)
	if err != nil {
		return &verbs{} // a test loads the lists
	}
	return v
})

// nameWords splits a name at punctuation and capitals, in lower case.
func nameWords(name string) []string {
	var words []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			words = append(words, strings.ToLower(b.String()))
			b.Reset()
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush()
		}
		b.WriteRune(r)
	}
	flush()
	return words
}

// changesThings reports the words of a name that say the tool changes
// something, "" when none do.
func changesThings(name string) string {
	v := verbLists()
	return v.says(v.change, name)
}

// plainlyDestructive reports the words of a name that say the tool destroys
// something, moves money or runs what it is given, "" when none do.
func plainlyDestructive(name string) string {
	v := verbLists()
	return v.says(v.destroy, name)
}

func (v *verbs) says(deeds []deed, name string) string {
	var part []string
	for _, w := range append(nameWords(name), "then") {
		if w != "and" && w != "or" && w != "then" {
			part = append(part, w)
			continue
		}
		if said := v.part(deeds, part); said != "" {
			return said
		}
		part = part[:0]
	}
	return ""
}

func (v *verbs) part(deeds []deed, part []string) string {
	if len(part) > 1 && v.answers[part[len(part)-1]] {
		return ""
	}
	for i, w := range part {
		if v.read[w] {
			return ""
		}
		if !v.verb(w) {
			continue
		}
		thing := v.thing(part, i)
		for _, d := range deeds {
			if said := d.says(w, thing, len(part) == 1); said != "" {
				return said
			}
		}
		if !v.nouns[w] {
			return ""
		}
	}
	return ""
}

func (v *verbs) verb(w string) bool {
	known := func(d deed) bool { return d.verbs[w] }
	return slices.ContainsFunc(v.change, known) || slices.ContainsFunc(v.destroy, known)
}

// thing is what the verb at i is done to, "" when the name does not say.
func (v *verbs) thing(part []string, i int) string {
	thing := ""
	for _, w := range part[i+1:] {
		switch {
		case !v.preps[w] && !numbered(w):
			thing = w
		case thing != "" && v.preps[w]: // add_to_cart has its thing behind the preposition
			return thing
		}
	}
	if thing == "" && i > 0 && i == len(part)-1 && !v.nouns[part[i]] {
		thing = part[i-1]
	}
	return thing
}

// numbered is a version or a number: v2, 3.
func numbered(w string) bool {
	w = strings.TrimPrefix(w, "v")
	return w != "" && strings.Trim(w, "0123456789") == ""
}

func (d deed) says(verb, thing string, single bool) string {
	switch {
	case !d.verbs[verb]:
		return ""
	case d.only:
		if single {
			return verb
		}
		return ""
	case thing == "":
		if d.alone {
			return verb
		}
		return ""
	case len(d.to) > 0 && !d.to.hold(thing), d.except.hold(thing):
		return ""
	}
	return verb + " " + thing
}

// hold reports whether the list has a word or its singular.
func (s words) hold(w string) bool {
	if s[w] {
		return true
	}
	if stem, ok := strings.CutSuffix(w, "ies"); ok && s[stem+"y"] {
		return true
	}
	if stem, ok := strings.CutSuffix(w, "es"); ok && s[stem] {
		return true
	}
	stem, ok := strings.CutSuffix(w, "s")
	return ok && s[stem]
}
