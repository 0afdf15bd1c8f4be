package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	cayley "github.com/cayleygraph/cayley/graph"
	"github.com/cayleygraph/quad"
)

// reader reads the store for one operation. It remembers the names behind
// ids, which never change.
type reader struct {
	qs    cayley.QuadStore
	names map[any]quad.Value
	preds map[quad.IRI]cayley.Ref
	title map[string]string // endpoints by server key
}

// maxNames bounds the names that a reader remembers.
const maxNames = 1 << 19

func newReader(qs cayley.QuadStore) *reader {
	return &reader{qs: qs, names: map[any]quad.Value{}, preds: map[quad.IRI]cayley.Ref{}, title: map[string]string{}}
}

// link is a quad by its ids: subject, predicate, object, label.
type link [4]cayley.Ref

// scan calls f for each quad that has the value in a direction and one of the
// predicates (any when there is none), until f says no. f must not read the
// store, unless it runs for the writer: bbolt stops for ever when a goroutine
// reads inside a read while a writer waits to grow the file.
func (r *reader) scan(ctx context.Context, d quad.Direction, v quad.Value, preds []quad.IRI, f func(link) (bool, error)) error {
	ref, err := r.qs.ValueOf(v)
	if err != nil || ref == nil {
		return unreadable(err)
	}
	var want []any
	for _, p := range preds {
		pr, err := r.predicate(p)
		if err != nil {
			return err
		}
		if pr != nil {
			want = append(want, pr.Key())
		}
	}
	if len(preds) > 0 && len(want) == 0 {
		return nil
	}
	it := r.qs.QuadIterator(d, ref).Iterate()
	defer it.Close() //nolint:errcheck // Err says the same
	for it.Next(ctx) {
		if err := ctx.Err(); err != nil {
			return err
		}
		l, err := r.link(it.Result())
		if err != nil {
			return err
		}
		if len(preds) > 0 && !slices.Contains(want, l[1].Key()) {
			continue
		}
		if more, err := f(l); err != nil || !more {
			return err
		}
	}
	return unreadable(it.Err())
}

func (r *reader) links(ctx context.Context, d quad.Direction, v quad.Value, preds ...quad.IRI) ([]link, error) {
	var out []link
	err := r.scan(ctx, d, v, preds, func(l link) (bool, error) {
		out = append(out, l)
		return true, nil
	})
	return out, err
}

func (r *reader) predicate(p quad.IRI) (cayley.Ref, error) {
	if ref, ok := r.preds[p]; ok {
		return ref, nil
	}
	ref, err := r.qs.ValueOf(p)
	if err != nil {
		return nil, unreadable(err)
	}
	r.preds[p] = ref
	return ref, nil
}

var directions = [4]quad.Direction{quad.Subject, quad.Predicate, quad.Object, quad.Label}

func (r *reader) link(ref cayley.Ref) (link, error) {
	var l link
	for i, d := range directions {
		v, err := r.qs.QuadDirection(ref, d)
		if err != nil {
			return l, unreadable(err)
		}
		if v == nil {
			return l, errDamaged
		}
		l[i] = v
	}
	return l, nil
}

var errDamaged = errors.New("the graph is damaged: a fact has no name: " + remedy)

// unreadable says what to do about an error of the store. A read fails for no
// other reason than a damaged file, or because time is up.
func unreadable(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("the graph is damaged (%w): %s", err, remedy)
}

// all are the ids of every quad.
func (r *reader) all(ctx context.Context) ([]link, error) {
	var out []link
	it := r.qs.QuadsAllIterator().Iterate()
	defer it.Close() //nolint:errcheck // Err says the same
	for it.Next(ctx) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l, err := r.link(it.Result())
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, unreadable(it.Err())
}

// quads resolves links to quads.
func (r *reader) quads(ctx context.Context, links []link) ([]quad.Quad, error) {
	out := make([]quad.Quad, 0, len(links))
	for chunk := range slices.Chunk(links, 10_000) {
		if err := r.resolve(ctx, chunk, 0, 1, 2, 3); err != nil {
			return nil, err
		}
		for _, l := range chunk {
			out = append(out, quad.Quad{Subject: r.name(l[0]), Predicate: r.name(l[1]), Object: r.name(l[2]), Label: r.name(l[3])})
		}
	}
	return out, nil
}

