package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lustrum-mcp/lustrum/dataset/figures"
	"github.com/lustrum-mcp/lustrum/internal/lab"
)

const day = "2026-12-01"

// card is what the published JSON of a server says.
type card struct {
	Endpoint string
	Outcome  string
	Auth     struct{ State string }
	Server   struct{ Era string }
	Score    *struct {
		Grade string
		Caps  []string
	}
	Catalogue *struct{ Tools []struct{ Name string } }
	Findings  []struct{ ID, Status, Severity string }
}

func (c card) tools() []string {
	var names []string
	if c.Catalogue != nil {
		for _, tool := range c.Catalogue.Tools {
			names = append(names, tool.Name)
		}
	}
	return names
}

func (c card) grade() string {
	if c.Score == nil {
		return ""
	}
	return c.Score.Grade
}

func (c card) has(id, status, severity string) bool {
	for _, f := range c.Findings {
		if f.ID == id && f.Status == status && f.Severity == severity {
			return true
		}
	}
	return false
}

// cards reads the published record of every endpoint, by host.
func cards(t *testing.T, site string) map[string]card {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(site, "servers", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]card{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var c card
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		host := strings.Split(strings.SplitN(c.Endpoint, "://", 2)[1], "/")[0]
		out[host] = c
	}
	return out
}

// TestDemo takes the demo's census, and holds each card against what the lab
// knows of its server.
func TestDemo(t *testing.T) {
	dir := t.TempDir()
	site := filepath.Join(dir, "site", "current")
	text := lustrum(t, 0, "demo", "--out", dir, "--edition", day)
	got := cards(t, site)
	listed := 0
	for _, s := range lab.Standard() {
		if s.Path == "" {
			continue
		}
		listed++
		c, ok := got[s.Host]
		if !ok {
			t.Errorf("%s has no card", s.Host)
			continue
		}
		if names := c.tools(); strings.Join(names, " ") != strings.Join(s.Tools, " ") {
			t.Errorf("%s: tools %q, the server lists %q", s.Host, names, s.Tools)
		}
	}
	if len(got) != listed {
		t.Errorf("%d cards for %d listed servers", len(got), listed)
	}

	for host, want := range map[string]struct{ auth, era string }{
		"clean.atlas.example":   {"open", "dual"},
		"modern.atlas.example":  {"open", "modern"},
		"legacy.atlas.example":  {"open", "legacy"},
		"feed.atlas.example":    {"open", "legacy"},
		"half.borealis.example": {"open", "discover-only-legacy"},
		"guarded.atlas.example": {"oauth", "none"},
		"lost.borealis.example": {"protected", "none"},
		"gone.borealis.example": {"unreachable", "none"},
	} {
		c := got[host]
		if era := c.Server.Era; c.Auth.State != want.auth || (era != want.era && (want.era != "none" || era != "")) {
			t.Errorf("%s: auth %q, era %q; want %q, %q", host, c.Auth.State, era, want.auth, want.era)
		}
	}
	for host, want := range map[string]string{
		"clean.atlas.example": "A", "modern.atlas.example": "A", "guarded.atlas.example": "A",
		"admin.cinder.example": "F", "plain.cinder.example": "F", "poisoned.cinder.example": "F", "expired.borealis.example": "F",
	} {
		if grade := got[host].grade(); grade != want {
			t.Errorf("%s: grade %q, want %q", host, grade, want)
		}
	}
	for host, id := range map[string]string{
		"admin.cinder.example":     "auth.unauthenticated_tools",
		"plain.cinder.example":     "net.scheme",
		"poisoned.cinder.example":  "catalog.text.instructions",
		"expired.borealis.example": "net.tls",
		"gone.borealis.example":    "net.tcp",
		"empty.cinder.example":     "catalog.empty",
	} {
		if !got[host].has(id, "fail", "critical") {
			t.Errorf("%s: no critical failure of %s", host, id)
		}
	}
	if c := got["clean.atlas.example"]; c.Score == nil || len(c.Score.Caps) != 0 {
		t.Errorf("a clean server is capped: %+v", c.Score)
	}
	for _, f := range got["clean.atlas.example"].Findings {
		if f.Status == "fail" {
			t.Errorf("a clean server fails %s", f.ID)
		}
	}
	if !strings.Contains(text, "checked 20, already checked 0") {
		t.Errorf("the demo does not say what it checked:\n%s", text)
	}

	t.Run("again", func(t *testing.T) { again(t, dir, site) })
	t.Run("reproduce", func(t *testing.T) { reproduce(t, site) })
	t.Run("rebuild", func(t *testing.T) { rebuild(t, filepath.Join(dir, "data")) })
	t.Run("next edition", func(t *testing.T) { nextEdition(t, dir, site) })
}

func again(t *testing.T, dir, site string) {
	before := treeOf(t, site)
	release, err := os.Readlink(site)
	if err != nil {
		t.Fatal(err)
	}
	text := lustrum(t, 0, "demo", "--out", dir, "--edition", day)
	for _, want := range []string{"applied 0, unchanged 20", "checked 0, already checked 20", "unchanged " + filepath.Join(dir, "site", release)} {
		if !strings.Contains(text, want) {
			t.Errorf("the second run does not say %q:\n%s", want, text)
		}
	}
	if treeOf(t, site) != before {
		t.Error("the second run published other bytes")
	}
}

