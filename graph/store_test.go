package graph

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTwoOpens asks for one file twice: the second is told who holds it, and
// gets it as soon as the first is closed.
func TestTwoOpens(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "graph.db")
	g := disk(t, dir)
	apply(t, g, statement("https://a.example.com/mcp", "2026-01-01T00:00:00.000Z"))
	want := export(t, g)
	for _, timeout := range []time.Duration{-1, time.Millisecond} {
		_, err := Open(context.Background(), dir, Options{LockTimeout: timeout})
		if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "held by process ") {
			t.Errorf("time-out %s: %v", timeout, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, dir, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if got := export(t, disk(t, dir)); got != want {
		t.Error("the graph is another after it was opened again")
	}
	if err := g.Export(context.Background(), &strings.Builder{}); err == nil {
		t.Error("a closed graph answers")
	}
	if _, err := g.Apply(context.Background(), nil); err == nil {
		t.Error("a closed graph takes statements")
	}
}

func TestDamagedStore(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"garbage":   func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("garbage ", 4096)), 0o600) },
		"truncated": func(p string) error { return os.Truncate(p, 100) },
		"emptied":   func(p string) error { return os.Truncate(p, 0) },
		"directory": func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "graph.db")
			g := disk(t, dir)
			apply(t, g, statement("https://a.example.com/mcp", "2026-01-01T00:00:00.000Z"))
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
			if err := damage(filepath.Join(dir, storeFile)); err != nil {
				t.Fatal(err)
			}
			_, err := Open(context.Background(), dir, Options{LockTimeout: -1})
			if err == nil || !strings.Contains(err.Error(), "rebuild the graph from the statements") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v", err)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "graph.db")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), file, Options{}); err == nil || !strings.Contains(err.Error(), "is a file") {
		t.Errorf("a file in the directory's place: %v", err)
	}
}

// TestFailedWrite leaves a graph that goes on, without what failed.
func TestFailedWrite(t *testing.T) {
	g := memory(t)
	apply(t, g, statement("https://b.example.com/mcp", "2026-01-01T00:00:00.000Z"))
	want := export(t, g)
	g.fail = func(string) error { return errors.New("no") }
	s := statement("https://a.example.com/mcp", "2026-01-01T00:00:00.000Z")
	if _, err := g.Apply(context.Background(), []Statement{s}); err == nil {
		t.Fatal("no error")
	}
	g.fail = nil
	if got := export(t, g); got != want {
		t.Error("a failed write left something")
	}
	apply(t, g, s)
	dir := g.path
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a passing graph left its directory: %v", err)
	}
}

// TestReadersBesideAWriter asks while statements replace each other: there is
// never a moment without the server's tool.
func TestReadersBesideAWriter(t *testing.T) {
	g := disk(t, filepath.Join(t.TempDir(), "graph.db"))
	apply(t, g, statement("https://a.example.com/mcp", "2026-01-01T00:00:00.000Z", tools("read")))
	stop, done := make(chan struct{}), make(chan error, 2)
	for range 2 {
		go func() {
			for {
				select {
				case <-stop:
					done <- nil
					return
				default:
				}
				rows, err := g.Query(context.Background(), "server -> tool", "", QueryOptions{})
				if err == nil && rows.Count == 0 {
					err = errors.New("a hole")
				}
				if err != nil {
					done <- err
					return
				}
			}
		}()
	}
	for day := 2; day < 10; day++ {
		apply(t, g, statement("https://a.example.com/mcp", "2026-01-0"+string(rune('0'+day))+"T00:00:00.000Z", tools("read")))
	}
	close(stop)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
