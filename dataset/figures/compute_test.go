//go:build cgo

package figures

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tables lets DuckDB write the four files from SELECTs, so that this room is
// tested without the one that writes them.
func tables(t testing.TB, dir, endpoints, checks string) {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for name, query := range map[string]string{
		"endpoints": endpoints, "checks": checks,
		"listings": "SELECT NULL::VARCHAR AS reason LIMIT 0",
		"tools":    "SELECT true AS read_only, NULL::BOOLEAN AS destructive, false AS idempotent, true AS open_world",
	} {
		path := strings.ReplaceAll(filepath.Join(dir, name+".parquet"), "'", "''")
		if _, err := db.Exec("COPY (" + query + ") TO '" + path + "' (FORMAT parquet)"); err != nil {
			t.Fatal(name, err)
		}
	}
}

const (
	// ten endpoints, eight of them answered
	tenEndpoints = "SELECT 'e' || i AS id, 'op' || (i % 3) AS operator, CASE WHEN i < 8 THEN 'answered' ELSE 'unreachable' END AS outcome, " +
		"CASE WHEN i < 8 THEN 'open' ELSE 'unreachable' END AS auth, CASE WHEN i < 8 THEN 'legacy' END AS era, CASE WHEN i < 7 THEN 'A' END AS grade, " +
		"'sse' AS transport, NULL::VARCHAR AS protocol_version, CASE WHEN i < 8 THEN i::INTEGER END AS tools FROM range(10) r(i)"
	// check a: 1 fail of 10; b: 0 of 20; c: never assessed; d: 15 of 15; e: 12 of 30 (and 5 skipped)
	fiveChecks = "SELECT 'a' AS check_id, CASE WHEN i < 1 THEN 'fail' ELSE 'pass' END AS status FROM range(10) r(i) " +
		"UNION ALL SELECT 'b', 'warn' FROM range(20) UNION ALL SELECT 'c', 'skip' FROM range(4) UNION ALL SELECT 'd', 'fail' FROM range(15) " +
		"UNION ALL SELECT 'e', CASE WHEN i < 12 THEN 'fail' WHEN i < 30 THEN 'pass' WHEN i < 33 THEN 'skip' ELSE 'info' END FROM range(35) r(i)"
)

func figure(t *testing.T, s *Set, name string) *Figure {
	t.Helper()
	for i := range s.Figures {
		if s.Figures[i].Name == name {
			return &s.Figures[i]
		}
	}
	t.Fatalf("no figure %q", name)
	return nil
}

