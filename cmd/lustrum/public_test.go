package main

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lustrum-mcp/lustrum/crawler/registry"
	"github.com/lustrum-mcp/lustrum/dataset/figures"
	"github.com/lustrum-mcp/lustrum/internal/lab"
	"github.com/parquet-go/parquet-go"
)

// labCensus starts the lab with its registry and returns the arguments of a
// census over it.
func labCensus(t *testing.T, dir string) []string {
	t.Helper()
	servers := lab.Standard()
	var entries http.Handler
	servers = append(servers, lab.Server{Host: demoRegistry, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entries.ServeHTTP(w, r)
	})})
	l, err := lab.Start(servers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	entries = registry.NewHandler(l.Entries())
	ca := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, l.Authority(), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"census", "run", "--registry", "https://" + demoRegistry, "--rate", "0", "--ca-file", ca, "--edition", day,
		"--out", filepath.Join(dir, "out"), "--data", filepath.Join(dir, "data")}
	for _, ns := range lab.Namespaces {
		args = append(args, "--namespace", ns)
	}
	for _, r := range l.Resolve() {
		args = append(args, "--resolve", r)
	}
	return args
}

// TestPublicEditionNamesNoHeldServer takes a census for the public. The lab
// has two servers that must be held back: one whose open tools destroy, one
// whose catalogue is poisoned. Neither name is anywhere in what is published
// or printed, and at least as many healthy servers are left out with them.
func TestPublicEditionNamesNoHeldServer(t *testing.T) {
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	if code := run(labCensus(t, dir), &stdout, &stderr); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	listed := lustrum(t, 0, "disclosure", "list", "--data", filepath.Join(dir, "data"))
	held := []string{"admin.cinder", "poisoned.cinder", "cinder/admin", "cinder/poisoned"}
	for _, name := range held[:2] {
		if !strings.Contains(listed, name) {
			t.Errorf("%s is not held back:\n%s", name, listed)
		}
		if strings.Contains(stdout.String()+stderr.String(), name) {
			t.Errorf("%s is printed", name)
		}
	}
	out := filepath.Join(dir, "out", "current")
	out, err := filepath.EvalSymlinks(out)
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, name := range held {
			if strings.Contains(path, name) || bytes.Contains(raw, []byte(name)) {
				t.Errorf("%s names %s", strings.TrimPrefix(path, out), name)
			}
		}
		if strings.HasSuffix(path, ".parquet") {
			for _, text := range parquetTexts(t, path) {
				for _, name := range held {
					if strings.Contains(text, name) {
						t.Errorf("%s names %s", filepath.Base(path), name)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// Twenty endpoints: two held, at least two healthy ones for cover.
	published := cards(t, out)
	if n := len(published); n > 16 || n < 12 {
		t.Errorf("%d cards of 20 endpoints", n)
	}
	if !strings.Contains(stdout.String(), "not in the edition") {
		t.Errorf("the run does not count what is left out:\n%s", stdout.String())
	}
	if figures.Available {
		lustrum(t, 0, "census", "reproduce", out)
	}
}

// parquetTexts is every text value of a table.
func parquetTexts(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := parquet.NewReader(f)
	defer r.Close()
	var out []string
	rows := make([]parquet.Row, 16)
	for {
		n, err := r.ReadRows(rows)
		for _, row := range rows[:n] {
			for _, v := range row {
				if v.Kind() == parquet.ByteArray {
					out = append(out, v.String())
				}
			}
		}
		if err != nil || n == 0 {
			return out
		}
	}
}
