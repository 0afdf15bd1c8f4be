package pipeline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/lustrum-mcp/lustrum/attest/sign"
	"github.com/lustrum-mcp/lustrum/dataset"
	"github.com/lustrum-mcp/lustrum/dataset/figures"
	"github.com/lustrum-mcp/lustrum/graph"
	"github.com/lustrum-mcp/lustrum/policies"
	"github.com/lustrum-mcp/lustrum/site"
)

// buildSite asks the graph what each public server inherits and which policies
// it violates, and writes the pages.
func buildSite(ctx context.Context, c Config, g *graph.Graph, key *sign.Key, e *dataset.Edition, set *figures.Set, note string, before []string, built string, s *Summary) error {
	if err := os.MkdirAll(filepath.Join(built, keysDir), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(built, keysDir, keyFile), key.PublicPEM(), 0o644); err != nil {
		return err
	}
	// The graph holds what is held back too: only what rests on public
	// statements leaves it.
	public := publicOf(e)
	risks := map[string][]graph.Risk{}
	for _, r := range e.Records {
		found, err := g.Risk(ctx, "server:"+r.ID)
		if err != nil {
			return fmt.Errorf("risk of %q: %w", r.ID, err)
		}
		risks[r.ID] = publicRisks(found, public)
	}
	violations, err := violated(ctx, g, e)
	if err != nil {
		return err
	}
	s.Violations = len(violations)
	return site.Build(built, site.Input{
		Edition: e, Figures: set, FiguresNote: note, Risks: risks, Violations: violations,
		Editions: append([]string{e.ID}, before...), KeyID: key.ID(), Version: c.Version,
	})
}

// publicRisks keeps findings that public statements show, and of their
// evidence the public part.
func publicRisks(risks []graph.Risk, public map[string]bool) []graph.Risk {
	var out []graph.Risk
	for _, r := range risks {
		r.Evidence = slices.DeleteFunc(slices.Clone(r.Evidence), func(digest string) bool { return !public[digest] })
		if len(r.Evidence) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// publicOf is the endpoint ids and the statement digests of an edition.
func publicOf(e *dataset.Edition) map[string]bool {
	public := map[string]bool{}
	for _, r := range e.Records {
		public[r.ID], public[r.Digest] = true, true
	}
	return public
}

// violated holds the graph against every built-in policy, as of the edition's
// day, and keeps what rests on public statements alone and passes no server
// that is not in the edition.
func violated(ctx context.Context, g *graph.Graph, e *dataset.Edition) ([]site.Violation, error) {
	all, err := policies.Load("")
	if err != nil {
		return nil, err
	}
	asOf, err := time.Parse(time.DateOnly, e.ID)
	if err != nil {
		return nil, err
	}
	public := publicOf(e)
	var out []site.Violation
	for _, p := range all {
		result, err := p.CheckAt(ctx, g, asOf)
		if err != nil {
			return nil, fmt.Errorf("policy %s: %w", p.ID, err)
		}
		for _, v := range result.Violations {
			if id := publicServer(v, public); id != "" {
				out = append(out, site.Violation{
					Policy: v.Policy, Title: v.Title, Severity: v.Severity, Reason: v.Reason, Remedy: v.Remedy, Path: v.Path, EndpointID: id,
				})
			}
		}
	}
	return out, nil
}

// publicServer is the first server of a violation, "" when anything on its way
// or behind it is not public.
func publicServer(v policies.Violation, public map[string]bool) string {
	held := func(digest string) bool { return !public[digest] }
	if len(v.Evidence) == 0 || slices.ContainsFunc(v.Evidence, held) {
		return ""
	}
	first := ""
	nodes := slices.Clone(v.Nodes)
	for _, s := range v.Steps {
		nodes = append(nodes, s.From, s.To)
	}
	for _, n := range nodes {
		if n.Kind != "server" {
			continue
		}
		if !public[n.Key] {
			return ""
		}
		if first == "" {
			first = n.Key
		}
	}
	return first
}
