package graph

import (
	"context"
	"slices"
	"strings"

	"github.com/cayleygraph/quad"
)

// hop is one edge from a node: where it leads, what it carries and who says so.
type hop struct {
	edge     Edge
	to       Node
	finding  quad.IRI // the node that carries status and severity, or ""
	evidence []string // statement digests, sorted
}

// hops follows edges from a node, forwards or back, and returns each neighbour
// once an edge (findings: once each), in the order of edge and key.
func (r *reader) hops(ctx context.Context, n Node, along []Edge, back bool) ([]hop, error) {
	var out []hop
	plain := map[quad.IRI]Edge{}
	for _, e := range along {
		here := e.From
		if back {
			here = e.To
		}
		switch {
		case here != n.Kind:
		case e.Via != "":
			hops, err := r.joined(ctx, n, e)
			if err != nil {
				return nil, err
			}
			out = append(out, hops...)
		case e.Finding && back:
			// collected below, from the check's side
			plain[toCheck] = e
		default:
			plain[edgeIRI(e.Name)] = e
		}
	}
	preds := make([]quad.IRI, 0, len(plain))
	for p := range plain {
		preds = append(preds, p)
	}
	if len(preds) > 0 {
		hops, err := r.plainHops(ctx, n, along, preds, back)
		if err != nil {
			return nil, err
		}
		out = append(out, hops...)
	}
	return merge(out), nil
}

func (r *reader) plainHops(ctx context.Context, n Node, along []Edge, preds []quad.IRI, back bool) ([]hop, error) {
	from, there := quad.Subject, 2
	if back {
		from, there = quad.Object, 0
	}
	links, err := r.links(ctx, from, n.iri(), preds...)
	if err != nil {
		return nil, err
	}
	if err := r.resolve(ctx, links, 1, there, 3); err != nil {
		return nil, err
	}
	var out []hop
	for _, l := range links {
		other, p := r.name(l[there]), r.name(l[1])
		if iri, ok := other.(quad.IRI); ok && strings.HasPrefix(string(iri), "finding:") {
			hops, err := r.findingHops(ctx, n, along, iri, p, back)
			if err != nil {
				return nil, err
			}
			out = append(out, hops...)
			continue
		}
		to, ok := parseNode(other)
		if !ok {
			continue
		}
		e, ok := edgeBetween(along, p, n.Kind, to.Kind, back)
		if !ok {
			continue
		}
		out = append(out, hop{edge: e, to: to, evidence: digests(evidence(r.name(l[3])))})
	}
	return out, nil
}

// findingHops passes through the node that an edge to a check is kept as.
func (r *reader) findingHops(ctx context.Context, n Node, along []Edge, f quad.IRI, p quad.Value, back bool) ([]hop, error) {
	var links []link
	var err error
	there := 2
	if back {
		there = 0
		links, err = r.links(ctx, quad.Object, f, edgeIRI("fails"), edgeIRI("warns"))
	} else {
		links, err = r.links(ctx, quad.Subject, f, toCheck)
	}
	if err != nil {
		return nil, err
	}
	if err := r.resolve(ctx, links, 1, there, 3); err != nil {
		return nil, err
	}
	var out []hop
	for _, l := range links {
		if back {
			p = r.name(l[1])
		}
		to, ok := parseNode(r.name(l[there]))
		if !ok {
			continue
		}
		if e, ok := edgeBetween(along, p, n.Kind, to.Kind, back); ok {
			out = append(out, hop{edge: e, to: to, finding: f, evidence: digests(evidence(r.name(l[3])))})
		}
	}
	return out, nil
}

// joined finds the nodes of other servers with the same value of a field.
func (r *reader) joined(ctx context.Context, n Node, e Edge) ([]hop, error) {
	k, _ := kindOf(n.Kind)
	fields, err := r.fields(ctx, n.iri(), k)
	if err != nil || fields[e.Via] == nil {
		return nil, err
	}
	links, err := r.links(ctx, quad.Object, fields[e.Via], fieldIRI(e.Via))
	if err != nil {
		return nil, err
	}
	if err := r.resolve(ctx, links, 0, 3); err != nil {
		return nil, err
	}
	own, _, _ := strings.Cut(n.Key, "/")
	var out []hop
	for _, l := range links {
		to, ok := parseNode(r.name(l[0]))
		if !ok || to.Kind != e.To || strings.HasPrefix(to.Key, own+"/") {
			continue
		}
		out = append(out, hop{edge: e, to: to, evidence: digests(evidence(r.name(l[3])))})
	}
	return out, nil
}

// edgeBetween is the edge with this predicate between these kinds.
func edgeBetween(along []Edge, p quad.Value, here, there string, back bool) (Edge, bool) {
	if back {
		here, there = there, here
	}
	iri, _ := p.(quad.IRI)
	i := slices.IndexFunc(along, func(e Edge) bool {
		return edgeIRI(e.Name) == iri && e.From == here && e.To == there
	})
	if i < 0 {
		return Edge{}, false
	}
	return along[i], true
}

func digests(d string) []string {
	if d == "" {
		return nil
	}
	return []string{d}
}

// merge takes hops that several sources give together and sorts them.
func merge(hops []hop) []hop {
	slices.SortStableFunc(hops, func(a, b hop) int { return strings.Compare(a.id(), b.id()) })
	var out []hop
	for _, h := range hops {
		if n := len(out); n > 0 && out[n-1].id() == h.id() {
			out[n-1].evidence = union(out[n-1].evidence, h.evidence)
			continue
		}
		out = append(out, h)
	}
	return out
}

func (h hop) id() string {
	return h.edge.Name + "\x00" + h.to.Kind + "\x00" + h.to.Key + "\x00" + string(h.finding)
}

func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// edgesWhere picks edges of the schema.
func edgesWhere(f func(Edge) bool) []Edge {
	var out []Edge
	for _, e := range edges {
		if f(e) {
			out = append(out, e)
		}
	}
	return out
}

// inheriting are the edges that risk comes along; findings are where it ends.
var (
	inheriting = edgesWhere(func(e Edge) bool { return e.Inherits || e.Passage })
	findings   = edgesWhere(func(e Edge) bool { return e.Finding })
)

// reached is a node that a walk came to, by the shortest path.
type reached struct {
	node     Node
	path     []Step
	evidence []string
}

// walk follows inheriting edges from a node, as far as they go, nearest first.
// The first of the result is the node itself. Back walks to those who inherit.
func (r *reader) walk(ctx context.Context, from Node, back bool) ([]reached, error) {
	out := []reached{{node: from}}
	seen := map[[2]string]bool{{from.Kind, from.Key}: true}
	for i := 0; i < len(out); i++ {
		hops, err := r.hops(ctx, out[i].node, inheriting, back)
		if err != nil {
			return nil, err
		}
		for _, h := range hops {
			id := [2]string{h.to.Kind, h.to.Key}
			if seen[id] {
				continue
			}
			seen[id] = true
			if h.to, err = r.named(ctx, h.to); err != nil {
				return nil, err
			}
			out = append(out, out[i].then(h, back))
		}
	}
	return out, nil
}

// then is the path one hop further. A step always reads in the direction of
// its edge.
func (a reached) then(h hop, back bool) reached {
	s := Step{From: a.node, Edge: h.edge.Name, To: h.to}
	if back {
		s.From, s.To = s.To, s.From
	}
	return reached{node: h.to, path: append(slices.Clone(a.path), s), evidence: union(a.evidence, h.evidence)}
}
