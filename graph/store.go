package graph

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cayleygraph/cayley/clog"
	cayley "github.com/cayleygraph/cayley/graph"
	"github.com/cayleygraph/cayley/graph/kv"
	"github.com/cayleygraph/cayley/graph/kv/bbolt"
	"github.com/cayleygraph/cayley/graph/kv/btree"
	"github.com/cayleygraph/quad"
	"github.com/gofrs/flock"
)

// Cayley's own indexes don't find the quads of a label, which every
// replacement asks for. Its log lines would stand between ours.
func init() {
	kv.DefaultQuadIndexes = append(kv.DefaultQuadIndexes, kv.QuadIndex{Dirs: []quad.Direction{quad.Label}})
	clog.SetLogger(nil)
}

// storeOptions: without no_bloom each store costs hundreds of megabytes and
// scans itself when it is opened.
var storeOptions = cayley.Options{kv.OptNoBloom: true}

// Options of Open.
type Options struct {
	LockTimeout time.Duration // how long to wait for another process; 0: DefaultLockTimeout, negative: not at all
}

// Graph is an open graph. Its methods may be called from several goroutines;
// one Apply runs at a time, and readers beside it see a superset of what is
// current, never a hole.
type Graph struct {
	path string // directory; empty: in memory
	lock *flock.Flock

	writer sync.Mutex // held by an Apply
	known  map[Node]bool

	mu  sync.RWMutex // held for writing while the store is replaced
	qs  cayley.QuadStore
	bad error // why there is no store

	fail func(step string) error // for tests: called before each transaction
}

// Open opens the graph in the directory path, and makes it when there is none.
// An empty path is a graph in memory. Close it. The error is ErrLocked when
// another process holds it for longer than the time-out.
func Open(ctx context.Context, path string, o Options) (g *Graph, err error) {
	g = &Graph{path: path, known: map[Node]bool{}}
	if path == "" {
		if g.qs, err = cayley.NewQuadStore(btree.Type, "", storeOptions); err != nil {
			return nil, fmt.Errorf("make a graph in memory: %w", err)
		}
		return g, nil
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("open the graph: %q is a file where the graph's directory should be: move it away", path)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("make the graph's directory: %w", err)
	}
	timeout := o.LockTimeout
	if timeout == 0 {
		timeout = DefaultLockTimeout
	}
	if g.lock, err = lock(ctx, path, timeout); err != nil {
		return nil, err
	}
	if g.qs, err = openStore(path); err != nil {
		return nil, errors.Join(err, g.lock.Close())
	}
	return g, nil
}

// openStore opens or makes the file. It answers damage with an error, panics
// of the libraries below included.
func openStore(path string) (qs cayley.QuadStore, err error) {
	defer damage(path, &err)
	err = os.ErrNotExist
	if _, serr := os.Stat(filepath.Join(path, "indexes.bolt")); serr == nil {
		qs, err = cayley.NewQuadStore(bbolt.Type, path, storeOptions)
	}
	// A process that ended between making the file and filling it leaves one
	// that was never initialised.
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, cayley.ErrNotInitialized) {
		if err = cayley.InitQuadStore(bbolt.Type, path, storeOptions); err == nil {
			qs, err = cayley.NewQuadStore(bbolt.Type, path, storeOptions)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the graph %q: %w: if it is damaged, delete the directory and rebuild the graph from the statements", path, err)
	}
	return qs, nil
}

// damage turns a panic of the store into an error. The graph is an index: what
// to do about a damaged one is always the same.
func damage(path string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the graph %q is damaged (%v): delete the directory and rebuild the graph from the statements", path, r)
	}
}

// Close gives the graph back. Nothing is lost without it but the lock's note.
func (g *Graph) Close() error {
	g.writer.Lock()
	defer g.writer.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	var err error
	if g.qs != nil {
		err = g.qs.Close()
	}
	g.qs, g.bad = nil, errors.New("the graph is closed")
	if g.lock != nil {
		err = errors.Join(err, os.Truncate(g.lock.Path(), 0), g.lock.Close())
		g.lock = nil
	}
	return err
}

// view runs a reader on the store.
func (g *Graph) view(ctx context.Context, f func(*reader) error) (err error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.qs == nil {
		return g.bad
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	defer damage(g.path, &err)
	return f(newReader(g.qs))
}

// commit writes quads in one transaction. Adds and removes never share one:
// that corrupts every embedded store of Cayley. After any error the handle
// can't be trusted either, so it is replaced.
func (g *Graph) commit(ctx context.Context, step string, action cayley.Procedure, quads []quad.Quad) error {
	if len(quads) == 0 {
		return nil
	}
	err := ctx.Err()
	if err == nil && g.fail != nil {
		err = g.fail(step)
	}
	if err == nil {
		deltas := make([]cayley.Delta, len(quads))
		for i, q := range quads {
			deltas[i] = cayley.Delta{Quad: q, Action: action}
		}
		err = g.apply(deltas)
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("write %d facts to the graph (%s): %w", len(quads), step, err)
	return errors.Join(err, g.reopen())
}

func (g *Graph) apply(deltas []cayley.Delta) (err error) {
	defer damage(g.path, &err)
	return g.qs.ApplyDeltas(deltas, cayley.IgnoreOpts{IgnoreDup: true, IgnoreMissing: true})
}

// reopen replaces the store handle. A graph in memory can't be: it ends here.
func (g *Graph) reopen() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known = map[Node]bool{}
	err := g.qs.Close()
	g.qs = nil
	if g.path == "" {
		g.bad = errors.New("a write to this graph in memory failed: make a new one")
		return err
	}
	qs, oerr := openStore(g.path)
	if oerr != nil {
		g.bad = oerr
		return errors.Join(err, oerr)
	}
	g.qs = qs
	return err
}
