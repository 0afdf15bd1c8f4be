package graph

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cayleygraph/quad"
)

// ApplySource adds what a source lists. A complete listing replaces what the
// graph holds of that source, and only that; an incomplete one adds and removes
// nothing, and the source is marked so. Applied and Unchanged count entries.
//
// After an error, applying the same listing again repairs what is left.
func (g *Graph) ApplySource(ctx context.Context, s Source) (Applied, error) {
	g.writer.Lock()
	defer g.writer.Unlock()
	var done Applied
	if s.Kind == "" || s.Ref == "" {
		return done, fmt.Errorf("apply source %q %q: a source has a kind and a reference", s.Kind, s.Ref)
	}
	if err := g.settle(ctx); err != nil {
		return done, err
	}
	units, err := entries(s)
	if err != nil {
		return done, fmt.Errorf("apply source %q: %w", s.Ref, err)
	}
	own := sourceFacts(s)
	if err := g.replace(ctx, []*unit{own}, true, &Applied{}); err != nil {
		return done, err
	}
	var round []*unit
	quads := 0
	for _, label := range slices.Sorted(maps.Keys(units)) {
		round = append(round, units[label])
		quads += len(units[label].quads)
		if quads < batchQuads {
			continue
		}
		if err := g.replace(ctx, round, s.Complete, &done); err != nil {
			return done, err
		}
		round, quads = nil, 0
	}
	if err := g.replace(ctx, round, s.Complete, &done); err != nil || !s.Complete {
		return done, err
	}
	err = g.dropEntries(ctx, own.label, units, &done)
	return done, err
}

// entries are the facts of each listing, by label. Listings that name the same
// thing twice are taken together, in an order of their own.
func entries(s Source) (map[quad.IRI]*unit, error) {
	listings := slices.Clone(s.Listings)
	slices.SortFunc(listings, func(a, b Listing) int {
		return cmp.Or(strings.Compare(a.key(), b.key()), strings.Compare(a.Endpoint, b.Endpoint), strings.Compare(a.Transport, b.Transport),
			strings.Compare(a.Status, b.Status), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Repository, b.Repository),
			slices.Compare(a.Packages, b.Packages))
	})
	out := map[quad.IRI]*unit{}
	for _, l := range listings {
		if l.Name == "" {
			return nil, fmt.Errorf("a listing of version %q has no name", l.Version)
		}
		label := entryLabel(s.key(), l)
		if out[label] == nil {
			out[label] = newUnit(label)
		}
		if err := out[label].listing(nodeIRI("source", s.key()), l); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// replace makes the units what the graph holds under their labels; when it is
// not exact, what they don't name stays.
func (g *Graph) replace(ctx context.Context, units []*unit, exact bool, done *Applied) error {
	var adds, old []quad.Quad
	err := g.view(ctx, func(r *reader) error {
		for _, u := range units {
			held, err := r.labelled(ctx, u.label)
			if err != nil {
				return err
			}
			a := difference(u.quads, held)
			var o []quad.Quad
			if exact {
				o = difference(held, u.quads)
			}
			if len(a)+len(o) == 0 {
				done.Unchanged++
			} else {
				done.Applied++
			}
			adds, old = append(adds, a...), append(old, o...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := g.add(ctx, adds, nil, done); err != nil {
		return err
	}
	return g.remove(ctx, old, done)
}

// dropEntries removes the entries of a source that are not among the units.
func (g *Graph) dropEntries(ctx context.Context, source quad.IRI, units map[quad.IRI]*unit, done *Applied) error {
	var gone []quad.IRI
	err := g.view(ctx, func(r *reader) error {
		links, err := r.links(ctx, quad.Object, source, metaOf)
		if err != nil {
			return err
		}
		for chunk := range slices.Chunk(links, batchQuads) {
			if err := r.resolve(ctx, chunk, 0); err != nil {
				return err
			}
			for _, l := range chunk {
				if label, ok := r.name(l[0]).(quad.IRI); ok && units[label] == nil {
					gone = append(gone, label)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(gone)
	for chunk := range slices.Chunk(gone, batchQuads/20) {
		if err := removeEach(ctx, g, chunk, (*reader).labelled, done); err != nil {
			return err
		}
	}
	return nil
}

// difference is what a holds and b does not.
func difference(a, b []quad.Quad) []quad.Quad {
	held := make(map[quad.Quad]bool, len(b))
	for _, q := range b {
		held[q] = true
	}
	var out []quad.Quad
	for _, q := range a {
		if !held[q] {
			out = append(out, q)
		}
	}
	return out
}
