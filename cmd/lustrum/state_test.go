package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// refused runs a command that must fail with one line that says a word.
func refused(t *testing.T, word string, args ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(args, &stdout, &stderr); code != 1 {
		t.Errorf("lustrum %q: exit %d, want 1\n%s", args[:2], code, stdout.String())
	}
	// Progress comes on lines of its own before the error.
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "lustrum: ") || !strings.Contains(last, word) {
		t.Errorf("the error does not say %q: %q", word, last)
	}
}

// stored finds one stored statement, not a bundle.
func stored(t *testing.T, data string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(data, "statements", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(paths, func(p string) bool { return !strings.HasSuffix(p, ".sigstore.json") })
	if i < 0 {
		t.Fatal("no statement is stored")
	}
	return paths[i]
}

// TestStateThatSomebodyTouched damages the private state in every way that
// would lead to an edition which nobody could verify.
func TestStateThatSomebodyTouched(t *testing.T) {
	dir := t.TempDir()
	args := labCensus(t, dir)
	data, out := filepath.Join(dir, "data"), filepath.Join(dir, "out")
	args = append(args, "--audience", "owner")
	lustrum(t, 0, args...)
	whole := treeOf(t, filepath.Join(out, "current"))
	unchanged := func() {
		t.Helper()
		if treeOf(t, filepath.Join(out, "current")) != whole {
			t.Error("what is published changed")
		}
	}

	t.Run("the graph is gone", func(t *testing.T) {
		before := lustrum(t, 0, "graph", "export", "--data", data)
		if err := os.RemoveAll(filepath.Join(data, "graph.db")); err != nil {
			t.Fatal(err)
		}
		lustrum(t, 0, args...)
		if after := lustrum(t, 0, "graph", "export", "--data", data); after != before {
			t.Error("the graph that was made again is another one")
		}
		unchanged()
	})
	t.Run("the key is gone", func(t *testing.T) {
		key := filepath.Join(data, "keys", "signing.pem")
		if err := os.Rename(key, key+".away"); err != nil {
			t.Fatal(err)
		}
		refused(t, "restore it", args...)
		unchanged()
		if err := os.Rename(key+".away", key); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a bundle is another one", func(t *testing.T) {
		path := stored(t, data) + ".sigstore.json"
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
		refused(t, "bundle", args...)
		unchanged()
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a statement was taken away", func(t *testing.T) {
		path := stored(t, data)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path + ".sigstore.json"); err != nil {
			t.Fatal(err)
		}
		if text := lustrum(t, 0, args...); !strings.Contains(text, "checked 1, already checked 19") {
			t.Errorf("its server is not checked anew:\n%s", text)
		}
		whole = treeOf(t, filepath.Join(out, "current"))
	})
	t.Run("a page was changed", func(t *testing.T) {
		page := filepath.Join(out, "current", "index.html")
		if err := os.WriteFile(page, []byte("<h1>A</h1>"), 0o644); err != nil {
			t.Fatal(err)
		}
		lustrum(t, 0, args...)
		unchanged()
	})
}

// TestOneFolderOneCensus keeps other censuses out of a published folder, and
// one census the same whatever else its data directory sees.
func TestOneFolderOneCensus(t *testing.T) {
	dir := t.TempDir()
	args := append(labCensus(t, dir), "--audience", "owner")
	out := filepath.Join(dir, "out")
	only := func(args []string, flag, value string) []string {
		args = slices.Clone(args)
		args[slices.Index(args, flag)+1] = value
		return args
	}
	var narrow []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--namespace" && args[i+1] != "example.atlas" {
			i++
			continue
		}
		narrow = append(narrow, args[i])
	}
	lustrum(t, 0, args...)
	whole := treeOf(t, filepath.Join(out, "current"))

	refused(t, "another --out", narrow...)
	refused(t, "another key", only(args, "--data", filepath.Join(dir, "data2"))...)
	refused(t, "comes before it", only(args, "--edition", "2026-11-30")...)

	// A narrower census from the same data directory, to a folder of its own.
	lustrum(t, 0, only(narrow, "--out", filepath.Join(dir, "out[1]"))...)
	refused(t, "comes before it", only(only(narrow, "--out", filepath.Join(dir, "out[1]")), "--edition", "2026-11-30")...)
	text := lustrum(t, 0, args...)
	if treeOf(t, filepath.Join(out, "current")) != whole {
		t.Errorf("another census changed this one:\n%s", text)
	}
	// The registry in another spelling is the same registry.
	text = lustrum(t, 0, only(args, "--registry", "HTTPS://"+strings.ToUpper(demoRegistry)+":443/")...)
	if !strings.Contains(text, "checked 0, already checked 20") || treeOf(t, filepath.Join(out, "current")) != whole {
		t.Errorf("another spelling of the registry is another census:\n%s", text)
	}
}
