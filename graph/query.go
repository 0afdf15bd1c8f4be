package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"github.com/cayleygraph/quad"
)

// QueryOptions say what of the answer is wanted.
type QueryOptions struct {
	Limit int    // rows at most; 0: all
	Count bool   // only the number of rows
	Group string // only the number of rows for each value of this expression, such as "server.auth"
}

// Rows is the answer to a query.
type Rows struct {
	Columns   []string `json:"columns"`             // names of the nodes as conditions call them, filled-in kinds included
	Rows      []Row    `json:"rows,omitempty"`      // in the order of the nodes' keys
	Count     int      `json:"count"`               // rows that match, with Limit at most that many
	Groups    []Group  `json:"groups,omitempty"`    // largest first
	Undecided int      `json:"undecided,omitempty"` // rows left out because a node lacks a field that the condition asks for
	Truncated bool     `json:"truncated,omitempty"` // there are more rows than Limit
}

// Row is one path that matches.
type Row struct {
	Nodes    []Node   `json:"nodes"` // one a column
	Path     []Step   `json:"path"`  // the edges between them; with ->* more than columns
	Evidence []string `json:"evidence"`
}

// Group is the number of rows with a value.
type Group struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// Query returns the paths that match a path expression and a condition in CEL,
// which may be empty.
//
// A path is kinds with arrows between them: "server -> tool". Kinds in between
// are filled in when there is exactly one way ("server -> namespace"); "->*"
// follows any number of inheriting edges, none included ("server ->* check");
// "<-" and "<-*" go the other way; "-NAME->" and "<-NAME-" follow one edge only.
//
// Conditions know each node by its kind (the second of a kind as "server2"), and
// what an edge to a check carries as "finding". A condition that asks for a
// field which a node does not have is undecided, and the row is left out and
// counted: ask has() first to decide it. A kind, edge or field that does not
// exist is an error that suggests the right one.
func (g *Graph) Query(ctx context.Context, path, where string, o QueryOptions) (*Rows, error) {
	q := query{options: o, rows: &Rows{Rows: []Row{}}}
	var err error
	if q.plan, err = parsePath(path); err != nil {
		return nil, err
	}
	if q.where, err = q.plan.compile(where, cel.BoolType); err != nil {
		return nil, err
	}
	if q.group, err = q.plan.compile(o.Group, nil); err != nil {
		return nil, fmt.Errorf("group: %w", err)
	}
	for _, v := range q.plan.nodes {
		q.rows.Columns = append(q.rows.Columns, v.name)
	}
	err = g.view(ctx, func(r *reader) error {
		q.reader = r
		return q.run(ctx)
	})
	if err != nil {
		return nil, fmt.Errorf("query %q: %w", path, err)
	}
	q.summarise()
	return q.rows, nil
}

// Validate says whether Query would take a path and a condition, without asking
// a graph.
func Validate(path, where string) error {
	p, err := parsePath(path)
	if err != nil {
		return err
	}
	_, err = p.compile(where, cel.BoolType)
	return err
}

// query is one query under way.
type query struct {
	*reader
	plan    *plan
	where   *condition
	group   *condition
	options QueryOptions
	rows    *Rows
	groups  map[string]int
}

// binding is a path as far as it was followed.
type binding struct {
	nodes    []Node
	path     []Step
	evidence []string
	vars     map[string]any
	unsure   bool // a part of the condition could not be decided
}

func (q *query) run(ctx context.Context) error {
	nodes, err := q.nodes(ctx, q.plan.first)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if err := q.extend(ctx, binding{}, 0, reached{node: n}, ""); err != nil || q.full() {
			return err
		}
	}
	return nil
}

func (q *query) full() bool { return q.rows.Truncated }

// extend adds a node to a path, decides what can be decided, and goes on.
func (q *query) extend(ctx context.Context, b binding, at int, next reached, f quad.IRI) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n, err := q.named(ctx, next.node)
	if err != nil {
		return err
	}
	vars := make(map[string]any, len(b.vars)+2)
	for name, v := range b.vars {
		vars[name] = v
	}
	vars[q.plan.nodes[at].name] = q.object(ctx, q.plan.nodes[at].kind, n.Key, n.iri())
	for _, v := range q.plan.findings() {
		if v.at == at && f != "" {
			vars[v.name] = q.object(ctx, finding, string(f), f)
		}
	}
	b = binding{
		nodes: append(slices.Clone(b.nodes), n), path: slices.Concat(b.path, next.path),
		evidence: union(b.evidence, next.evidence), vars: vars, unsure: b.unsure,
	}
	switch a, err := q.where.decide(ctx, at, vars); {
	case err != nil:
		return err
	case a == no:
		return nil
	case a == undecided:
		b.unsure = true
	}
	if at == len(q.plan.steps) {
		return q.take(ctx, b)
	}
	return q.follow(ctx, b, at)
}

