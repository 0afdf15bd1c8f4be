package disclosure

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/policies"
)

// Rule holds a server back when its condition is true.
type Rule struct {
	ID       string        `yaml:"id"`
	Version  int           `yaml:"version"`
	Title    string        `yaml:"title"`
	Reason   string        `yaml:"reason"`
	Hold     policies.Text `yaml:"hold"` // CEL over Server
	Examples []Example     `yaml:"examples"`

	program cel.Program
}

// Example is a server and whether the rule holds it back.
type Example struct {
	Name   string `yaml:"name"`
	Server Server `yaml:"server"`
	Held   bool   `yaml:"held"`
}

//go:embed *.yaml
var builtIn embed.FS

// Load returns the built-in rules and those of a folder, by id. A rule of the
// folder replaces the built-in one with its id. An empty dir is no folder.
// Errors name file and line.
func Load(dir string) ([]*Rule, error) {
	byID := map[string]*Rule{}
	if err := load(builtIn, "", byID); err != nil {
		return nil, err
	}
	if dir != "" {
		own := map[string]*Rule{}
		if err := load(os.DirFS(dir), dir, own); err != nil {
			return nil, err
		}
		for id, r := range own {
			byID[id] = r
		}
	}
	var out []*Rule
	for _, r := range byID {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Rule) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

func load(files fs.FS, dir string, byID map[string]*Rule) error {
	names, err := fs.Glob(files, "*.yaml")
	if err == nil && len(names) == 0 {
		err = errors.New("there is no .yaml file")
	}
	if err != nil {
		return fmt.Errorf("disclosure: read the folder %q: %w", dir, err)
	}
	for _, name := range names {
		file := filepath.Join(dir, name)
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return fmt.Errorf("disclosure: read %q: %w", file, err)
		}
		r, err := Parse(file, data)
		if err != nil {
			return err
		}
		if byID[r.ID] != nil {
			return fmt.Errorf("%s: id %q is taken by another file", file, r.ID)
		}
		byID[r.ID] = r
	}
	return nil
}

var idForm = regexp.MustCompile(`^[A-Z][A-Za-z0-9-]{0,31}$`)

// Parse reads one rule file.
func Parse(file string, data []byte) (*Rule, error) {
	r := &Rule{}
	if err := policies.Decode(file, data, r); err != nil {
		return nil, err
	}
	switch {
	case !idForm.MatchString(r.ID):
		return nil, fmt.Errorf("%s: id %q is not of the form D1", file, r.ID)
	case r.Version < 1:
		return nil, fmt.Errorf("%s: version is %d; the first is 1", file, r.Version)
	case r.Title == "" || r.Reason == "" || r.Hold.Value == "":
		return nil, fmt.Errorf("%s: title, reason and hold must all be given", file)
	case !slices.ContainsFunc(r.Examples, func(e Example) bool { return e.Held }), !slices.ContainsFunc(r.Examples, func(e Example) bool { return !e.Held }):
		return nil, fmt.Errorf("%s: one example must be held and one not", file)
	}
	var err error
	if r.program, err = compile(r.Hold.Value); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, r.Hold.Line, err)
	}
	return r, nil
}

// Holds says whether the rule holds a server with this statement back. An error
// is no answer: publish nothing then.
func (r *Rule) Holds(st *attest.Statement) (bool, error) { return r.holds(view(st)) }

func (r *Rule) holds(s Server) (bool, error) {
	v, _, err := r.program.Eval(map[string]any{"server": s})
	if err != nil {
		return false, fmt.Errorf("disclosure rule %s: %w", r.ID, err)
	}
	return v == types.True, nil
}

// Test runs the rule's examples; the error names the first that comes out
// otherwise.
func (r *Rule) Test() error {
	for _, e := range r.Examples {
		held, err := r.holds(e.Server.withWords())
		if err != nil {
			return err
		}
		if held != e.Held {
			return fmt.Errorf("disclosure rule %s: example %q: held is %v, expected %v", r.ID, e.Name, held, e.Held)
		}
	}
	return nil
}
