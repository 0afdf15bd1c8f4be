package text

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

//go:embed rules.yaml
var rulesYAML []byte

type rule struct {
	ID       string          `yaml:"id"`
	Check    string          `yaml:"check"`
	Severity rubric.Severity `yaml:"severity"`
	Reading  string          `yaml:"reading"`
	Patterns []string        `yaml:"patterns"`
	Unless   []string        `yaml:"unless"`
	Lower    []Kind          `yaml:"lower"`
	Together bool            `yaml:"together"`

	match, unless []pattern
}

type ruleSet struct {
	Words   map[string]string `yaml:"words"`
	Rules   []rule            `yaml:"rules"`
	Mention struct {
		Detector []string `yaml:"detector"`
		Told     []string `yaml:"told"`
	} `yaml:"mention"`
	Squeezed []string `yaml:"squeezed"`

	detector, told []pattern
}

var builtin = sync.OnceValue(func() *ruleSet {
	set, err := parseRules(rulesYAML)
	if err != nil {
		return &ruleSet{} // a test loads the rules
	}
	return set
})

// checks that a rule may belong to.
var checks = []string{checkHidden, "catalog.text.comments", "catalog.text.instructions", "catalog.text.secret_paths"}

func parseRules(data []byte) (*ruleSet, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	var set ruleSet
	if err := dec.Decode(&set); err != nil {
		return nil, fmt.Errorf("not a set of rules: %w", err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one YAML document")
	}
	var err error
	seen := map[string]bool{}
	for i := range set.Rules {
		r := &set.Rules[i]
		switch {
		case r.ID == "" || seen[r.ID]:
			return nil, fmt.Errorf("rule %q has no id or the id of another", r.ID)
		case !slices.Contains(checks, r.Check):
			return nil, fmt.Errorf("rule %q: check %q is none of %q", r.ID, r.Check, checks)
		case !slices.Contains([]rubric.Severity{rubric.Critical, rubric.Major, rubric.Minor}, r.Severity):
			return nil, fmt.Errorf("rule %q: severity %q is unknown", r.ID, r.Severity)
		case r.Reading != "" && r.Reading != "words" && r.Reading != "plain":
			return nil, fmt.Errorf("rule %q: reading %q is neither words nor plain", r.ID, r.Reading)
		case len(r.Patterns) == 0:
			return nil, fmt.Errorf("rule %q has no patterns", r.ID)
		}
		seen[r.ID] = true
		if r.match, err = set.compile(r.Patterns); err != nil {
			return nil, fmt.Errorf("rule %q: %w", r.ID, err)
		}
		if r.unless, err = set.compile(r.Unless); err != nil {
			return nil, fmt.Errorf("rule %q: %w", r.ID, err)
		}
	}
	if set.detector, err = set.compile(set.Mention.Detector); err != nil {
		return nil, err
	}
	if set.told, err = set.compile(set.Mention.Told); err != nil {
		return nil, err
	}
	return &set, nil
}

var wordReference = regexp.MustCompile(`\{[a-z][a-z0-9]*\}`)

// compile puts in the named words, which may name others in turn.
func (set *ruleSet) compile(patterns []string) ([]pattern, error) {
	var list []pattern
	for _, p := range patterns {
		expanded, missing := p, ""
		for depth := 0; depth < 4 && wordReference.MatchString(expanded); depth++ {
			expanded = wordReference.ReplaceAllStringFunc(expanded, func(ref string) string {
				word, ok := set.Words[ref[1:len(ref)-1]]
				if !ok {
					missing = ref
				}
				return word
			})
		}
		if missing != "" {
			return nil, fmt.Errorf("pattern %q: no words %s", p, missing)
		}
		re, err := newPattern(expanded)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", p, err)
		}
		list = append(list, re)
	}
	return list, nil
}
