package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	cayley "github.com/cayleygraph/cayley/graph"
	"github.com/cayleygraph/quad"
)

// batchQuads is how many facts are written in one transaction, measured to be
// the fastest. A statement is never split.
const batchQuads = 20_000

// Apply adds statements. What the graph holds afterwards depends on the set of
// statements ever applied: of each server the newest statement (finished_at,
// then digest) is current, and its facts replace those of the one before. A
// digest that was applied before changes nothing.
//
// On an error, batches before the failed one are in, and applying the same
// statements again repairs the rest.
func (g *Graph) Apply(ctx context.Context, statements []Statement) (done Applied, err error) {
	g.writer.Lock()
	defer g.writer.Unlock()
	if err := g.settle(ctx); err != nil {
		return done, err
	}
	fresh, err := g.unknown(ctx, statements, &done)
	if err != nil {
		return done, err
	}
	b := batch{}
	for _, id := range slices.Sorted(maps.Keys(fresh)) {
		if err := g.plan(ctx, &b, id, fresh[id], &done); err != nil {
			return done, err
		}
		if len(b.adds) >= batchQuads {
			if err := g.write(ctx, &b, &done); err != nil {
				return done, err
			}
			b = batch{}
		}
	}
	err = g.write(ctx, &b, &done)
	return done, err
}

// unknown returns the statements whose digest was never applied, by server.
func (g *Graph) unknown(ctx context.Context, statements []Statement, done *Applied) (map[string][]Statement, error) {
	fresh := map[string][]Statement{}
	seen := map[string]bool{}
	err := g.view(ctx, func(r *reader) error {
		for _, s := range statements {
			if s.Statement == nil || len(s.Digest) != 64 || strings.Trim(s.Digest, "0123456789abcdef") != "" {
				return fmt.Errorf("apply statement %q: it has no content, or its digest is no SHA-256 in hex", s.Digest)
			}
			known, err := r.applied(ctx, s.Digest)
			if err != nil {
				return err
			}
			if known || seen[s.Digest] {
				done.Unchanged++
				continue
			}
			seen[s.Digest] = true
			e, err := endpointOf(s.Statement)
			if err != nil {
				return fmt.Errorf("apply statement %q: %w", s.Digest, err)
			}
			fresh[e.ID()] = append(fresh[e.ID()], s)
		}
		return nil
	})
	return fresh, err
}

// batch is what one round of transactions writes.
type batch struct {
	adds    []quad.Quad // facts
	notes   []quad.Quad // that the digests are pending
	servers []string
	digests map[string]string // digest to server
}

// stamp orders the statements of a server.
type stamp struct{ finished, digest string }

func (a stamp) compare(b stamp) int {
	return cmp.Or(strings.Compare(a.finished, b.finished), strings.Compare(a.digest, b.digest))
}

// plan puts the newest of a server's new statements into the batch, unless the
// graph holds a newer one.
func (g *Graph) plan(ctx context.Context, b *batch, server string, fresh []Statement, done *Applied) error {
	newest := slices.MaxFunc(fresh, func(a, c Statement) int { return stampOf(a).compare(stampOf(c)) })
	if b.digests == nil {
		b.digests = map[string]string{}
	}
	for _, s := range fresh {
		b.digests[s.Digest] = server
	}
	done.Applied += len(fresh)
	done.Superseded += len(fresh) - 1
	var held []stamp
	err := g.view(ctx, func(r *reader) (err error) {
		held, err = r.stamps(ctx, server)
		return err
	})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(held, func(s stamp) bool { return s.compare(stampOf(newest)) > 0 }) {
		done.Superseded++
		return nil
	}
	u, err := statementFacts(newest.Digest, newest.Statement)
	if err != nil {
		return fmt.Errorf("apply statement %q: %w", newest.Digest, err)
	}
	b.adds = append(b.adds, u.quads...)
	b.notes = append(b.notes, pendingQuad(newest.Digest))
	b.servers = append(b.servers, server)
	return nil
}

func stampOf(s Statement) stamp { return stamp{s.Statement.Predicate.FinishedAt, s.Digest} }

// write makes a batch true: first everything that is new, in one transaction,
// then away with what it replaces, in another, then the digests. Until the last
// step the new statements are noted as pending, so that whatever a crash leaves
// is finished by the next apply.
func (g *Graph) write(ctx context.Context, b *batch, done *Applied) error {
	var adds []quad.Quad
	err := g.view(ctx, func(r *reader) (err error) {
		adds, err = r.missing(ctx, b.adds)
		return err
	})
	if err != nil {
		return err
	}
	if err := g.add(ctx, adds, b.notes, done); err != nil {
		return err
	}
	return g.finish(ctx, b.servers, b.digests, b.notes, done)
}

// add writes facts and notes, with what follows from the names of new shared
// nodes, in one transaction.
func (g *Graph) add(ctx context.Context, facts, notes []quad.Quad, done *Applied) error {
	err := g.view(ctx, func(r *reader) (err error) {
		facts, err = g.withShared(ctx, r, facts)
		return err
	})
	if err != nil {
		return err
	}
	if err := g.commit(ctx, "add", cayley.Add, slices.Concat(facts, notes)); err != nil {
		return err
	}
	done.Added += len(facts)
	return nil
}

