package graph

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cayleygraph/quad"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// Errors of Find.
var (
	ErrNotFound  = errors.New("the graph holds no such node")
	ErrAmbiguous = errors.New("that names more than one node")
)

// Find resolves what people call a node: "KIND:KEY" as the graph prints it, an
// endpoint URL in any spelling, an endpoint id, or a listing's name, with or
// without "@VERSION", which means the server that is listed so. The error is
// ErrNotFound, or ErrAmbiguous with the candidates.
func (g *Graph) Find(ctx context.Context, ref string) (Node, error) {
	var out []Node
	err := g.view(ctx, func(r *reader) error {
		candidates, err := r.candidates(ctx, ref)
		for i := 0; i < len(candidates) && err == nil; i++ {
			var n Node
			n, err = r.named(ctx, candidates[i])
			out = append(out, n)
		}
		return err
	})
	switch {
	case err != nil:
		return Node{}, fmt.Errorf("find %q: %w", ref, err)
	case len(out) == 0:
		return Node{}, fmt.Errorf("find %q: %w: give KIND:KEY, an endpoint URL or a listing's name%s", ref, ErrNotFound, kindHint(ref))
	case len(out) > 1:
		var names []string
		for _, n := range out[:min(len(out), 5)] {
			names = append(names, fmt.Sprintf("%s:%s (%s)", n.Kind, n.Key, n.Name))
		}
		return Node{}, fmt.Errorf("find %q: %w: %s", ref, ErrAmbiguous, strings.Join(names, ", "))
	}
	return out[0], nil
}

// kindHint helps when what stands before the colon is nearly a kind.
func kindHint(ref string) string {
	kind, _, ok := strings.Cut(ref, ":")
	if _, known := kindOf(kind); !ok || known || strings.HasPrefix(kind, "http") {
		return ""
	}
	if hint := suggest(kind, kindNames()); strings.HasPrefix(hint, "did") {
		return ": " + hint
	}
	return ""
}

func kindNames() []string {
	var out []string
	for _, k := range kinds {
		out = append(out, k.Name)
	}
	return out
}

func (r *reader) candidates(ctx context.Context, ref string) ([]Node, error) {
	if scheme, _, ok := strings.Cut(ref, "://"); ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) {
		return r.byURL(ctx, ref)
	}
	if kind, key, ok := strings.Cut(ref, ":"); ok {
		if _, ok := kindOf(kind); ok {
			return r.keep(ctx, Node{Kind: kind, Key: key})
		}
	}
	if nodes, err := r.keep(ctx, Node{Kind: "server", Key: ref}); err != nil || len(nodes) > 0 {
		return nodes, err
	}
	listings, err := r.keep(ctx, Node{Kind: "listing", Key: ref})
	if err != nil {
		return nil, err
	}
	if len(listings) == 0 {
		links, err := r.links(ctx, quad.Object, text(ref), fieldIRI("name"))
		if err != nil {
			return nil, err
		}
		if listings, err = r.subjects(ctx, links, "listing"); err != nil {
			return nil, err
		}
	}
	return r.listedServers(ctx, listings)
}

// listedServers are the servers behind listings, or the listings when there
// are none.
func (r *reader) listedServers(ctx context.Context, listings []Node) ([]Node, error) {
	var out []Node
	seen := map[string]bool{}
	for _, l := range listings {
		links, err := r.links(ctx, quad.Object, l.iri(), edgeIRI("listed_as"))
		if err != nil {
			return nil, err
		}
		servers, err := r.subjects(ctx, links, "server")
		if err != nil {
			return nil, err
		}
		for _, s := range servers {
			if !seen[s.Key] {
				seen[s.Key] = true
				out = append(out, s)
			}
		}
	}
	if len(out) == 0 {
		return listings, nil
	}
	return out, nil
}

// byURL looks for the endpoint of each transport at a URL, then for anything
// else whose key is that URL.
func (r *reader) byURL(ctx context.Context, raw string) ([]Node, error) {
	var tries []Node
	for _, transport := range []string{target.StreamableHTTP, target.SSE} {
		if e, err := target.New(transport, raw); err == nil {
			tries = append(tries, Node{Kind: "server", Key: e.ID()})
		}
	}
	if out, err := r.keep(ctx, tries...); err != nil || len(out) > 0 {
		return out, err
	}
	return r.keep(ctx, Node{Kind: "issuer", Key: raw}, Node{Kind: "repository", Key: repository(raw)})
}

func (r *reader) keep(ctx context.Context, nodes ...Node) ([]Node, error) {
	var out []Node
	for _, n := range nodes {
		ok, err := r.exists(ctx, n)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, n)
		}
	}
	return out, nil
}

func (r *reader) subjects(ctx context.Context, links []link, kind string) ([]Node, error) {
	if err := r.resolve(ctx, links, 0); err != nil {
		return nil, err
	}
	var out []Node
	seen := map[string]bool{}
	for _, l := range links {
		if n, ok := parseNode(r.name(l[0])); ok && n.Kind == kind && !seen[n.Key] {
			seen[n.Key] = true
			out = append(out, n)
		}
	}
	return out, nil
}
