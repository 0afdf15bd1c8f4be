package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/lustrum-mcp/lustrum/attest/sign"
	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/dataset"
	"github.com/lustrum-mcp/lustrum/dataset/figures"
	"github.com/lustrum-mcp/lustrum/graph"
	"github.com/lustrum-mcp/lustrum/policies"
	"github.com/lustrum-mcp/lustrum/site"
)

// buildSite writes the pages. What they say of risks and policies is asked of
// a graph that holds this edition's public records and nothing else: what is
// held back, or what another census saw, can't show through.
func buildSite(ctx context.Context, c Config, key *sign.Key, e *dataset.Edition, set *figures.Set, note string, before []string, built string, s *Summary) error {
	if err := os.MkdirAll(filepath.Join(built, keysDir), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(built, keysDir, keyFile), key.PublicPEM(), 0o644); err != nil {
		return err
	}
	g, err := editionGraph(ctx, e)
	if err != nil {
		return err
	}
	defer g.Close() //nolint:errcheck // it is only read from here on
	risks := map[string][]graph.Risk{}
	for _, r := range e.Records {
		if risks[r.ID], err = g.Risk(ctx, "server:"+r.ID); err != nil {
			return fmt.Errorf("risk of %q: %w", r.ID, err)
		}
	}
	violations, err := violated(ctx, g, e.ID)
	if err != nil {
		return err
	}
	s.Violations = len(violations)
	return site.Build(built, site.Input{
		Edition: e, Figures: set, FiguresNote: note, Risks: risks, Violations: violations,
		Editions: append([]string{e.ID}, before...), KeyID: key.ID(), Version: c.Version,
	})
}

// editionGraph is a passing graph of an edition's public records and listings.
func editionGraph(ctx context.Context, e *dataset.Edition) (*graph.Graph, error) {
	g, err := graph.Open(ctx, "", graph.Options{})
	if err != nil {
		return nil, err
	}
	var statements []graph.Statement
	for _, r := range e.Records {
		statements = append(statements, graph.Statement{Digest: r.Digest, Statement: r.Statement})
	}
	src := graph.Source{Kind: "registry", Ref: e.Registry, Complete: true}
	for _, l := range e.Listings {
		entry := graph.Listing{Name: l.Name, Version: l.Version, Namespace: l.Namespace, Status: l.Status, Repository: l.Repository}
		if l.EndpointID != "" {
			canonical, err := target.Canonical(l.URL)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("listing %q: %w", l.Name, err), g.Close())
			}
			entry.Transport, entry.Endpoint = l.Transport, canonical
		}
		src.Listings = append(src.Listings, entry)
	}
	_, err = g.Apply(ctx, statements)
	if err == nil {
		_, err = g.ApplySource(ctx, src)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make the edition's graph: %w", err), g.Close())
	}
	return g, nil
}

// violated holds a graph against every built-in policy, as of the edition's
// day.
func violated(ctx context.Context, g *graph.Graph, day string) ([]site.Violation, error) {
	all, err := policies.Load("")
	if err != nil {
		return nil, err
	}
	asOf, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return nil, err
	}
	var out []site.Violation
	for _, p := range all {
		result, err := p.CheckAt(ctx, g, asOf)
		if err != nil {
			return nil, fmt.Errorf("policy %s: %w", p.ID, err)
		}
		for _, v := range result.Violations {
			at := slices.IndexFunc(v.Nodes, func(n graph.Node) bool { return n.Kind == "server" })
			if at < 0 || len(v.Evidence) == 0 {
				continue // not about a record of this edition
			}
			out = append(out, site.Violation{
				Policy: v.Policy, Title: v.Title, Severity: v.Severity, Reason: v.Reason, Remedy: v.Remedy, Path: v.Path, EndpointID: v.Nodes[at].Key,
			})
		}
	}
	return out, nil
}
