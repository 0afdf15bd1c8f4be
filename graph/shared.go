package graph

import (
	"context"

	"github.com/cayleygraph/quad"
)

// maxKnown bounds the shared nodes that are remembered as existing.
const maxKnown = 1 << 17

// missing returns the facts that the store does not hold.
func (r *reader) missing(ctx context.Context, facts []quad.Quad) ([]quad.Quad, error) {
	var out []quad.Quad
	held := map[quad.Quad]bool{}
	looked := map[quad.Value]bool{}
	for _, q := range facts {
		if !looked[q.Label] {
			looked[q.Label] = true
			links, err := r.links(ctx, quad.Label, q.Label)
			if err != nil {
				return nil, err
			}
			quads, err := r.quads(ctx, links)
			if err != nil {
				return nil, err
			}
			for _, h := range quads {
				held[h] = true
			}
		}
		if !held[q] {
			held[q] = true
			out = append(out, q)
		}
	}
	return out, nil
}

// withShared appends to new facts those that follow from the names of shared
// nodes they mention.
func (g *Graph) withShared(ctx context.Context, r *reader, facts []quad.Quad) ([]quad.Quad, error) {
	for i := 0; i < len(facts); i++ { // grows: a host brings its domain
		n, ok := sharedNode(facts[i])
		if !ok || g.known[n] {
			continue
		}
		exists, err := r.exists(ctx, n)
		if err != nil {
			clear(g.known) // what was noted will not be written
			return nil, err
		}
		if len(g.known) >= maxKnown {
			clear(g.known)
		}
		g.known[n] = true
		if !exists {
			facts = append(facts, derived(n).quads...)
		}
	}
	return facts, nil
}

// sharedNode is the shared node that an edge points to.
func sharedNode(q quad.Quad) (Node, bool) {
	n, ok := parseNode(q.Object)
	if !ok {
		return n, false
	}
	k, _ := kindOf(n.Kind)
	n.Name = ""
	return n, k.Shared
}

// orphans are the derived facts of shared nodes that nothing names any more
// once the old facts are gone.
func (g *Graph) orphans(ctx context.Context, r *reader, old []quad.Quad) ([]quad.Quad, error) {
	going := make(map[quad.Quad]bool, len(old))
	for _, q := range old {
		going[q] = true
	}
	var out []quad.Quad
	done := map[Node]bool{}
	for work := old; len(work) > 0; {
		var next []quad.Quad
		for _, q := range work {
			n, ok := sharedNode(q)
			if !ok || done[n] {
				continue
			}
			done[n] = true
			named, err := r.namedByOther(ctx, n, going)
			if err != nil {
				return nil, err
			}
			if named {
				continue
			}
			delete(g.known, n)
			quads, err := r.labelled(ctx, derived(n).label)
			if err != nil {
				return nil, err
			}
			for _, d := range quads {
				going[d] = true
				// What this one named is to be looked at (again).
				if m, ok := sharedNode(d); ok {
					delete(done, m)
				}
			}
			next = append(next, quads...)
		}
		out = append(out, next...)
		work = next
	}
	return out, nil
}

// namedByOther says whether a quad that is not going points to the node.
func (r *reader) namedByOther(ctx context.Context, n Node, going map[quad.Quad]bool) (bool, error) {
	found := false
	err := r.scan(ctx, quad.Object, n.iri(), nil, func(l link) (bool, error) {
		quads, err := r.quads(ctx, []link{l})
		if err != nil {
			return false, err
		}
		found = !going[quads[0]]
		return !found, nil
	})
	return found, err
}
