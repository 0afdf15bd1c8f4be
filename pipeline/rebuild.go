package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/attest/store"
	"github.com/lustrum-mcp/lustrum/graph"
)

// rebuildBatch is how many statements are applied at once.
const rebuildBatch = 500

// RebuildGraph makes the graph of a data directory anew from its statements,
// and puts it in the old one's place when it is whole.
func RebuildGraph(ctx context.Context, data string) (done graph.Applied, err error) {
	if _, err := os.Stat(filepath.Join(data, attest.StatementsDir)); err != nil {
		return done, fmt.Errorf("rebuild the graph: there are no statements in %q: %w", data, err)
	}
	release, err := lock(data)
	if err != nil {
		return done, err
	}
	defer release()
	st, err := store.Open(data)
	if err != nil {
		return done, err
	}
	path := filepath.Join(data, "graph.db")
	next := path + ".new"
	if err := os.RemoveAll(next); err != nil {
		return done, fmt.Errorf("rebuild the graph: %w", err)
	}
	g, err := graph.Open(ctx, next, graph.Options{})
	if err != nil {
		return done, err
	}
	if done, err = applyAll(ctx, g, st); err != nil {
		return done, errors.Join(fmt.Errorf("rebuild the graph: %w", err), g.Close(), os.RemoveAll(next))
	}
	if err := g.Close(); err != nil {
		return done, fmt.Errorf("rebuild the graph: %w", err)
	}
	// The graph is a folder, which no rename replaces. Killed between the two,
	// there is none until the next rebuild or run makes it again.
	if err := errors.Join(os.RemoveAll(path), os.Rename(next, path)); err != nil {
		return done, fmt.Errorf("rebuild the graph: %w", err)
	}
	return done, syncDir(data)
}

func applyAll(ctx context.Context, g *graph.Graph, st *store.Store) (done graph.Applied, err error) {
	var batch []graph.Statement
	apply := func() error {
		if len(batch) == 0 {
			return nil
		}
		some, err := g.Apply(ctx, batch)
		done.Applied += some.Applied
		done.Unchanged += some.Unchanged
		done.Superseded += some.Superseded
		batch = nil
		return err
	}
	err = st.Each(func(digest string, raw, _ []byte) error {
		s, err := attest.Decode(raw)
		if err != nil {
			return fmt.Errorf("statement %s: %w", digest, err)
		}
		if batch = append(batch, graph.Statement{Digest: digest, Statement: s}); len(batch) < rebuildBatch {
			return nil
		}
		return apply()
	})
	if err == nil {
		err = apply()
	}
	return done, err
}