// TestWilson holds the intervals against examples worked by hand with the
// score formula of E. B. Wilson (1927), z = 1.959964: centre (p + z²/2n) and
// half width z·sqrt(p(1-p)/n + z²/4n²), both over 1 + z²/n.
//
//	 8 of 10: (0.8 + 0.192073 ± 1.959964·sqrt(0.016 + 0.009604)) / 1.384146
//	          = (0.992073 ± 0.313618) / 1.384146 = 0.4902 to 0.9433
//	 2 of 10: the mirror image, 0.0567 to 0.5098
//	 1 of 10: (0.1 + 0.192073 ± 1.959964·sqrt(0.009 + 0.009604)) / 1.384146 = 0.0179 to 0.4042
//	 0 of 20: 0 to z²/(20 + z²) = 3.841459/23.841459 = 0.1611
//	15 of 15: 15/(15 + z²) = 15/18.841459 = 0.7961 to 1
//	12 of 30: (0.4 + 0.064024 ± 1.959964·sqrt(0.008 + 0.001067)) / 1.128049 = 0.2459 to 0.5768
func TestWilson(t *testing.T) {
	dir := t.TempDir()
	tables(t, dir, tenEndpoints, fiveChecks)
	s, err := Compute(t.Context(), dir, "2026-01-11")
	if err != nil {
		t.Fatal(err)
	}
	near := func(got any, want float64) bool {
		x, ok := got.(float64)
		return ok && math.Abs(x-want) < 0.00006
	}
	type row struct {
		label            string
		count, n         int64
		share, low, high float64 // NaN: null
	}
	null := math.NaN()
	for name, want := range map[string][]row{
		"outcomes": {
			{"answered", 8, 10, 0.8, 0.4902, 0.9433}, {"protected", 0, 10, 0, 0, 0.2775}, {"unreachable", 2, 10, 0.2, 0.0567, 0.5098},
			{"not-mcp", 0, 10, 0, 0, 0.2775}, {"undetermined", 0, 10, 0, 0, 0.2775},
		},
		"check-failures": {
			{"d", 15, 15, 1, 0.7961, 1}, {"e", 12, 30, 0.4, 0.2459, 0.5768}, {"a", 1, 10, 0.1, 0.0179, 0.4042},
			{"b", 0, 20, 0, 0, 0.1611}, {"c", 0, 0, null, null, null},
		},
		"listing-hygiene": {},
	} {
		f := figure(t, s, name)
		if strings.Join(f.Columns, " ") != "label count denominator share low high" || len(f.Rows) != len(want) {
			t.Errorf("%s: columns %q, %d rows", name, f.Columns, len(f.Rows))
			continue
		}
		for i, w := range want {
			got := f.Rows[i]
			if got[0] != w.label || got[1] != w.count || got[2] != w.n {
				t.Errorf("%s row %d: %v, want %v", name, i, got, w)
			}
			for j, x := range []float64{w.share, w.low, w.high} {
				if math.IsNaN(x) && got[3+j] != nil || !math.IsNaN(x) && !near(got[3+j], x) {
					t.Errorf("%s %s: %v, want %v", name, w.label, got, w)
				}
			}
		}
	}
	if f := figure(t, s, "era"); fmt.Sprint(f.Rows[2][:3]) != "[legacy 8 8]" {
		t.Errorf("era: %v", f.Rows)
	}
	if f := figure(t, s, "grades"); fmt.Sprint(f.Rows[0][:3], f.Rows[5][:3]) != "[A 7 10] [none 3 10]" {
		t.Errorf("grades: %v", f.Rows)
	}
	if f := figure(t, s, "tool-counts"); fmt.Sprint(f.Rows[0][:3], f.Rows[1][:3], f.Rows[2][:3]) != "[none 1 8] [1 to 5 5 8] [6 to 10 2 8]" {
		t.Errorf("tool-counts: %v", f.Rows)
	}
	if f := figure(t, s, "operators"); fmt.Sprint(f.Rows[0][:3], f.Rows[1][:3], f.Rows[2][:3]) != "[op0 4 10] [op1 3 10] [op2 3 10]" {
		t.Errorf("operators: %v", f.Rows)
	}
	if f := figure(t, s, "tool-annotations"); fmt.Sprint(f.Rows[0][:3], f.Rows[5][:3], f.Rows[7][:3]) != "[readOnlyHint true 1 1] [destructiveHint not given 1 1] [idempotentHint false 1 1]" {
		t.Errorf("tool-annotations: %v", f.Rows)
	}
	if f := figure(t, s, "outcomes"); len(f.Inputs) != 1 || f.Inputs[0].Rows != 10 {
		t.Errorf("inputs: %v", f.Inputs)
	}
}

func TestComputingAgainIsTheSameBytes(t *testing.T) {
	dir := t.TempDir()
	tables(t, dir, tenEndpoints, fiveChecks)
	var first string
	for range 3 {
		s, err := Compute(t.Context(), dir, "2026-01-11")
		if err != nil {
			t.Fatal(err)
		}
		raw, err := Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(raw)
		}
		if first != string(raw) {
			t.Fatal("computed again, the figures differ")
		}
	}
}

// TestNothingOverNothing is an edition without a record: every share is null.
func TestNothingOverNothing(t *testing.T) {
	dir := t.TempDir()
	tables(t, dir, tenEndpoints+" LIMIT 0", "SELECT 'a' AS check_id, 'pass' AS status LIMIT 0")
	s, err := Compute(t.Context(), dir, "2026-01-11")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range figure(t, s, "grades").Rows {
		if row[1] != int64(0) || row[2] != int64(0) || row[3] != nil || row[4] != nil || row[5] != nil {
			t.Errorf("over nothing: %v", row)
		}
	}
}