// finish is write after the adds.
func (g *Graph) finish(ctx context.Context, servers []string, digests map[string]string, notes []quad.Quad, done *Applied) error {
	err := removeEach(ctx, g, servers, (*reader).replaced, done)
	if err != nil {
		return err
	}
	var records []quad.Quad
	for _, digest := range slices.Sorted(maps.Keys(digests)) {
		records = append(records, appliedQuad(digest, digests[digest]))
	}
	if err := g.commit(ctx, "record", cayley.Add, records); err != nil {
		return err
	}
	return g.commit(ctx, "settle", cayley.Delete, notes)
}

// removeEach takes away the facts that find names for each of the names.
func removeEach[N any](ctx context.Context, g *Graph, names []N, find func(*reader, context.Context, N) ([]quad.Quad, error), done *Applied) error {
	var old []quad.Quad
	err := g.view(ctx, func(r *reader) error {
		for _, name := range names {
			quads, err := find(r, ctx, name)
			if err != nil {
				return err
			}
			old = append(old, quads...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return g.remove(ctx, old, done)
}

// remove takes facts away, with the shared nodes that nothing names any more,
// in one transaction.
func (g *Graph) remove(ctx context.Context, old []quad.Quad, done *Applied) error {
	var orphans []quad.Quad
	err := g.view(ctx, func(r *reader) (err error) {
		orphans, err = g.orphans(ctx, r, old)
		return err
	})
	if err != nil {
		return err
	}
	all := slices.Concat(old, orphans)
	if err := g.commit(ctx, "remove", cayley.Delete, all); err != nil {
		return err
	}
	done.Removed += len(all)
	return nil
}

// settle finishes what a crash or an error left.
func (g *Graph) settle(ctx context.Context) error {
	digests := map[string]string{}
	var notes []quad.Quad
	err := g.view(ctx, func(r *reader) error {
		links, err := r.links(ctx, quad.Object, pending, metaState)
		if err != nil || len(links) == 0 {
			return err
		}
		if notes, err = r.quads(ctx, links); err != nil {
			return err
		}
		for _, q := range notes {
			digest := strings.TrimPrefix(string(q.Subject.(quad.IRI)), "applied:")
			server, err := r.serverOf(ctx, digest)
			if err != nil {
				return err
			}
			digests[digest] = server
		}
		return nil
	})
	if err != nil || len(notes) == 0 {
		return err
	}
	servers := slices.Compact(slices.Sorted(maps.Values(digests)))
	if err := g.finish(ctx, servers, digests, notes, &Applied{}); err != nil {
		return fmt.Errorf("finish an interrupted apply: %w", err)
	}
	return nil
}

func appliedIRI(digest string) quad.IRI { return quad.IRI("applied:" + digest) }

func appliedQuad(digest, server string) quad.Quad {
	return quad.Quad{Subject: appliedIRI(digest), Predicate: metaOf, Object: quad.String(server), Label: appliedIRI(digest)}
}

func pendingQuad(digest string) quad.Quad {
	return quad.Quad{Subject: appliedIRI(digest), Predicate: metaState, Object: pending, Label: appliedIRI(digest)}
}

func (r *reader) applied(ctx context.Context, digest string) (bool, error) {
	links, err := r.links(ctx, quad.Subject, appliedIRI(digest), metaOf)
	return len(links) > 0, err
}

// stamps are the statements whose facts the graph holds for a server: one, or
// two after a crash.
func (r *reader) stamps(ctx context.Context, server string) ([]stamp, error) {
	links, err := r.links(ctx, quad.Subject, nodeIRI("server", server), edgeIRI("attested_by"))
	if err != nil {
		return nil, err
	}
	if err := r.resolve(ctx, links, 2); err != nil {
		return nil, err
	}
	k, _ := kindOf("attestation")
	var out []stamp
	for _, l := range links {
		n, ok := parseNode(r.name(l[2]))
		if !ok {
			return nil, errDamaged
		}
		fields, err := r.fields(ctx, n.iri(), k)
		if err != nil {
			return nil, err
		}
		finished, _ := fields["finished_at"].(quad.String)
		out = append(out, stamp{string(finished), n.Key})
	}
	return out, nil
}

// replaced are the facts of a server's statements that are not the newest.
func (r *reader) replaced(ctx context.Context, server string) ([]quad.Quad, error) {
	stamps, err := r.stamps(ctx, server)
	if err != nil || len(stamps) < 2 {
		return nil, err
	}
	newest := slices.MaxFunc(stamps, stamp.compare)
	var out []quad.Quad
	for _, s := range stamps {
		if s == newest {
			continue
		}
		quads, err := r.labelled(ctx, nodeIRI("attestation", s.digest))
		if err != nil {
			return nil, err
		}
		out = append(out, quads...)
	}
	return out, nil
}

// labelled are the quads under all parts of a label.
func (r *reader) labelled(ctx context.Context, base quad.IRI) ([]quad.Quad, error) {
	var out []quad.Quad
	for n := 0; ; n++ {
		links, err := r.links(ctx, quad.Label, part(base, n))
		if err != nil || len(links) == 0 {
			return out, err
		}
		quads, err := r.quads(ctx, links)
		if err != nil {
			return nil, err
		}
		out = append(out, quads...)
	}
}

func (r *reader) serverOf(ctx context.Context, digest string) (string, error) {
	links, err := r.links(ctx, quad.Object, nodeIRI("attestation", digest), edgeIRI("attested_by"))
	if err != nil {
		return "", err
	}
	if err := r.resolve(ctx, links, 0); err != nil {
		return "", err
	}
	for _, l := range links {
		if n, ok := parseNode(r.name(l[0])); ok && n.Kind == "server" {
			return n.Key, nil
		}
	}
	return "", errors.New("the graph notes a statement as pending that it does not hold: delete the graph's directory and rebuild it")
}
