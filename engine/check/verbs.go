package check

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"gopkg.in/yaml.v3"
)

//go:embed verbs.yaml
var verbsYAML []byte

type verbs struct {
	read, change, certain, destroy, execute, code map[string]bool
}

func parseVerbs(data []byte) (*verbs, error) {
	var lists struct {
		Read    []string `yaml:"read"`
		Change  []string `yaml:"change"`
		Certain []string `yaml:"certain"`
		Destroy []string `yaml:"destroy"`
		Execute []string `yaml:"execute"`
		Code    []string `yaml:"code"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&lists); err != nil {
		return nil, fmt.Errorf("not a list of verbs: %w", err)
	}
	set := func(list []string) map[string]bool {
		m := make(map[string]bool, len(list))
		for _, w := range list {
			m[w] = true
		}
		return m
	}
	v := &verbs{set(lists.Read), set(lists.Change), set(lists.Certain), set(lists.Destroy), set(lists.Execute), set(lists.Code)}
	for w := range v.read {
		if v.change[w] || v.certain[w] || v.destroy[w] {
			return nil, fmt.Errorf("%q both reads and changes", w)
		}
	}
	return v, nil
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

// changesThings reports the word of a name that says the tool changes
// something, "" when none does.
func changesThings(name string) string {
	v, words := verbLists(), nameWords(name)
	for i, w := range words {
		if v.read[w] {
			return ""
		}
		if i == 0 && v.change[w] {
			return w
		}
	}
	for _, w := range words {
		if v.certain[w] {
			return w
		}
	}
	return ""
}

// plainlyDestructive reports the word of a name that says the tool destroys
// something or runs what it is given, "" when none does.
func plainlyDestructive(name string) string {
	v, words := verbLists(), nameWords(name)
	code := ""
	for _, w := range words {
		if v.code[w] {
			code = w
		}
	}
	for i, w := range words {
		switch {
		case v.execute[w] && code != "" && (w != "shell" || i == 0):
			return strings.TrimSpace(w + " " + strings.TrimPrefix(code, w))
		case v.read[w]:
			return ""
		case v.destroy[w]:
			return w
		}
	}
	return ""
}
