package graph

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cayleygraph/quad"
)

// Risk returns the findings that a node has itself or inherits, worst first,
// each with the shortest path to the node that has it. Findings of one check at
// one node by several statements are one, with the worst severity and all of
// the evidence. For ref see Find.
func (g *Graph) Risk(ctx context.Context, ref string) ([]Risk, error) {
	n, err := g.Find(ctx, ref)
	if err != nil {
		return nil, err
	}
	var out []Risk
	err = g.view(ctx, func(r *reader) error {
		nodes, err := r.walk(ctx, n, false)
		if err != nil {
			return err
		}
		for _, at := range nodes {
			risks, err := r.risksAt(ctx, at)
			if err != nil {
				return err
			}
			out = append(out, risks...)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("risk of %q: %w", ref, err)
	}
	slices.SortStableFunc(out, func(a, b Risk) int {
		return cmp.Or(rank(b.Status, b.Severity)-rank(a.Status, a.Severity), len(a.Path)-len(b.Path),
			strings.Compare(a.Check, b.Check), strings.Compare(a.At.Kind+a.At.Key, b.At.Kind+b.At.Key))
	})
	return out, nil
}

// rank orders findings: critical 4, major 3, minor 2, warn 1.
func rank(status, severity string) int {
	switch {
	case status == "warn":
		return 1
	case severity == "critical":
		return 4
	case severity == "major":
		return 3
	}
	return 2
}

// risksAt are the findings that a node itself has, one a check and status.
func (r *reader) risksAt(ctx context.Context, at reached) ([]Risk, error) {
	hops, err := r.hops(ctx, at.node, findings, false)
	if err != nil {
		return nil, err
	}
	var out []Risk
	byCheck := map[string]int{}
	for _, h := range hops {
		carried, err := r.carried(ctx, h)
		if err != nil {
			return nil, err
		}
		risk := Risk{
			Check: h.to.Key, Status: carried["status"], Severity: carried["severity"],
			At: at.node, Path: at.path, Evidence: h.evidence,
		}
		i, seen := byCheck[risk.Check+" "+risk.Status]
		if !seen {
			byCheck[risk.Check+" "+risk.Status] = len(out)
			out = append(out, risk)
			continue
		}
		out[i].Evidence = union(out[i].Evidence, risk.Evidence)
		if rank(risk.Status, risk.Severity) > rank(out[i].Status, out[i].Severity) {
			out[i].Severity = risk.Severity
		}
	}
	return out, nil
}

// carried is the status and severity of an edge to a check.
func (r *reader) carried(ctx context.Context, h hop) (map[string]string, error) {
	out := map[string]string{"status": "fail"}
	if h.edge.Name == "warns" {
		out["status"] = "warn"
		return out, nil
	}
	fields, err := r.fields(ctx, h.finding, finding)
	if v := fields["severity"]; v != nil {
		out["severity"] = quad.ToString(v)
	}
	return out, err
}

// Reached is a node with the shortest path that leads to or from it.
type Reached struct {
	Node Node   `json:"node"`
	Path []Step `json:"path"` // each step in the direction of its edge
}

// Blast returns the nodes that inherit from a node, nearest first. For a check
// these are the nodes that have it as a finding, and who inherits from them.
func (g *Graph) Blast(ctx context.Context, ref string) ([]Reached, error) {
	n, err := g.Find(ctx, ref)
	if err != nil {
		return nil, err
	}
	var out []Reached
	err = g.view(ctx, func(r *reader) error {
		starts := []reached{{node: n}}
		if n.Kind == "check" {
			if starts, err = r.holders(ctx, n); err != nil {
				return err
			}
		}
		seen := map[[2]string]bool{{n.Kind, n.Key}: true}
		for _, s := range starts {
			nodes, err := r.walk(ctx, s.node, true)
			if err != nil {
				return err
			}
			for _, at := range nodes {
				if id := [2]string{at.node.Kind, at.node.Key}; !seen[id] {
					seen[id] = true
					out = append(out, Reached{Node: at.node, Path: slices.Concat(s.path, at.path)})
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("blast of %q: %w", ref, err)
	}
	slices.SortStableFunc(out, func(a, b Reached) int {
		return cmp.Or(len(a.Path)-len(b.Path), strings.Compare(a.Node.Kind, b.Node.Kind), strings.Compare(a.Node.Key, b.Node.Key))
	})
	return out, nil
}

// holders are the nodes that a check is a finding of.
func (r *reader) holders(ctx context.Context, check Node) ([]reached, error) {
	hops, err := r.hops(ctx, check, findings, true)
	if err != nil {
		return nil, err
	}
	var out []reached
	for _, h := range hops {
		if h.to, err = r.named(ctx, h.to); err != nil {
			return nil, err
		}
		out = append(out, reached{node: check}.then(h, true))
	}
	return out, nil
}
