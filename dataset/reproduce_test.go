package dataset

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/attest/sign"
	"github.com/lustrum-mcp/lustrum/dataset/figures"
)

func reproduce(t *testing.T, root string, o ReproduceOptions) *Reproduction {
	t.Helper()
	if o.Now.IsZero() {
		o.Now = now
	}
	r, err := Reproduce(t.Context(), root, o)
	must(t, err)
	return r
}

func item(t *testing.T, r *Reproduction, kind, name string) Item {
	t.Helper()
	for _, i := range r.Items {
		if i.Kind == kind && i.Name == name {
			return i
		}
	}
	t.Fatalf("no %s %q among %+v", kind, name, r.Items)
	return Item{}
}

func TestReproduceAgrees(t *testing.T) {
	root, dir, key := publish(t, fixture(t))
	link := filepath.Join(t.TempDir(), "current")
	must(t, os.Symlink(root, link))
	for _, path := range []string{root, dir, link} {
		r := reproduce(t, path, ReproduceOptions{Key: key})
		if r.Different() {
			t.Errorf("%s: %+v", path, r.Items)
		}
		if got := strings.Join(r.Editions, " "); got != "2026-01-11" {
			t.Errorf("editions %q", got)
		}
		own, err := figures.Definitions()
		must(t, err)
		for _, d := range own {
			if !figures.Available {
				break
			}
			if i := item(t, r, Figure, d.Name); i.Outcome != Same || i.Detail != "" {
				t.Errorf("%+v", i)
			}
		}
		for _, i := range r.Items {
			if i.Outcome == NotAsked && figures.Available {
				t.Errorf("not asked: %+v", i)
			}
		}
		if figures.Available && len(r.Notes) > 0 {
			t.Errorf("notes: %q", r.Notes)
		}
	}
	r := reproduce(t, root, ReproduceOptions{})
	if r.Different() || item(t, r, Criterion, "signature").Outcome != Same || !strings.Contains(strings.Join(r.Notes, " "), "not whose they are") {
		t.Errorf("with the published key: %+v", r)
	}
	must(t, os.RemoveAll(filepath.Join(root, "keys")))
	r = reproduce(t, root, ReproduceOptions{})
	if r.Different() || item(t, r, Criterion, "signature").Outcome != NotAsked || !strings.Contains(strings.Join(r.Notes, " "), "give --key") {
		t.Errorf("without any key: %+v", r)
	}
}

func TestReproduceKnowsOtherKeys(t *testing.T) {
	root, _, _ := publish(t, fixture(t))
	other, err := sign.LoadOrMake(filepath.Join(t.TempDir(), "keys"))
	must(t, err)
	r := reproduce(t, root, ReproduceOptions{Key: other.PublicPEM()})
	if item(t, r, Criterion, "signature").Outcome != Different || !r.Different() {
		t.Errorf("signed by somebody else: %+v", r.Items)
	}
}

func TestReproduceCannot(t *testing.T) {
	root, _, key := publish(t, fixture(t))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name, root, want string
		ctx              context.Context
		key              []byte
	}{
		{"an empty folder", t.TempDir(), "name a published folder", t.Context(), key},
		{"no folder", filepath.Join(root, "none"), "no such file", t.Context(), key},
		{"no key", root, "PEM", t.Context(), []byte("x")},
		{"stopped", root, "context canceled", ended, key},
	} {
		if r, err := Reproduce(c.ctx, c.root, ReproduceOptions{Key: c.key, Now: now}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, error %v", c.name, r, err)
		}
	}
}

// change replaces the first old by new in a file.
func change(t *testing.T, path, old, new string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Contains(raw, []byte(old)) {
		t.Fatalf("%s does not hold %q", path, old)
	}
	must(t, os.WriteFile(path, bytes.Replace(raw, []byte(old), []byte(new), 1), 0o644))
}

func TestReproduceNamesAChangedByte(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir string)
		kind   string
		of     string
		detail string
		cgo    bool
	}{
		{"a table", func(t *testing.T, dir string) {
			path := filepath.Join(dir, "endpoints.parquet")
			raw, err := os.ReadFile(path)
			must(t, err)
			raw[len(raw)/2] ^= 1
			must(t, os.WriteFile(path, raw, 0o644))
		}, TableFile, "endpoints.parquet", "not the", false},
		{"a table that is gone", func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "tools.parquet")))
		}, TableFile, "tools.parquet", "no such file", false},
		{"a number of a figure's CSV", func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, "figures", "outcomes.csv"), "answered,8,10", "answered,9,10")
		}, Figure, "outcomes", `figures/outcomes.csv differs at line 2: "answered,9,10,0.8,0.490162,0.943318" is there, "answered,8,10,`, true},
		{"a number of figures.json", func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, "figures.json"), `["answered",8,10,`, `["answered",9,10,`)
		}, Figure, "outcomes", `row 1, column "count": 9 is published, its SQL gives 8`, true},
		{"the SQL beside it", func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, "figures", "grades.sql"), "'F'", "'E'")
		}, Figure, "grades", "figures/grades.sql differs at line", true},
		{"the SQL inside it", func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, "figures.json"), "What became of each endpoint", "What became of no endpoint")
		}, Figure, "figures.json", "header of its SQL", true},
		{"a figure without its files", func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "figures", "era.csv")))
		}, Figure, "era", "no such file", true},
		{"a file that is too many", func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "more.csv"), nil, 0o644))
		}, Criterion, "unlisted", "more.csv", false},
		{"the card", func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, CardFile), "10", "11")
		}, Criterion, "files", CardFile, false},
		{"the edition", func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, attest.EditionFile), `"public":10`, `"public":11`)
		}, Criterion, "content", "counts.public", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.cgo && !figures.Available {
				t.Skip(figures.ErrNoDuckDB)
			}
			root, dir, key := publish(t, fixture(t))
			c.change(t, dir)
			r := reproduce(t, root, ReproduceOptions{Key: key})
			if i := item(t, r, c.kind, c.of); i.Outcome != Different || !strings.Contains(i.Detail, c.detail) {
				t.Errorf("%+v, want a difference with %q", i, c.detail)
			}
			if !r.Different() {
				t.Error("nothing differs")
			}
		})
	}
}

