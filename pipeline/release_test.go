package pipeline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lustrum-mcp/lustrum/crawler/registry"
	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// built makes a folder like one that publish has filled.
func built(t *testing.T, out, content string) string {
	t.Helper()
	dir, err := os.MkdirTemp(filepath.Join(out, releases), building)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// prepare takes the folder and lets go of it, as a run does.
func prepare(t *testing.T, out string) {
	t.Helper()
	release, err := prepareOut(out)
	if err != nil {
		t.Fatal(err)
	}
	release()
	// Letting go of an empty folder removes it.
	if err := os.MkdirAll(filepath.Join(out, releases), 0o755); err != nil {
		t.Fatal(err)
	}
}

func served(t *testing.T, out string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(out, current, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestInstall(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	prepare(t, out)
	first, changed, err := install(out, built(t, out, "one"), "2026-12-01")
	if err != nil || !changed {
		t.Fatalf("changed %v, %v", changed, err)
	}
	if served(t, out) != "one" {
		t.Errorf("serves %q", served(t, out))
	}
	same, changed, err := install(out, built(t, out, "one"), "2026-12-01")
	if err != nil || changed || same != first {
		t.Errorf("the same content again: %q, changed %v, %v", same, changed, err)
	}
	for _, content := range []string{"two", "three"} {
		if _, changed, err := install(out, built(t, out, content), "2026-12-01"); err != nil || !changed {
			t.Fatalf("changed %v, %v", changed, err)
		}
	}
	if served(t, out) != "three" {
		t.Errorf("serves %q", served(t, out))
	}
	entries, err := os.ReadDir(filepath.Join(out, releases))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 {
		t.Errorf("%d releases are kept, want the current one and the one before", len(entries))
	}
}

// TestInstallAfterEveryCrash puts the folder into each state that a crash can
// leave, and asks that the old release is served until the new one is.
func TestInstallAfterEveryCrash(t *testing.T) {
	states := map[string]func(t *testing.T, out string){
		"half built": func(t *testing.T, out string) { built(t, out, "half") },
		"renamed, not linked": func(t *testing.T, out string) {
			dir := built(t, out, "new")
			digest, err := syncTree(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(dir, filepath.Join(out, releases, "2026-12-01-"+digest[:16])); err != nil {
				t.Fatal(err)
			}
		},
		"link made, not renamed": func(t *testing.T, out string) {
			if err := os.Symlink("nowhere", filepath.Join(out, releases, building+"link")); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, crash := range states {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			prepare(t, out)
			if _, _, err := install(out, built(t, out, "old"), "2026-12-01"); err != nil {
				t.Fatal(err)
			}
			crash(t, out)
			if served(t, out) != "old" {
				t.Errorf("after the crash %q is served", served(t, out))
			}
			prepare(t, out)
			if _, changed, err := install(out, built(t, out, "new"), "2026-12-01"); err != nil || !changed {
				t.Fatalf("changed %v, %v", changed, err)
			}
			if served(t, out) != "new" {
				t.Errorf("after the next run %q is served", served(t, out))
			}
			left, err := filepath.Glob(filepath.Join(out, releases, building+"*"))
			if err != nil || len(left) != 0 {
				t.Errorf("left behind: %q %v", left, err)
			}
		})
	}
}

func TestPrepareOutRefusesAForeignFolder(t *testing.T) {
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "thesis.tex"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := prepareOut(out); err == nil || !strings.Contains(err.Error(), "thesis.tex") {
		t.Errorf("error %v", err)
	}
}

// TestForeignReleasesAreNotTouched puts things where releases stand: each is
// refused by name, and none is removed or followed.
func TestForeignReleasesAreNotTouched(t *testing.T) {
	elsewhere := t.TempDir()
	mine := filepath.Join(elsewhere, "2026-12-01-0123456789abcdef")
	if err := os.Mkdir(mine, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(out string) error{
		"v1":      func(out string) error { return os.MkdirAll(filepath.Join(out, releases, "v1"), 0o755) },
		releases:  func(out string) error { return os.Symlink(elsewhere, filepath.Join(out, releases)) },
		current:   func(out string) error { return os.Mkdir(filepath.Join(out, current), 0o755) },
		"a.txt":   func(out string) error { return os.WriteFile(filepath.Join(out, "a.txt"), nil, 0o644) },
		"2026-1x": func(out string) error { return os.MkdirAll(filepath.Join(out, releases, "2026-1x"), 0o755) },
	} {
		out := t.TempDir()
		if err := put(out); err != nil {
			t.Fatal(err)
		}
		if _, err := prepareOut(out); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(mine); err != nil {
			t.Errorf("%s: what stands elsewhere is gone: %v", name, err)
		}
	}
}

func TestOneRunAtATimeWritesToAFolder(t *testing.T) {
	out := t.TempDir()
	release, err := prepareOut(out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prepareOut(out); err == nil || !strings.Contains(err.Error(), "another run") {
		t.Errorf("a second run: %v", err)
	}
	release()
	prepare(t, out)
}

// TestDamagedReleaseIsReplaced changes a file of the release that is served:
// building the same edition again puts it right.
func TestDamagedReleaseIsReplaced(t *testing.T) {
	out := t.TempDir()
	prepare(t, out)
	path, _, err := install(out, built(t, out, "right"), "2026-12-01")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "index.html"), []byte("wrong"), 0o644); err != nil {
		t.Fatal(err)
	}
	again, changed, err := install(out, built(t, out, "right"), "2026-12-01")
	if err != nil || again != path || !changed || served(t, out) != "right" {
		t.Errorf("%q, changed %v, serves %q, %v", again, changed, served(t, out), err)
	}
}

func TestSpread(t *testing.T) {
	var jobs []job
	for _, url := range []string{"https://a.example/1", "https://a.example/2", "https://a.example/3", "https://b.example/1", "https://c.example/1"} {
		e, err := target.New(target.StreamableHTTP, url)
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, job{Remote: registry.Remote{Endpoint: e}})
	}
	var got []string
	for _, j := range spread(jobs) {
		got = append(got, j.Endpoint.URL)
	}
	want := []string{"https://a.example/1", "https://b.example/1", "https://c.example/1", "https://a.example/2", "https://a.example/3"}
	if !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
}
