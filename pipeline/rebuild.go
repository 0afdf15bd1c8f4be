package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/attest/store"
	"github.com/lustrum-mcp/lustrum/graph"
)

// rebuildBatch is how many statements are applied at once.
const rebuildBatch = 500

// RebuildGraph makes the graph of a data directory anew from its statements
// and listings, and puts it in the old one's place when it is whole.
func RebuildGraph(ctx context.Context, data string) (done graph.Applied, err error) {
	if _, err := os.Stat(filepath.Join(data, attest.StatementsDir)); err != nil {
		return done, fmt.Errorf("rebuild the graph: there are no statements in %q: %w: run a census with this --data first", data, err)
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
	return rebuild(ctx, data, st)
}

// rebuild makes the graph beside the place where it belongs and moves it there
// when it is whole.
func rebuild(ctx context.Context, data string, st *store.Store) (done graph.Applied, err error) {
	path := graphPath(data)
	next := path + ".new"
	if err := os.RemoveAll(next); err != nil {
		return done, fmt.Errorf("rebuild the graph: %w", err)
	}
	g, err := graph.Open(ctx, next, graph.Options{})
	if err != nil {
		return done, err
	}
	done, err = applyAll(ctx, g, st)
	if err == nil {
		err = applySources(ctx, g, data)
	}
	if err != nil {
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

func graphPath(data string) string { return filepath.Join(data, "graph.db") }

// updateGraph applies a run's statements and its listing. A graph that is not
// there is made from everything there is, of other slices too.
func updateGraph(ctx context.Context, data string, st *store.Store, statements []graph.Statement, src graph.Source) (done graph.Applied, err error) {
	path := graphPath(data)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return rebuild(ctx, data, st)
	}
	g, err := graph.Open(ctx, path, graph.Options{})
	if err != nil {
		return done, err
	}
	done, err = g.Apply(ctx, statements)
	if err == nil {
		_, err = g.ApplySource(ctx, src)
	}
	if err = errors.Join(err, g.Close()); err != nil {
		return done, fmt.Errorf("apply this run to the graph: %w: if the graph is damaged, delete %q, and the next run makes it again", err, path)
	}
	return done, nil
}

// keepSource keeps the newest listing of a slice for a rebuild.
func keepSource(c Config, src graph.Source) error {
	raw, err := json.Marshal(src)
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(c.Data, "sources", c.slice()+".json"), raw, 0o600); err != nil {
		return fmt.Errorf("keep the listing: %w", err)
	}
	return nil
}

// applySources applies the newest listing of every slice.
func applySources(ctx context.Context, g *graph.Graph, data string) error {
	dir := filepath.Join(data, "sources")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, d := range entries {
		if filepath.Ext(d.Name()) != ".json" {
			continue
		}
		path := filepath.Join(dir, d.Name())
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var src graph.Source
		if err := json.Unmarshal(raw, &src); err != nil {
			return fmt.Errorf("the kept listing %q is damaged: %w: delete it, and the next run of its slice makes it again", path, err)
		}
		if _, err := g.ApplySource(ctx, src); err != nil {
			return err
		}
	}
	return nil
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
