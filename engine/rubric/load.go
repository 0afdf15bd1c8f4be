package rubric

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// Ids of the embedded rubrics.
const (
	Anonymous = "anonymous/1" // what a census may do
	Full      = "full/1"      // everything
)

// Rubric is one way of scoring. Get one with Load; it is not changed after.
type Rubric struct {
	ID         string     `yaml:"id"`
	Title      string     `yaml:"title"`
	Categories []Category `yaml:"categories"`
	Deductions Deductions `yaml:"deductions"`
	Caps       []Cap      `yaml:"caps"`
	Grades     []Grade    `yaml:"grades"` // best first
	Trial      []string   `yaml:"trial"`  // check ids (patterns as in Cap) that don't count yet
}

// Category is one part of the total.
type Category struct {
	Name   string   `yaml:"name"`
	Weight int      `yaml:"weight"` // 1 to 1000
	Phases []string `yaml:"phases"`
}

// Deductions is what a check costs its category at its worst status, in
// points of 100.
type Deductions struct {
	Critical int `yaml:"critical"`
	Major    int `yaml:"major"`
	Minor    int `yaml:"minor"`
	Warn     int `yaml:"warn"`
}

// Cap bounds the total when one of its checks failed at its severity. A
// pattern is a check id, an id prefix that ends in ".*", or "*" for all.
type Cap struct {
	Checks   []string `yaml:"checks"`
	Severity Severity `yaml:"severity"`
	Max      float64  `yaml:"max"` // one decimal
}

// Grade begins at a total of From.
type Grade struct {
	Grade string  `yaml:"grade"`
	From  float64 `yaml:"from"` // one decimal
}

//go:embed *.yaml
var files embed.FS

var embedded = sync.OnceValues(func() (map[string]*Rubric, error) {
	names, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	all := make(map[string]*Rubric, len(names))
	for _, name := range names {
		data, err := files.ReadFile(path.Join(".", name.Name()))
		if err != nil {
			return nil, err
		}
		r, err := Parse(data)
		if err != nil {
			return nil, fmt.Errorf("embedded rubric %q: %w", name.Name(), err)
		}
		if all[r.ID] != nil {
			return nil, fmt.Errorf("rubric %q is defined twice", r.ID)
		}
		all[r.ID] = r
	}
	return all, nil
})

// Load returns an embedded rubric. The caller must not change it.
func Load(id string) (*Rubric, error) {
	all, err := embedded()
	if err != nil {
		return nil, err
	}
	if r := all[id]; r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("no rubric %q: this build knows %s", id, strings.Join(IDs(), ", "))
}

// IDs lists the embedded rubrics in alphabetical order.
func IDs() []string {
	all, _ := embedded()
	ids := make([]string, 0, len(all))
	for id := range all {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// MaxSize bounds a rubric file, in bytes.
const MaxSize = 64 << 10

// Parse reads one rubric. Unknown keys, a second document and values out of
// bounds are errors.
func Parse(data []byte) (*Rubric, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("%d bytes, over the bound of %d", len(data), MaxSize)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	var r Rubric
	if err := dec.Decode(&r); err != nil {
		return nil, fmt.Errorf("not a rubric: %w", err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one YAML document")
	}
	if err := r.validate(); err != nil {
		return nil, err
	}
	return &r, nil
}

func (r *Rubric) validate() error {
	name, version, ok := strings.Cut(r.ID, "/")
	if !ok || name == "" || version == "" {
		return fmt.Errorf("id %q is not of the form name/version", r.ID)
	}
	if len(r.Categories) == 0 {
		return errors.New("no categories")
	}
	names, phases := map[string]bool{}, map[string]bool{}
	for _, c := range r.Categories {
		if c.Name == "" || names[c.Name] {
			return fmt.Errorf("category %q has no name or the name of another", c.Name)
		}
		names[c.Name] = true
		if c.Weight < 1 || c.Weight > 1000 {
			return fmt.Errorf("category %q: weight %d is not between 1 and 1000", c.Name, c.Weight)
		}
		if len(c.Phases) == 0 {
			return fmt.Errorf("category %q has no phases", c.Name)
		}
		for _, p := range c.Phases {
			if p == "" || phases[p] {
				return fmt.Errorf("category %q: phase %q is empty or in another category too", c.Name, p)
			}
			phases[p] = true
		}
	}
	d := r.Deductions
	for _, n := range []int{d.Critical, d.Major, d.Minor, d.Warn} {
		if n < 0 || n > 100 {
			return fmt.Errorf("deduction %d is not between 0 and 100", n)
		}
	}
	for _, c := range r.Caps {
		if len(c.Checks) == 0 || deduction(d, Fail, c.Severity) < 0 {
			return fmt.Errorf("cap at %v names no checks or no known severity (%q)", c.Max, c.Severity)
		}
		if _, ok := tenths(c.Max); !ok {
			return fmt.Errorf("cap %v is not between 0 and 100 with one decimal", c.Max)
		}
	}
	return r.validateGrades()
}

func (r *Rubric) validateGrades() error {
	if len(r.Grades) == 0 {
		return errors.New("no grades")
	}
	last := math.Inf(1)
	for _, g := range r.Grades {
		if _, ok := tenths(g.From); g.Grade == "" || !ok || g.From >= last {
			return fmt.Errorf("grade %q from %v is unnamed, out of bounds or not below the one before", g.Grade, g.From)
		}
		last = g.From
	}
	if last != 0 {
		return errors.New("the last grade must begin at 0")
	}
	return nil
}

// tenths reads a number of points with one decimal exactly.
func tenths(x float64) (int64, bool) {
	if !(x >= 0 && x <= 100) {
		return 0, false
	}
	t := math.Round(x * 10)
	return int64(t), math.Abs(t/10-x) < 1e-9
}
