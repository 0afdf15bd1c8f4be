package check

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/lustrum-mcp/lustrum/crawler/mcp"
	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// Meta is what the catalogue says about one check.
type Meta struct {
	ID         string            `yaml:"id" json:"id"`
	Phase      string            `yaml:"phase" json:"phase"`
	Title      string            `yaml:"title" json:"title"`
	What       string            `yaml:"what" json:"what"`
	Why        string            `yaml:"why" json:"why"`
	Advice     string            `yaml:"advice" json:"advice"` // empty only for checks that never warn or fail
	Reference  string            `yaml:"reference" json:"reference"`
	Revisions  Revisions         `yaml:"revisions" json:"revisions"`
	Transports []string          `yaml:"transports" json:"transports"`
	Outcomes   map[Status]string `yaml:"outcomes" json:"outcomes"`
	Trial      bool              `yaml:"trial" json:"trial,omitempty"` // does not count in the score yet
}

// Revisions are the protocol revisions that a check applies to, oldest first.
// In the file the word all stands for every published one.
type Revisions []string

// UnmarshalYAML reads "all" or a list of published revisions.
func (r *Revisions) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode && node.Value == "all" {
		*r = slices.Clone(mcp.Revisions)
		return nil
	}
	var list []string
	if err := node.Decode(&list); err != nil {
		return err
	}
	for _, v := range list {
		if !slices.Contains(mcp.Revisions, v) {
			return fmt.Errorf("line %d: revision %q was never published", node.Line, v)
		}
	}
	*r = list
	return nil
}

// Has reports whether a check applies to a revision; one that was never
// published counts as the newest.
func (r Revisions) Has(version string) bool {
	return slices.Contains(r, version) || !slices.Contains(mcp.Revisions, version)
}

// Phases that this build runs, in order. The auth phase has no traffic of its
// own here: auth.unauthenticated_tools is seen while the catalogue is listed.
const (
	PhaseNet       = "net"
	PhaseDiscovery = "discovery"
	PhaseAuth      = "auth"
	PhaseHandshake = "handshake"
	PhaseCatalog   = "catalog"
)

// AnonymousPhases are the phases that need no credentials and call no tool.
var AnonymousPhases = []string{PhaseNet, PhaseDiscovery, PhaseHandshake, PhaseCatalog}

//go:embed catalogue.yaml
var catalogueYAML []byte

type catalogue struct {
	ID     string `yaml:"id"`
	Checks []Meta `yaml:"checks"`
}

var builtin = sync.OnceValue(func() *catalogue {
	c, err := parseCatalogue(catalogueYAML)
	if err != nil {
		// Reached only by a build whose own tests fail.
		return &catalogue{}
	}
	return c
})

// CatalogueID names this build's catalogue of checks.
func CatalogueID() string { return builtin().ID }

// Catalogue lists every check that this build makes, in the order of findings.
func Catalogue() []Meta { return slices.Clone(builtin().Checks) }

// Lookup returns what the catalogue says about a check.
func Lookup(id string) (Meta, bool) {
	i := slices.IndexFunc(builtin().Checks, func(m Meta) bool { return m.ID == id })
	if i < 0 {
		return Meta{}, false
	}
	return builtin().Checks[i], true
}

var allStatuses = []Status{rubric.Pass, rubric.Warn, rubric.Fail, rubric.Skip, rubric.Info}

func parseCatalogue(data []byte) (*catalogue, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	var c catalogue
	if err := dec.Decode(&c); err != nil {
		return nil, fmt.Errorf("not a catalogue of checks: %w", err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one YAML document")
	}
	if c.ID == "" || len(c.Checks) == 0 {
		return nil, errors.New("the catalogue has no id or no checks")
	}
	seen := map[string]bool{}
	for _, m := range c.Checks {
		if err := m.validate(); err != nil {
			return nil, fmt.Errorf("check %q: %w", m.ID, err)
		}
		if seen[m.ID] {
			return nil, fmt.Errorf("check %q is defined twice", m.ID)
		}
		seen[m.ID] = true
	}
	return &c, nil
}

func (m Meta) validate() error {
	phases := append(slices.Clone(AnonymousPhases), PhaseAuth)
	if !slices.Contains(phases, m.Phase) || !strings.HasPrefix(m.ID, m.Phase+".") {
		return fmt.Errorf("phase %q is unknown or not the beginning of the id", m.Phase)
	}
	if m.Title == "" || m.What == "" || m.Why == "" {
		return errors.New("title, what or why is missing")
	}
	if u, err := url.Parse(m.Reference); err != nil || u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("reference %q is not an https URL", m.Reference)
	}
	if len(m.Revisions) == 0 || len(m.Transports) == 0 {
		return errors.New("revisions or transports are missing")
	}
	for _, t := range m.Transports {
		if t != target.StreamableHTTP && t != target.SSE && t != target.Stdio {
			return fmt.Errorf("transport %q is unknown", t)
		}
	}
	for status := range m.Outcomes {
		if !slices.Contains(allStatuses, status) {
			return fmt.Errorf("outcome %q is no status", status)
		}
	}
	_, warns := m.Outcomes[rubric.Warn]
	_, fails := m.Outcomes[rubric.Fail]
	if (warns || fails) && m.Advice == "" {
		return errors.New("it can warn or fail and has no advice")
	}
	return nil
}