// TestReproduceWithoutFigures is an edition published by a build without cgo,
// or one looked at by such a build.
func TestReproduceWithoutFigures(t *testing.T) {
	root, dir, key := publish(t, fixture(t))
	if figures.Available {
		must(t, os.RemoveAll(filepath.Join(dir, "figures")))
		must(t, os.Remove(filepath.Join(dir, "figures.json")))
		r := reproduce(t, root, ReproduceOptions{Key: key})
		if i := item(t, r, Figure, "figures.json"); i.Outcome != Different {
			t.Errorf("figures that are listed and gone: %+v", i)
		}
		return
	}
	if _, err := figures.Compute(t.Context(), dir, "2026-01-11"); !errors.Is(err, figures.ErrNoDuckDB) {
		t.Errorf("error %v", err)
	}
	r := reproduce(t, root, ReproduceOptions{Key: key})
	if i := item(t, r, Figure, "figures.json"); i.Outcome != NotAsked || r.Different() {
		t.Errorf("%+v", r)
	}
}

func TestReproduceTellsTheFuture(t *testing.T) {
	root, _, key := publish(t, fixture(t))
	r := reproduce(t, root, ReproduceOptions{Key: key, Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	if i := item(t, r, Criterion, "times"); i.Outcome != Different {
		t.Errorf("an edition of tomorrow: %+v", i)
	}
}

// TestHostileTextIsInertInCSV follows text from a registry entry to the CSV
// that people open in a spreadsheet.
func TestHostileTextIsInertInCSV(t *testing.T) {
	if !figures.Available {
		t.Skip(figures.ErrNoDuckDB)
	}
	_, dir, _ := publish(t, fixture(t))
	raw, err := os.ReadFile(filepath.Join(dir, "figures", "listing-hygiene.csv"))
	must(t, err)
	want := `"'=HYPERLINK(""http://evil.example"",""x"")\u{D}\u{A}'; DROP TABLE tools;--\u{1B}[31m\u{202E}<script>",1,12,`
	if !bytes.Contains(raw, []byte(want)) {
		t.Errorf("got %q\nwant a line with %q", raw, want)
	}
	for _, name := range []string{"listing-hygiene", "outcomes", "tool-annotations", "operators"} {
		raw, err := os.ReadFile(filepath.Join(dir, "figures", name+".csv"))
		must(t, err)
		lines, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
		must(t, err)
		for _, line := range lines {
			for _, cell := range line {
				if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) || strings.ContainsAny(cell, "\x1b\n\r\u202e") {
					t.Errorf("%s has the cell %q", name, cell)
				}
			}
		}
	}
}

func TestReproduceFollowsTheChain(t *testing.T) {
	signer, err := sign.LoadOrMake(filepath.Join(t.TempDir(), "keys"))
	must(t, err)
	root := t.TempDir()
	first := publishIn(t, root, fixture(t), signer, "")
	head, err := os.ReadFile(filepath.Join(first, attest.EditionFile))
	must(t, err)
	later := fixture(t)
	later.ID = "2026-01-12"
	publishIn(t, root, later, signer, attest.Digest(head))
	r := reproduce(t, root, ReproduceOptions{Key: signer.PublicPEM()})
	if got := strings.Join(r.Editions, " "); got != "2026-01-11 2026-01-12" || r.Different() {
		t.Errorf("editions %q: %+v", got, r.Items)
	}
	if i := item(t, r, Criterion, Previous); i.Edition != "2026-01-12" || i.Outcome != Same || i.Detail != "2026-01-11" {
		t.Errorf("%+v", i)
	}

	must(t, os.RemoveAll(first))
	r = reproduce(t, root, ReproduceOptions{Key: signer.PublicPEM()})
	if i := item(t, r, Criterion, Previous); i.Outcome != NotAsked || r.Different() {
		t.Errorf("without the first: %+v", r.Items)
	}

	other := fixture(t)
	other.NotInEdition = 4
	publishIn(t, root, other, signer, "")
	r = reproduce(t, root, ReproduceOptions{Key: signer.PublicPEM()})
	if i := item(t, r, Criterion, Previous); i.Outcome != Different {
		t.Errorf("with another first: %+v", i)
	}
}
