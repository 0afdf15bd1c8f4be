package graph

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBitRot damages the file in ways that a disk does. Whatever is left, the
// program goes on, and an error says what to do.
func TestBitRot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "graph.db")
	g := disk(t, dir)
	for _, host := range []string{"a", "b", "c"} {
		apply(t, g, statement("https://"+host+".example.com/mcp", "2026-01-01T00:00:00.000Z"))
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, storeFile))
	if err != nil {
		t.Fatal(err)
	}
	dice := rand.New(rand.NewPCG(1, 2))
	page := os.Getpagesize()
	refused, answered := 0, 0
	for i := range 150 {
		data := append([]byte(nil), whole...)
		switch i % 3 {
		case 0:
			data = data[:dice.IntN(len(data))]
		case 1:
			clear(data[dice.IntN(len(data)/page)*page:][:page])
		case 2:
			for range 200 {
				data[dice.IntN(len(data))] ^= 1 << dice.IntN(8)
			}
		}
		// A directory each: a file whose damage is met halfway stays locked until
		// the program ends.
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, storeFile), data, 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		g, err := Open(ctx, dir, Options{LockTimeout: -1})
		if err == nil {
			_, err = g.Query(ctx, "server -> tool", "", QueryOptions{})
			if closed := g.Close(); err == nil {
				err = closed
			}
		}
		cancel()
		switch {
		case err == nil:
			answered++
		case !strings.Contains(err.Error(), "lustrum graph rebuild"):
			t.Errorf("damage %d: %v", i, err)
		default:
			refused++
		}
	}
	if t.Logf("%d refused, %d answered", refused, answered); refused == 0 || answered == 0 {
		t.Error("the damage shows nothing")
	}
}