// reproduce proves an edition, and notices one changed byte in every file of
// the release. The message names the file, or the statement that it is.
func reproduce(t *testing.T, site string) {
	if !figures.Available {
		t.Skip("built without cgo: figures can't be computed")
	}
	lustrum(t, 0, "census", "reproduce", site)
	root, err := filepath.EvalSymlinks(site)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		// Of each kind of file in each folder one stands for all.
		kind := filepath.Dir(rel) + filepath.Ext(rel)
		if strings.HasPrefix(rel, "statements") {
			kind = "statements" + strings.TrimLeft(filepath.Base(rel), "0123456789abcdef")
		}
		if seen[kind]++; seen[kind] > 1 && filepath.Dir(rel) != "." {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		changed := bytes.Clone(raw)
		changed[len(changed)/2] ^= 1
		if err := os.WriteFile(path, changed, 0o644); err != nil {
			return err
		}
		defer os.WriteFile(path, raw, 0o644)
		var stdout, stderr bytes.Buffer
		code := run([]string{"census", "reproduce", site}, &stdout, &stderr)
		if strings.HasPrefix(rel, "keys") {
			// A changed key may be no key at all, or not the one that signed.
			if code == 0 {
				t.Errorf("a changed byte in %s goes unnoticed", rel)
			}
			return nil
		}
		named := strings.Contains(stdout.String(), filepath.ToSlash(rel)) || (strings.HasPrefix(rel, "release.json") && strings.Contains(stdout.String(), "release"))
		if code != 2 || !named {
			t.Errorf("a changed byte in %s: exit %d, named %v\n%s%s", rel, code, named, stdout.String(), stderr.String())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"..html", "servers.html", "servers.json", "assets.css", "statements.json", "statements.json.sigstore.json"} {
		if seen[kind] == 0 {
			t.Errorf("no file of the kind %s was changed: %v", kind, seen)
		}
	}
	t.Run("a file more", func(t *testing.T) {
		more := filepath.Join(root, "servers", "more.html")
		if err := os.WriteFile(more, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(more)
		if text := lustrum(t, 2, "census", "reproduce", site); !strings.Contains(text, "servers/more.html") {
			t.Errorf("the file is not named:\n%s", text)
		}
	})
	t.Run("a file less", func(t *testing.T) {
		less := filepath.Join(root, "method.html")
		if err := os.Rename(less, less+".away"); err != nil {
			t.Fatal(err)
		}
		defer os.Rename(less+".away", less)
		if text := lustrum(t, 2, "census", "reproduce", site); !strings.Contains(text, "method.html") {
			t.Errorf("the file is not named:\n%s", text)
		}
	})
	lustrum(t, 0, "census", "reproduce", site)
}

// rebuild makes the graph anew, listings included, and compares every fact.
func rebuild(t *testing.T, data string) {
	before := lustrum(t, 0, "graph", "export", "--data", data)
	if !strings.Contains(before, "example.atlas/clean") {
		t.Error("the graph does not know the listings")
	}
	lustrum(t, 0, "graph", "rebuild", "--data", data)
	if after := lustrum(t, 0, "graph", "export", "--data", data); after != before {
		t.Error("the rebuilt graph is another one")
	}
}

// nextEdition adds an edition and keeps the one before it as it was.
func nextEdition(t *testing.T, dir, site string) {
	old := filepath.Join("editions", "edition="+day)
	before := treeOf(t, filepath.Join(site, old))
	lustrum(t, 0, "demo", "--out", dir, "--edition", "2026-12-08")
	if after := treeOf(t, filepath.Join(site, old)); after != before {
		t.Error("a new edition changed the one before it")
	}
	raw, err := os.ReadFile(filepath.Join(site, "editions", "edition=2026-12-08", "edition.json"))
	if err != nil {
		t.Fatal(err)
	}
	var e struct {
		Predicate struct{ Previous string }
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	if len(e.Predicate.Previous) != 64 {
		t.Errorf("the new edition names %q as the one before it", e.Predicate.Previous)
	}
}

// TestKilled kills a run with no warning at moments spread over its length:
// what is published is nothing or a whole edition, and the next run finishes
// with the same cards.
func TestKilled(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	start := func(dir string) *exec.Cmd {
		cmd := exec.Command(program, "demo", "--out", dir, "--edition", day)
		cmd.Env = append(os.Environ(), "LUSTRUM_TEST_RUN=1")
		return cmd
	}
	began := time.Now()
	whole := t.TempDir()
	if out, err := start(whole).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	length := time.Since(began)
	want := len(cards(t, filepath.Join(whole, "site", "current")))

	dir := t.TempDir()
	current := filepath.Join(dir, "site", "current")
	const kills = 8
	for i := range kills {
		cmd := start(dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-time.After(length * time.Duration(i+1) / kills):
			cmd.Process.Kill()
			<-ended
		case err := <-ended:
			if err != nil {
				t.Fatalf("run %d: %v", i, err)
			}
		}
		if _, err := os.Stat(current); err == nil && figures.Available {
			lustrum(t, 0, "census", "reproduce", current)
		}
	}
	if out, err := start(dir).CombinedOutput(); err != nil {
		t.Fatalf("the run after the last kill: %v\n%s", err, out)
	}
	if got := len(cards(t, current)); got != want {
		t.Errorf("%d cards after being killed, %d undisturbed", got, want)
	}
	if figures.Available {
		lustrum(t, 0, "census", "reproduce", current)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "site", "releases", ".building-*")); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}
