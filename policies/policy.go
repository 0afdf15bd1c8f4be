package policies

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lustrum-mcp/lustrum/graph"
)

// Policy is one rule about the graph.
type Policy struct {
	ID       string      `yaml:"id"`
	Version  int         `yaml:"version"`
	Title    string      `yaml:"title"`
	Severity string      `yaml:"severity"` // critical, major or minor
	Reason   string      `yaml:"reason"`
	Remedy   string      `yaml:"remedy"`
	Forbid   *Pattern    `yaml:"forbid"`  // each path that matches is a violation
	Require  *Pattern    `yaml:"require"` // each first node without a path that matches is one
	Exempt   []Exemption `yaml:"exempt"`
	Examples []Example   `yaml:"examples"`

	File string `yaml:"-"` // where it was read from
}

// Pattern is a path through the graph and a condition on it; see graph.Query.
// For narrows the first nodes that a requirement is about.
type Pattern struct {
	Path  Text `yaml:"path"`
	Where Text `yaml:"where"`
	For   Text `yaml:"for"`
}

// Exemption lets paths (of a requirement: first nodes) that match a condition
// pass until the end of a day, UTC.
type Exemption struct {
	Match  Text   `yaml:"match"`
	Reason string `yaml:"reason"`
	Until  string `yaml:"until"` // YYYY-MM-DD
	Ticket string `yaml:"ticket"`
}

//go:embed *.yaml
var builtIn embed.FS

// Load returns the built-in policies and those of a folder, by id. A policy of
// the folder replaces the built-in one with its id. An empty dir is no folder.
// Errors name file and line.
func Load(dir string) ([]*Policy, error) {
	byID := map[string]*Policy{}
	if err := load(builtIn, "", byID); err != nil {
		return nil, err
	}
	if dir != "" {
		own := map[string]*Policy{}
		if err := load(os.DirFS(dir), dir, own); err != nil {
			return nil, err
		}
		if len(own) == 0 {
			return nil, fmt.Errorf("policies: the folder %q holds no .yaml file", dir)
		}
		for id, p := range own {
			byID[id] = p
		}
	}
	var out []*Policy
	for _, p := range byID {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *Policy) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

func load(files fs.FS, dir string, byID map[string]*Policy) error {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return fmt.Errorf("policies: read the folder %q: %w", dir, errors.Unwrap(err))
	}
	for _, e := range entries {
		if e.IsDir() || (path.Ext(e.Name()) != ".yaml" && path.Ext(e.Name()) != ".yml") {
			continue
		}
		name := filepath.Join(dir, e.Name())
		data, err := fs.ReadFile(files, e.Name())
		if err != nil {
			return fmt.Errorf("policies: read %q: %w", name, err)
		}
		p, err := Parse(name, data)
		if err != nil {
			return err
		}
		if other := byID[p.ID]; other != nil {
			return fmt.Errorf("%s: id %q is taken by %s", name, p.ID, other.File)
		}
		byID[p.ID] = p
	}
	return nil
}

var idForm = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

// Parse reads one policy file and holds it against the graph's schema.
func Parse(file string, data []byte) (*Policy, error) {
	p := &Policy{File: file}
	if err := Decode(file, data, p); err != nil {
		return nil, err
	}
	if err := p.validate(); err != nil {
		return nil, fmt.Errorf("%s%w", file, err)
	}
	return p, nil
}

// validate returns errors that start with ":LINE: " or ": ".
func (p *Policy) validate() error {
	switch {
	case !idForm.MatchString(p.ID):
		return fmt.Errorf(": id %q is not of the form lower-case-words", p.ID)
	case p.Version < 1:
		return fmt.Errorf(": version is %d; the first is 1", p.Version)
	case p.Title == "" || p.Reason == "" || p.Remedy == "":
		return errors.New(": title, reason and remedy must all be given")
	case rank(p.Severity) == 0:
		return fmt.Errorf(": severity %q is neither critical, major nor minor", p.Severity)
	case (p.Forbid == nil) == (p.Require == nil):
		return errors.New(": exactly one of forbid and require must be given")
	case p.Forbid != nil && p.Forbid.For.Value != "":
		return fmt.Errorf(":%d: only a requirement has a for", p.Forbid.For.Line)
	case len(p.Examples) < 2:
		return errors.New(": give at least two examples, one that fires and one that stays silent")
	}
	if err := p.validateQueries(); err != nil {
		return err
	}
	for _, e := range p.Exempt {
		if _, err := time.Parse(time.DateOnly, e.Until); err != nil || e.Match.Value == "" || e.Reason == "" {
			return fmt.Errorf(":%d: an exemption has match, reason and until (YYYY-MM-DD)", e.Match.Line)
		}
	}
	return p.validateExamples()
}

// validateQueries holds every query that the policy would put against the
// graph's schema.
func (p *Policy) validateQueries() error {
	try := func(at Text, path, where string) error {
		if err := graph.Validate(path, where); err != nil {
			return fmt.Errorf(":%d: %w", at.Line, err)
		}
		return nil
	}
	pattern := cmp.Or(p.Forbid, p.Require)
	if err := try(pattern.Path, pattern.Path.Value, ""); err != nil {
		return err
	}
	if err := try(pattern.Where, pattern.Path.Value, pattern.Where.Value); err != nil {
		return err
	}
	subject := pattern.Path.Value
	if p.Require != nil {
		subject = firstKind(subject)
	}
	if err := try(pattern.For, subject, pattern.For.Value); err != nil {
		return err
	}
	for _, e := range p.Exempt {
		if err := try(e.Match, subject, e.Match.Value); err != nil {
			return err
		}
	}
	return nil
}

// firstKind is the kind that a path starts with.
func firstKind(path string) string {
	path = strings.TrimSpace(path)
	if i := strings.IndexAny(path, " \t\n<-"); i >= 0 {
		return path[:i]
	}
	return path
}

func rank(severity string) int {
	return 1 + slices.Index([]string{"minor", "major", "critical"}, severity)
}

// AtOrAbove says whether a severity is as bad as a floor, or worse. Words that
// are no severity are below every floor, and no floor.
func AtOrAbove(severity, floor string) bool {
	return rank(floor) > 0 && rank(severity) >= rank(floor)
}
