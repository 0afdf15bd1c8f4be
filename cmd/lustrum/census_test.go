package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lustrum-mcp/lustrum/crawler/registry"
)

// TestRegistryThatIsNone runs against servers that answer something else: one
// line, exit 1, nothing half-written.
func TestRegistryThatIsNone(t *testing.T) {
	for name, body := range map[string]string{
		"garbage":   `{"servers":[{"server"`,
		"page":      "<!doctype html><title>Welcome</title>",
		"array":     `[1,2,3]`,
		"no list":   `{"error":"moved"}`,
		"escape":    "\x1b[2J{",
		"too large": `{"servers":[` + strings.Repeat(" ", 20<<20) + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Write([]byte(body))
			}))
			defer s.Close()
			dir := t.TempDir()
			var stdout, stderr bytes.Buffer
			code := run([]string{"census", "run", "--registry", s.URL, "--namespace", "io.github.example",
				"--out", filepath.Join(dir, "out"), "--data", filepath.Join(dir, "data")}, &stdout, &stderr)
			if code != 1 || stdout.Len() != 0 {
				t.Errorf("exit %d, printed %q", code, stdout.String())
			}
			text := stderr.String()
			if strings.Count(strings.TrimSuffix(text, "\n"), "\n") != 0 || !strings.HasPrefix(text, "lustrum: ") || !strings.Contains(text, s.URL) {
				t.Errorf("not one line that names the registry: %q", text)
			}
			if strings.Contains(text, "\x1b") {
				t.Errorf("an escape sequence reached the terminal: %q", text)
			}
			if _, err := os.Lstat(filepath.Join(dir, "out", "current")); err == nil {
				t.Error("something was published")
			}
		})
	}
}

// TestCorruptedStore changes a stored statement: the next run says which file
// it is and publishes nothing new.
func TestCorruptedStore(t *testing.T) {
	dir := t.TempDir()
	lustrum(t, 0, "demo", "--out", dir, "--edition", day)
	stored, err := filepath.Glob(filepath.Join(dir, "data", "statements", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var path string
	for _, p := range stored {
		if !strings.HasSuffix(p, ".sigstore.json") {
			path = p
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 1
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	before := treeOf(t, filepath.Join(dir, "site", "current"))
	var stdout, stderr bytes.Buffer
	if code := run([]string{"demo", "--out", dir, "--edition", day}, &stdout, &stderr); code != 1 {
		t.Errorf("exit %d", code)
	}
	if !strings.Contains(stderr.String(), filepath.Base(path)) {
		t.Errorf("the damaged file is not named: %q", stderr.String())
	}
	if treeOf(t, filepath.Join(dir, "site", "current")) != before {
		t.Error("what is published changed")
	}
}

// TestListRealSlice lists one publisher of the real registry and counts for
// itself, from the same file, what must be listed.
func TestListRealSlice(t *testing.T) {
	data := os.Getenv("LUSTRUM_TEST_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(data, "registry-2026-01-11.jsonl.gz"))
	if err != nil {
		t.Skip("the real registry data is not here (set LUSTRUM_TEST_DATA to its folder):", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var entries []json.RawMessage
	names := map[string]bool{}
	inSlice := 0
	lines := bufio.NewReader(z)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var e struct {
				Server struct{ Name string }
			}
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(e.Server.Name, "ai.smithery/") {
				inSlice++
				names[e.Server.Name] = true
			}
			entries = append(entries, json.RawMessage(line))
		}
		if err != nil {
			break
		}
	}
	if inSlice == 0 {
		t.Fatal("the file holds no entry of ai.smithery")
	}
	s := httptest.NewServer(registry.NewHandler(entries))
	defer s.Close()
	text := lustrum(t, 0, "census", "run", "--registry", s.URL, "--namespace", "ai.smithery", "--list")
	listed := map[string]bool{}
	endpoints := 0
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) > 3 && strings.HasPrefix(fields[0], "ai.smithery/") {
			listed[fields[0]] = true
			if fields[len(fields)-1] == "check" {
				endpoints++
			}
		} else if strings.Contains(line, "/") && len(fields) > 3 {
			t.Errorf("outside the slice: %q", line)
		}
	}
	if len(listed) != len(names) {
		t.Errorf("%d names listed, the file holds %d", len(listed), len(names))
	}
	leftOut := 0
	for _, m := range regexp.MustCompile(`(?m)^ *(\d+) left out: (.*)$`).FindAllStringSubmatch(text, -1) {
		var n int
		fmt.Sscan(m[1], &n)
		if m[2] != "outside the namespace" {
			leftOut += n
		}
	}
	if endpoints+leftOut != inSlice {
		t.Errorf("%d to check and %d left out, the file holds %d entries of the slice", endpoints, leftOut, inSlice)
	}
}