// TestOddFolders have names that mean something to SQL, to file patterns and
// to Hive partitioning.
func TestOddFolders(t *testing.T) {
	for _, name := range []string{"edition=2026-01-11", "a'b", "a[b]", "a*b", "a?b", "ü b"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(name, "*?[") {
			other := t.TempDir()
			tables(t, other, tenEndpoints, fiveChecks)
			if err := os.CopyFS(dir, os.DirFS(other)); err != nil {
				t.Fatal(err)
			}
		} else {
			tables(t, dir, tenEndpoints, fiveChecks)
		}
		if _, err := Compute(t.Context(), dir, "2026-01-11"); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestPublishedQueriesAreShutIn runs what a published edition could hold to
// harm whoever reproduces it.
func TestPublishedQueriesAreShutIn(t *testing.T) {
	dir := t.TempDir()
	tables(t, dir, tenEndpoints, fiveChecks)
	victim := filepath.Join(dir, "victim.txt")
	if err := os.WriteFile(victim, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	header := strings.TrimSuffix(good, "SELECT 1\n")
	for _, c := range []struct{ query, want string }{
		{"SELECT content FROM read_text('" + victim + "')", "disabled"},
		{"SELECT * FROM '" + filepath.Join(dir, "tools.parquet") + "'", "disabled"},
		{"SELECT * FROM read_csv('https://example.com/x.csv')", ""},
		{"SELECT * FROM glob('/*')", "disabled"},
		{"COPY (SELECT 1) TO '" + filepath.Join(dir, "out.csv") + "'", "disabled"},
		{"ATTACH '" + filepath.Join(dir, "x.db") + "'", "no SELECT"},
		{"SET threads=64", "no SELECT"},
		{"INSTALL httpfs", "no SELECT"},
		{"LOAD httpfs", "no SELECT"},
		{"DROP VIEW endpoints", "no SELECT"},
		{"CREATE TABLE x AS SELECT 1", "no SELECT"},
		{"SELECT 1; SELECT 2", "one SELECT is needed"},
		{"SELECT 1; COPY (SELECT 1) TO '" + filepath.Join(dir, "out.csv") + "'", "one SELECT is needed"},
		{"SELECT * FROM tools", "tools"}, // not in the header
		{"SELECT 1 AS a, 2 AS a", "two columns"},
		{"SELECT range FROM range(10001)", "more than 10000 rows"},
		{"SELECT repeat('x', 4097) AS a", "over the bound"},
		{"SELECT 'nan'::DOUBLE AS a", "no fraction"},
		{"SELECT [1] AS a", "cast it"},
		{"SELECT 9007199254740994 AS a", "exact"},
		{"SELECT list(range) FROM range(10000000000)", "memory"},
		{"SELECT $1", ""},
		{"nonsense", "Parser"},
	} {
		s := &Set{Edition: "2026-01-11", Figures: []Figure{{Name: "a", SQL: header + c.query + "\n"}}}
		got, err := Recompute(t.Context(), dir, s)
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(c.want)) {
			t.Errorf("%s: %v, error %v, want one with %q", c.query, got, err, c.want)
		}
	}
	after, err := os.ReadDir(dir)
	if err != nil || len(after) != len(before) {
		t.Errorf("the folder held %v and holds %v", before, after)
	}
}

// TestEndlessQueriesEnd cancels a query that would run for years.
func TestEndlessQueriesEnd(t *testing.T) {
	dir := t.TempDir()
	tables(t, dir, tenEndpoints, fiveChecks)
	endless := strings.TrimSuffix(good, "SELECT 1\n") + "SELECT count(*) AS n FROM range(10000000) a, range(10000000) b, range(10000000) c WHERE a.range + b.range = c.range * 3 + 1\n"
	ctx, cancel := context.WithTimeout(t.Context(), 1e9)
	defer cancel()
	if _, err := Recompute(ctx, dir, &Set{Edition: "2026-01-11", Figures: []Figure{{Name: "a", SQL: endless}}}); err == nil {
		t.Error("it ended by itself")
	}
}

func TestMissingAndDamagedTables(t *testing.T) {
	dir := t.TempDir()
	tables(t, dir, tenEndpoints, fiveChecks)
	path := filepath.Join(dir, "tools.parquet")
	for name, do := range map[string]func() error{
		"damaged": func() error { return os.WriteFile(path, []byte("PAR1xxxxPAR1"), 0o644) },
		"gone":    func() error { return os.Remove(path) },
	} {
		if err := do(); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if _, err := Compute(t.Context(), dir, "2026-01-11"); err == nil || !strings.Contains(err.Error(), `"tools"`) {
			t.Errorf("%s: error %v does not name the table", name, err)
		}
	}
}