// name is the value behind an id that resolve has looked up.
func (r *reader) name(ref cayley.Ref) quad.Value { return r.names[ref.Key()] }

// resolve looks up the names of the links at the given places, in one batch.
func (r *reader) resolve(ctx context.Context, links []link, places ...int) error {
	if len(r.names) > maxNames {
		clear(r.names)
	}
	var refs []cayley.Ref
	asked := map[any]bool{}
	for _, l := range links {
		for _, p := range places {
			key := l[p].Key()
			if _, ok := r.names[key]; !ok && !asked[key] {
				asked[key] = true
				refs = append(refs, l[p])
			}
		}
	}
	if len(refs) == 0 {
		return nil
	}
	values, err := cayley.ValuesOf(ctx, r.qs, refs)
	if err != nil {
		return unreadable(err)
	}
	for i, v := range values {
		if v == nil {
			return errDamaged
		}
		r.names[refs[i].Key()] = v
	}
	return nil
}

// exists says whether the node has facts.
func (r *reader) exists(ctx context.Context, n Node) (bool, error) {
	found := false
	err := r.scan(ctx, quad.Subject, n.iri(), []quad.IRI{metaKind}, func(link) (bool, error) {
		found = true
		return false, nil
	})
	return found, err
}

// fields reads the stored fields of a node or finding. Of several values, which
// two sources can give, the smallest is taken.
func (r *reader) fields(ctx context.Context, iri quad.IRI, k Kind) (map[string]quad.Value, error) {
	var preds []quad.IRI
	for _, f := range k.Fields {
		if f.From == "" {
			preds = append(preds, fieldIRI(f.Name))
		}
	}
	links, err := r.links(ctx, quad.Subject, iri, preds...)
	if err != nil || len(preds) == 0 {
		return nil, err
	}
	if err := r.resolve(ctx, links, 1, 2); err != nil {
		return nil, err
	}
	out := map[string]quad.Value{}
	for _, l := range links {
		p, _ := r.name(l[1]).(quad.IRI)
		name := strings.TrimPrefix(string(p), "field:")
		if old, ok := out[name]; !ok || quad.StringOf(r.name(l[2])) < quad.StringOf(old) {
			out[name] = r.name(l[2])
		}
	}
	return out, nil
}

// named fills in what people call a node.
func (r *reader) named(ctx context.Context, n Node) (Node, error) {
	n.Name = n.Key
	switch n.Kind {
	case "tool":
		_, n.Name, _ = strings.Cut(n.Key, "/")
	case "server":
		if title, ok := r.title[n.Key]; ok {
			n.Name = title
			return n, nil
		}
		k, _ := kindOf("server")
		endpoint, _ := k.field("endpoint")
		fields, err := r.fields(ctx, n.iri(), Kind{Fields: []Field{endpoint}})
		if err != nil {
			return n, err
		}
		if v, ok := fields["endpoint"]; ok {
			n.Name = quad.ToString(v)
		}
		r.title[n.Key] = n.Name
	}
	return n, nil
}

// nodes lists the nodes of a kind in the order of their keys.
func (r *reader) nodes(ctx context.Context, kind string) ([]Node, error) {
	links, err := r.links(ctx, quad.Object, quad.String(kind), metaKind)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var out []Node
	for chunk := range slices.Chunk(links, 10_000) {
		if err := r.resolve(ctx, chunk, 0); err != nil {
			return nil, err
		}
		for _, l := range chunk {
			if n, ok := parseNode(r.name(l[0])); ok && n.Kind == kind && !seen[n.Key] {
				seen[n.Key] = true
				out = append(out, n)
			}
		}
	}
	slices.SortFunc(out, func(a, b Node) int { return strings.Compare(a.Key, b.Key) })
	return out, nil
}