// follow extends a path by each neighbour that the next step allows.
func (q *query) follow(ctx context.Context, b binding, at int) error {
	s := q.plan.steps[at]
	here := b.nodes[at]
	if s.star {
		return q.followStar(ctx, b, at, s)
	}
	hops, err := q.hops(ctx, here, s.edges, s.back)
	if err != nil {
		return err
	}
	for _, h := range hops {
		if h.to.Kind != s.kind {
			continue
		}
		if h.to, err = q.named(ctx, h.to); err != nil {
			return err
		}
		next := reached{node: here}.then(h, s.back)
		if err := q.extend(ctx, b, at+1, next, h.finding); err != nil || q.full() {
			return err
		}
	}
	return nil
}

// followStar walks inheriting edges; at a check's side of the path the last
// (or first) edge is a finding.
func (q *query) followStar(ctx context.Context, b binding, at int, s step) error {
	here := b.nodes[at]
	type start struct {
		reached
		finding quad.IRI
	}
	starts := []start{{reached: reached{node: here}}}
	if here.Kind == "check" && s.back {
		starts = nil
		hops, err := q.hops(ctx, here, findings, true)
		if err != nil {
			return err
		}
		for _, h := range hops {
			if h.to, err = q.named(ctx, h.to); err != nil {
				return err
			}
			starts = append(starts, start{reached{node: here}.then(h, true), h.finding})
		}
	}
	for _, from := range starts {
		nodes, err := q.walk(ctx, from.node, s.back)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			n.path, n.evidence = slices.Concat(from.path, n.path), union(from.evidence, n.evidence)
			if n.node.Kind == s.kind && len(n.path) > 0 {
				if err := q.extend(ctx, b, at+1, n, from.finding); err != nil || q.full() {
					return err
				}
			}
			if s.kind != "check" || s.back {
				continue
			}
			hops, err := q.hops(ctx, n.node, findings, false)
			if err != nil {
				return err
			}
			for _, h := range hops {
				if err := q.extend(ctx, b, at+1, n.then(h, false), h.finding); err != nil || q.full() {
					return err
				}
			}
		}
	}
	return nil
}

// take counts or keeps a path that matches.
func (q *query) take(ctx context.Context, b binding) error {
	if b.unsure {
		q.rows.Undecided++
		return nil
	}
	if len(q.group.parts) > 0 {
		value, err := q.valueOf(ctx, b)
		if err != nil {
			return err
		}
		if q.groups == nil {
			q.groups = map[string]int{}
		}
		q.groups[value]++
		q.rows.Count++
		return nil
	}
	if q.options.Limit > 0 && q.rows.Count == q.options.Limit && !q.options.Count {
		q.rows.Truncated = true
		return nil
	}
	q.rows.Count++
	if !q.options.Count {
		q.rows.Rows = append(q.rows.Rows, Row{Nodes: b.nodes, Path: b.path, Evidence: b.evidence})
	}
	return nil
}

// valueOf is the value that a row is grouped by, as text; empty when a node
// does not have it.
func (q *query) valueOf(ctx context.Context, b binding) (string, error) {
	v, _, err := q.group.parts[0].program.ContextEval(ctx, b.vars)
	if err != nil {
		if errors.Is(err, errAbsent) {
			return "", nil
		}
		return "", fmt.Errorf("group: %w", err)
	}
	if o, ok := v.(*object); ok {
		return o.key, nil
	}
	return fmt.Sprint(v.Value()), nil
}

func (q *query) summarise() {
	for value, count := range q.groups {
		q.rows.Groups = append(q.rows.Groups, Group{value, count})
	}
	slices.SortFunc(q.rows.Groups, func(a, b Group) int {
		return cmp.Or(b.Count-a.Count, strings.Compare(a.Value, b.Value))
	})
	if n := q.options.Limit; n > 0 && len(q.rows.Groups) > n {
		q.rows.Groups, q.rows.Truncated = q.rows.Groups[:n], true
	}
}

// object is a node or finding for conditions. What an edge carries has its
// status from the edge's name.
func (q *query) object(ctx context.Context, k Kind, key string, iri quad.IRI) *object {
	return &object{kind: k, key: key, load: sync.OnceValues(func() (map[string]quad.Value, error) {
		fields, err := q.fields(ctx, iri, k)
		if err != nil || k.Name != finding.Name {
			return fields, err
		}
		status := "warn"
		if fields["severity"] != nil {
			status = "fail"
		}
		fields["status"] = quad.String(status)
		return fields, nil
	})}
}
