//go:build cgo

package dataset

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
)

func duck(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", "?threads=1&autoinstall_known_extensions=false&autoload_known_extensions=false")
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// ask returns the rows of a query as text, NULL apart from the empty text.
func ask(t *testing.T, db *sql.DB, query string, args ...any) [][]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, args...)
	must(t, err)
	defer rows.Close()
	names, err := rows.Columns()
	must(t, err)
	var out [][]string
	for rows.Next() {
		values := make([]any, len(names))
		for i := range values {
			values[i] = new(any)
		}
		must(t, rows.Scan(values...))
		line := make([]string, len(names))
		for i, v := range values {
			switch x := (*v.(*any)).(type) {
			case nil:
				line[i] = "NULL"
			case time.Time:
				line[i] = x.UTC().Format("2006-01-02T15:04:05.000Z")
			default:
				line[i] = fmt.Sprintf("%v", x)
			}
		}
		out = append(out, line)
	}
	must(t, rows.Err())
	return out
}

// TestDuckDBReadsTheSameValues lets another reader of Parquet judge the files.
func TestDuckDBReadsTheSameValues(t *testing.T) {
	dir := written(t, fixture(t))
	db := duck(t)
	file := func(name string) string { return "read_parquet('" + filepath.Join(dir, name+Ext) + "')" }

	got := ask(t, db, `SELECT url, era, protocol_version, array_to_string(protocol_versions, ' '), server_name, server_version, tools,
		score, grade, started_at, finished_at, blocked_phase, fail FROM `+file("endpoints")+` WHERE host IN ('mcp0.example.com', 'gone.example.com') ORDER BY host`)
	want := [][]string{
		{"https://gone.example.com/mcp", "NULL", "NULL", "", "NULL", "NULL", "NULL", "0", "F", "2026-01-11T08:00:00.000Z", "2026-01-11T08:00:02.345Z", "net", "1"},
		{"https://mcp0.example.com/mcp", "legacy", "2025-06-18", "2025-03-26 2025-06-18 zzz", "notes", "", "2", "84", "B", "2026-01-11T08:00:00.000Z", "2026-01-11T08:00:02.345Z", "NULL", "2"},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("endpoints:\ngot  %q\nwant %q", got, want)
	}

	got = ask(t, db, `SELECT name = ?, position, read_only, destructive, open_world, description FROM `+file("tools")+` t
		JOIN `+file("endpoints")+` e ON e.id = t.endpoint_id WHERE host = 'mcp1.example.com' ORDER BY position`, hostile)
	if fmt.Sprint(got) != fmt.Sprint([][]string{
		{"false", "0", "false", "true", "NULL", digestOf("w")},
		{"false", "1", "true", "NULL", "NULL", "NULL"},
		{"true", "2", "NULL", "NULL", "NULL", "NULL"},
	}) {
		t.Errorf("tools: %q", got)
	}

	got = ask(t, db, `SELECT version = '', url, title = ? FROM `+file("listings")+` WHERE name = 'com.example/local'`, hostile)
	if fmt.Sprint(got) != fmt.Sprint([][]string{{"true", "NULL", "true"}}) {
		t.Errorf("listings: %q", got)
	}

	got = ask(t, db, `SELECT status, severity, count(*), sum(findings)::BIGINT FROM `+file("checks")+` WHERE check_id = 'catalog.tools.descriptions' GROUP BY ALL ORDER BY ALL`)
	if fmt.Sprint(got) != fmt.Sprint([][]string{{"fail", "major", "2", "4"}, {"pass", "NULL", "6", "6"}}) {
		t.Errorf("checks: %q", got)
	}

	got = ask(t, db, `SELECT decode(key), decode(value) FROM parquet_kv_metadata('`+filepath.Join(dir, "tools.parquet")+`') WHERE decode(key) LIKE 'lustrum.%' ORDER BY 1`)
	if fmt.Sprint(got) != "[[lustrum.edition 2026-01-11] [lustrum.method 1] [lustrum.table tools]]" {
		t.Errorf("metadata: %q", got)
	}
	got = ask(t, db, `SELECT DISTINCT compression FROM parquet_metadata('`+filepath.Join(dir, "endpoints.parquet")+`')`)
	if fmt.Sprint(got) != "[[ZSTD]]" {
		t.Errorf("compression: %q", got)
	}
	probe := ask(t, db, `SELECT bloom_filter_excludes FROM parquet_bloom_probe('`+filepath.Join(dir, "endpoints.parquet")+`', 'url', 'https://nobody.example.net/')`)
	if fmt.Sprint(probe) != "[[true]]" {
		t.Errorf("the bloom filter of url does not exclude what is not there: %q", probe)
	}
}

// TestZeroRowsKeepTheirTypes compares what DuckDB calls the columns of an
// empty edition with those of a full one.
func TestZeroRowsKeepTheirTypes(t *testing.T) {
	db := duck(t)
	full := written(t, fixture(t))
	empty := written(t, &Edition{ID: "2026-01-11", Method: "1"})
	for _, table := range Tables() {
		types := func(dir string) [][]string {
			return ask(t, db, "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM read_parquet('"+filepath.Join(dir, table.Name+Ext)+"'))")
		}
		got, want := types(empty), types(full)
		if len(want) != len(table.Columns) || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: an empty table has the columns %q, a full one %q", table.Name, got, want)
		}
		for i, c := range table.Columns {
			names := map[string][]string{
				"text": {"VARCHAR"}, "integer": {"INTEGER", "BIGINT"}, "number": {"DOUBLE"}, "boolean": {"BOOLEAN"},
				"timestamp": {"TIMESTAMP WITH TIME ZONE"}, "list of text": {"VARCHAR[]"},
			}
			if got[i][0] != c.Name || !slices.Contains(names[c.Type], got[i][1]) {
				t.Errorf("%s.%s is described as %s, DuckDB says %s %s", table.Name, c.Name, c.Type, got[i][0], got[i][1])
			}
		}
		if n := ask(t, db, "SELECT count(*) FROM read_parquet('"+filepath.Join(empty, table.Name+Ext)+"')"); fmt.Sprint(n) != "[[0]]" {
			t.Errorf("%s of an empty edition has %s rows", table.Name, n)
		}
	}
}

// TestSortedAsDeclared lets DuckDB say in what order the rows stand.
func TestSortedAsDeclared(t *testing.T) {
	db := duck(t)
	dir := written(t, shuffled(fixture(t), 7))
	for _, table := range Tables() {
		file := "read_parquet('" + filepath.Join(dir, table.Name+Ext) + "', file_row_number=true)"
		order := strings.Join(table.Key, " NULLS FIRST, ") + " NULLS FIRST"
		got := ask(t, db, "SELECT file_row_number FROM "+file+" ORDER BY "+order+", file_row_number")
		for i, row := range got {
			if row[0] != fmt.Sprint(i) {
				t.Errorf("%s is not sorted by %s", table.Name, order)
				break
			}
		}
	}
}
