package policies

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lustrum-mcp/lustrum/graph"
)

// Violation is one place where a policy does not hold. Names in it are the
// servers' own: escape them where they leave.
type Violation struct {
	Policy   string       `json:"policy"`
	Title    string       `json:"title"`
	Severity string       `json:"severity"`
	Path     string       `json:"path"`  // the steps in words
	Nodes    []graph.Node `json:"nodes"` // one for each kind of the policy's path; of a requirement the first
	Steps    []graph.Step `json:"steps"`
	Reason   string       `json:"reason"`
	Remedy   string       `json:"remedy"`
	Evidence []string     `json:"evidence"` // statement digests
}

// Result is what a policy says about a graph.
type Result struct {
	Violations []Violation
	Warnings   []string // exemptions that match nothing
	Undecided  int      // paths that could not be decided, for want of a field: neither violation nor pass
}

// Check returns the policy's violations in a graph, in the order of their
// nodes. An expired exemption exempts nothing and is a violation itself.
func (p *Policy) Check(ctx context.Context, g *graph.Graph) ([]Violation, error) {
	r, err := p.CheckAt(ctx, g, time.Now())
	if err != nil {
		return nil, err
	}
	return r.Violations, nil
}

// CheckAt is Check on a given day, with everything else there is to say.
func (p *Policy) CheckAt(ctx context.Context, g *graph.Graph, now time.Time) (*Result, error) {
	r := &Result{}
	subject, rows, err := p.rows(ctx, g, r)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", p.ID, err)
	}
	exempt := map[string]bool{}
	for _, e := range p.Exempt {
		// The day itself is included.
		if until, err := time.Parse(time.DateOnly, e.Until); err != nil || !now.Before(until.AddDate(0, 0, 1)) {
			v := p.violation(graph.Row{})
			v.Path, v.Reason, v.Remedy = "exemption: "+e.Match.Value, "the exemption ended on "+e.Until, "repair what it was for, or renew it: "+e.Reason
			r.Violations = append(r.Violations, v)
			continue
		}
		matched, err := g.Query(ctx, subject, e.Match.Value, graph.QueryOptions{})
		if err != nil {
			return nil, fmt.Errorf("policy %s: exemption: %w", p.ID, err)
		}
		used := false
		for _, row := range matched.Rows {
			exempt[rowID(row)] = true
			used = used || slices.ContainsFunc(rows, func(other graph.Row) bool { return rowID(other) == rowID(row) })
		}
		if !used {
			r.Warnings = append(r.Warnings, fmt.Sprintf("policy %s: the exemption %q matches no violation: remove it", p.ID, e.Match.Value))
		}
	}
	for _, row := range rows {
		if !exempt[rowID(row)] {
			r.Violations = append(r.Violations, p.violation(row))
		}
	}
	return r, nil
}

// rows are the paths that violate, before exemptions, and the path that
// exemptions are matched against.
func (p *Policy) rows(ctx context.Context, g *graph.Graph, r *Result) (subject string, rows []graph.Row, err error) {
	if p.Forbid != nil {
		found, err := g.Query(ctx, p.Forbid.Path.Value, p.Forbid.Where.Value, graph.QueryOptions{})
		if err != nil {
			return "", nil, err
		}
		r.Undecided = found.Undecided
		return p.Forbid.Path.Value, found.Rows, nil
	}
	subject = firstKind(p.Require.Path.Value)
	all, err := g.Query(ctx, subject, p.Require.For.Value, graph.QueryOptions{})
	if err != nil {
		return "", nil, err
	}
	good, err := g.Query(ctx, p.Require.Path.Value, p.Require.Where.Value, graph.QueryOptions{})
	if err != nil {
		return "", nil, err
	}
	r.Undecided = all.Undecided + good.Undecided
	has := map[string]bool{}
	for _, row := range good.Rows {
		has[row.Nodes[0].Key] = true
	}
	for _, row := range all.Rows {
		if !has[row.Nodes[0].Key] {
			rows = append(rows, row)
		}
	}
	return subject, rows, nil
}

func (p *Policy) violation(row graph.Row) Violation {
	v := Violation{
		Policy: p.ID, Title: p.Title, Severity: p.Severity, Path: words(row), Nodes: row.Nodes, Steps: row.Path,
		Reason: p.Reason, Remedy: p.Remedy, Evidence: row.Evidence,
	}
	if v.Nodes == nil {
		v.Nodes = []graph.Node{}
	}
	if v.Steps == nil {
		v.Steps = []graph.Step{}
	}
	if v.Evidence == nil {
		v.Evidence = []string{}
	}
	return v
}

// words writes a path out: each step in the direction it was walked.
func words(row graph.Row) string {
	if len(row.Nodes) == 0 {
		return ""
	}
	at := row.Nodes[0]
	var b strings.Builder
	b.WriteString(at.Kind + " " + at.Name)
	for _, s := range row.Path {
		if s.From == at {
			fmt.Fprintf(&b, " -%s-> %s %s", s.Edge, s.To.Kind, s.To.Name)
			at = s.To
			continue
		}
		fmt.Fprintf(&b, " <-%s- %s %s", s.Edge, s.From.Kind, s.From.Name)
		at = s.From
	}
	return b.String()
}

func rowID(row graph.Row) string {
	var b strings.Builder
	for _, n := range row.Nodes {
		b.WriteString(n.Kind + "\x00" + n.Key + "\x00")
	}
	for _, s := range row.Path {
		b.WriteString(s.Edge + "\x00" + s.From.Key + "\x00" + s.To.Key + "\x00")
	}
	return b.String()
}
