package graph

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cayleygraph/cayley/clog"
	cayley "github.com/cayleygraph/cayley/graph"
	"github.com/cayleygraph/cayley/graph/kv"
	"github.com/cayleygraph/cayley/graph/kv/bbolt"
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
	path string // directory
	temp bool   // it is removed on Close
	lock *flock.Flock

	writer sync.Mutex // held by an Apply
	known  map[Node]bool

	mu  sync.RWMutex // held for writing while the store is replaced
	qs  cayley.QuadStore
	bad error // why there is no store

	broken atomic.Bool // the store panicked

	fail func(step string) error // for tests: called before each transaction
}

// Open opens the graph in the directory path, and makes it when there is none.
// An empty path is a passing graph, in a directory of its own that Close
// removes: Cayley's backends in memory are no choice, since one is not safe to
// read and write at once, and the other (kv/btree) panics when keys are set
// after others were deleted. The error is ErrLocked when another process holds
// the graph for longer than the time-out.
func Open(ctx context.Context, path string, o Options) (g *Graph, err error) {
	if path == "" {
		return openPassing()
	}
	g = &Graph{path: path, known: map[Node]bool{}}
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
	if g.qs, err = openStore(path, storeOptions); err != nil {
		return nil, errors.Join(err, g.lock.Close())
	}
	return g, nil
}

// openPassing makes a graph that nobody will open again: nothing waits for the
// disk.
func openPassing() (*Graph, error) {
	dir, err := os.MkdirTemp("", "lustrum-graph-")
	if err != nil {
		return nil, fmt.Errorf("make a passing graph: %w", err)
	}
	g := &Graph{path: dir, temp: true, known: map[Node]bool{}}
	if g.qs, err = openStore(dir, g.storeOptions()); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return g, nil
}

func (g *Graph) storeOptions() cayley.Options {
	if !g.temp {
		return storeOptions
	}
	o := maps.Clone(storeOptions)
	o["nosync"] = true
	return o
}

// storeFile is the name that Cayley gives its file.
const storeFile = "indexes.bolt"

// openStore opens or makes the file. It answers damage with an error, panics
// of the libraries below included.
func openStore(path string, o cayley.Options) (qs cayley.QuadStore, err error) {
	defer guard(path, &err, nil)()
	info, err := os.Stat(filepath.Join(path, storeFile))
	switch {
	case errors.Is(err, os.ErrNotExist):
		err = makeStore(path)
	case err == nil && info.Mode().IsRegular() && info.Size() == 0:
		err = fmt.Errorf("%q is empty", storeFile) // the store would fill it anew, and answer that there is nothing
	case err == nil && !info.Mode().IsRegular():
		err = fmt.Errorf("%q is no file", storeFile)
	}
	if err == nil {
		qs, err = cayley.NewQuadStore(bbolt.Type, path, o)
	}
	if err != nil {
		return nil, fmt.Errorf("open the graph %q: %w: if it is damaged, %s", path, err, remedy)
	}
	return qs, nil
}

// makeStore makes the file aside and moves it in place when it is whole: Cayley
// fills a new one in several steps, takes a half-filled one for an old format
// without our index, and never lets go of one that it could not read.
func makeStore(path string) error {
	next, err := os.MkdirTemp(path, "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(next) //nolint:errcheck // empty by then, or of no use
	if err := cayley.InitQuadStore(bbolt.Type, next, storeOptions); err != nil {
		return err
	}
	return os.Rename(filepath.Join(next, storeFile), filepath.Join(path, storeFile))
}

// remedy is what to do about a damaged graph: it is an index of the statements.
const remedy = "delete its directory and rebuild the graph from the statements (lustrum graph rebuild)"

// guard makes a fault in the file's memory map, such as a page beyond a
// truncated file, a panic of this goroutine. It is deferred as
// defer guard(path, &err, broken)(), and turns panics of the store into an
// error and a note in broken, unless that is nil.
func guard(path string, err *error, broken *atomic.Bool) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			if broken != nil {
				broken.Store(true)
			}
			*err = fmt.Errorf("the graph %q is damaged (%v): %s", path, r, remedy)
		}
	}
}

// Close gives the graph back. Nothing is lost without it but the lock's note.
func (g *Graph) Close() error {
	g.writer.Lock()
	defer g.writer.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	err := g.closeStore()
	g.bad = errors.New("the graph is closed")
	if g.lock != nil {
		err = errors.Join(err, os.Truncate(g.lock.Path(), 0), g.lock.Close())
		g.lock = nil
	}
	if g.temp {
		err = errors.Join(err, os.RemoveAll(g.path))
	}
	return err
}

// closeStore gives the store back, unless it panicked: it then waits for ever
// for the transaction that nobody ended. Such a one is left alone, and stays
// locked until the program ends.
func (g *Graph) closeStore() error {
	qs := g.qs
	g.qs = nil
	if qs == nil || g.broken.Load() {
		return nil
	}
	return qs.Close()
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
	defer guard(g.path, &err, &g.broken)()
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
		err = g.apply(action, deltas)
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("write %d facts to the graph (%s): %w", len(quads), step, err)
	return errors.Join(err, g.reopen())
}

func (g *Graph) apply(action cayley.Procedure, deltas []cayley.Delta) (err error) {
	if action == cayley.Delete {
		// A reader holds ids between two looks at the store. Adds leave them
		// valid, removes don't.
		g.mu.Lock()
		defer g.mu.Unlock()
	}
	defer guard(g.path, &err, &g.broken)()
	return g.qs.ApplyDeltas(deltas, cayley.IgnoreOpts{IgnoreDup: true, IgnoreMissing: true})
}

// reopen replaces the store handle.
func (g *Graph) reopen() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known = map[Node]bool{}
	err := g.closeStore()
	if g.broken.Load() {
		g.bad = fmt.Errorf("the graph %q is damaged: %s", g.path, remedy)
		return err // the caller has one that says how
	}
	qs, oerr := openStore(g.path, g.storeOptions())
	if oerr != nil {
		g.bad = oerr
		return errors.Join(err, oerr)
	}
	g.qs = qs
	return err
}
