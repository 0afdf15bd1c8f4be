package dataset

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
	"github.com/parquet-go/parquet-go"
)

func written(t *testing.T, e *Edition) string {
	t.Helper()
	dir := t.TempDir()
	must(t, Write(dir, e))
	return dir
}

func TestEqualEditionsAreEqualBytes(t *testing.T) {
	e := fixture(t)
	first := written(t, e)
	for seed := range uint64(4) {
		again := written(t, shuffled(e, seed))
		for _, name := range []string{"checks.parquet", "endpoints.parquet", "listings.parquet", "tools.parquet", CardFile} {
			a, err := os.ReadFile(filepath.Join(first, name))
			must(t, err)
			b, err := os.ReadFile(filepath.Join(again, name))
			must(t, err)
			if !bytes.Equal(a, b) {
				t.Errorf("%s differs with the records in another order", name)
			}
		}
	}
}

func readTable[Row any](t *testing.T, dir, name string) []Row {
	t.Helper()
	all, err := parquet.ReadFile[Row](filepath.Join(dir, name+Ext))
	must(t, err)
	return all
}

func find1[Row any](t *testing.T, all []Row, ok func(Row) bool) Row {
	t.Helper()
	i := slices.IndexFunc(all, ok)
	if i < 0 {
		t.Fatal("no such row")
	}
	return all[i]
}

func TestRowsSayWhatTheStatementsSay(t *testing.T) {
	e := fixture(t)
	dir := written(t, e)
	endpoints := readTable[Endpoint](t, dir, "endpoints")
	if len(endpoints) != 10 || !slices.IsSortedFunc(endpoints, func(a, b Endpoint) int { return strings.Compare(a.ID, b.ID) }) {
		t.Fatalf("%d endpoints, or not sorted by id", len(endpoints))
	}
	got := find1(t, endpoints, func(r Endpoint) bool { return r.Host == "mcp0.example.com" })
	want := Endpoint{
		ID: got.ID, URL: "https://mcp0.example.com/mcp", Transport: "streamable-http", Host: "mcp0.example.com", Operator: "example.com",
		Outcome: "answered", Auth: "open", Era: ptr("legacy"),
		ProtocolVersion: ptr("2025-06-18"), ProtocolVersions: []string{"2025-03-26", "2025-06-18", "zzz"},
		ServerName: ptr("notes"), ServerVersion: ptr(""), Tools: ptr(int32(2)), Resources: ptr(int32(2)), Prompts: ptr(int32(0)),
		// connectivity 100 of 10, protocol 100 of 20, catalog 60 (one major) of
		// 20: 4200 of 50 is 84; 50 of 70 assessed; 4200 and 6200 of 70. The lower
		// bound is capped, since what was not looked into could still be critical.
		Score: ptr(84.0), Grade: ptr("B"), Coverage: ptr(71.4), ScoreLow: got.ScoreLow, ScoreHigh: ptr(88.6),
		Pass: 2, Warn: 1, Fail: 2, Rubric: "anonymous/1",
		StartedAt: 1768118400000, FinishedAt: 1768118402345, // 2026-01-11T08:00:00Z by date(1)
		Statement: got.Statement,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	gone := find1(t, endpoints, func(r Endpoint) bool { return r.Host == "gone.example.com" })
	if gone.ServerName != nil || gone.Era != nil || gone.Tools != nil || gone.ProtocolVersion != nil || gone.Outcome != "unreachable" ||
		gone.BlockedPhase == nil || *gone.BlockedPhase != "net" || len(gone.ProtocolVersions) != 0 {
		t.Errorf("what is not known of an unreachable endpoint is not null: %+v", gone)
	}

	checks := readTable[Check](t, dir, "checks")
	worst := find1(t, checks, func(r Check) bool { return r.EndpointID == got.ID && r.Check == "catalog.tools.descriptions" })
	if worst.Status != "fail" || worst.Severity == nil || *worst.Severity != "major" || worst.Findings != 3 || worst.Phase != "catalog" {
		t.Errorf("three findings of one check are %+v, want one row: a major fail", worst)
	}
	if len(checks) != 8*3+2*2 {
		t.Errorf("%d rows of checks, want one per endpoint and check: 28", len(checks))
	}

	tools := readTable[Tool](t, dir, "tools")
	if len(tools) != 17 {
		t.Errorf("%d tools, want 8 times 2 and one more", len(tools))
	}
	read := find1(t, tools, func(r Tool) bool { return r.EndpointID == got.ID && r.Name == "read" })
	if read.Position != 1 || read.ReadOnly == nil || !*read.ReadOnly || read.Destructive != nil || read.Description != nil {
		t.Errorf("tool read is %+v", read)
	}

	listings := readTable[ListingRow](t, dir, "listings")
	local := find1(t, listings, func(r ListingRow) bool { return r.Name == "com.example/local" })
	if local.URL != nil || local.Transport != nil || local.EndpointID != nil || local.Repository != nil || local.Version != "" ||
		local.Reason == nil || *local.Reason != "not remote" || local.Title == nil || *local.Title != hostile {
		t.Errorf("an entry without a remote is %+v", local)
	}
}

func TestCheckKeepsTheWorst(t *testing.T) {
	order := []attest.Verdict{ // each worse than the one before
		verdict("c", "net", rubric.Skip, ""), verdict("c", "net", rubric.Info, ""), verdict("c", "net", rubric.Pass, ""),
		verdict("c", "net", rubric.Warn, ""), verdict("c", "net", rubric.Fail, rubric.Minor),
		verdict("c", "net", rubric.Fail, rubric.Major), verdict("c", "net", rubric.Fail, rubric.Critical),
	}
	for i, worse := range order {
		for _, milder := range order[:i] {
			for _, pair := range [][]attest.Verdict{{worse, milder}, {milder, worse}} {
				got := checks("id", pair)
				if len(got) != 1 || got[0].Status != string(worse.Status) || deref(got[0].Severity) != string(worse.Severity) {
					t.Errorf("of %v, %+v was kept", pair, got)
				}
			}
		}
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func TestFileSaysHowItIsSortedAndWhatItIs(t *testing.T) {
	dir := written(t, fixture(t))
	for _, table := range Tables() {
		f, err := os.Open(filepath.Join(dir, table.Name+Ext))
		must(t, err)
		defer f.Close()
		info, err := f.Stat()
		must(t, err)
		file, err := parquet.OpenFile(f, info.Size())
		must(t, err)
		for key, want := range map[string]string{"lustrum.table": table.Name, "lustrum.edition": "2026-01-11", "lustrum.method": "1"} {
			if got, _ := file.Lookup(key); got != want {
				t.Errorf("%s: %s is %q, want %q", table.Name, key, got, want)
			}
		}
		meta := file.Metadata()
		if meta.CreatedBy != "lustrum version 1(build dataset)" && meta.CreatedBy != "lustrum version 1 (build dataset)" {
			t.Errorf("%s: created by %q", table.Name, meta.CreatedBy)
		}
		group := file.RowGroups()[0]
		var key []string
		for _, c := range group.SortingColumns() {
			key = append(key, strings.Join(c.Path(), "."))
		}
		if !slices.Equal(key, table.Key) {
			t.Errorf("%s declares the order %q, want %q", table.Name, key, table.Key)
		}
		if filter := group.ColumnChunks()[0].BloomFilter(); filter == nil {
			t.Errorf("%s: column %s has no bloom filter", table.Name, table.Columns[0].Name)
		}
	}
}

func TestRefusedRecords(t *testing.T) {
	for _, c := range []struct {
		name, want string
		edit       func(*Edition)
	}{
		{"the same endpoint twice", "two records", func(e *Edition) { e.Records = append(e.Records, e.Records[0]) }},
		{"a statement about another endpoint", "is about the endpoint", func(e *Edition) { e.Records[0].Statement = e.Records[1].Statement }},
		{"no statement", "no statement", func(e *Edition) { e.Records[0].Statement = nil }},
		{"a digest that is none", "SHA-256", func(e *Edition) { e.Records[0].Digest = "../../etc" }},
		{"a statement that is not valid", "not valid", func(e *Edition) {
			s := *e.Records[0].Statement
			s.Predicate.StartedAt = "yesterday"
			e.Records[0].Statement = &s
		}},
		{"an edition that is no day", "is no day", func(e *Edition) { e.ID = "2026-02-30" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := fixture(t)
			c.edit(e)
			dir := t.TempDir()
			err := Write(dir, e)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("it left %v", left)
			}
		})
	}
	dir := written(t, fixture(t))
	if err := Write(dir, fixture(t)); err == nil {
		t.Error("written over an edition that stands there")
	}
}

// TestSums lets sha256sum of coreutils judge.
func TestSums(t *testing.T) {
	dir := written(t, fixture(t))
	must(t, WriteSums(dir))
	tool, err := exec.LookPath("sha256sum")
	if err != nil {
		t.Skip("no sha256sum here")
	}
	check := func() ([]byte, error) {
		cmd := exec.Command(tool, "--strict", "-c", SumsFile)
		cmd.Dir = dir
		return cmd.CombinedOutput()
	}
	if out, err := check(); err != nil || bytes.Count(out, []byte(": OK")) != 5 {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
	must(t, os.WriteFile(filepath.Join(dir, CardFile), []byte("x"), 0o644))
	if _, err := check(); err == nil {
		t.Error("a changed file went unnoticed")
	}
}

func TestCardIsInert(t *testing.T) {
	e := fixture(t)
	e.Operator = "x`</td>|<script>alert(1)</script>\n# Heading\x1b[31m\u202e"
	dir := written(t, e)
	raw, err := os.ReadFile(filepath.Join(dir, CardFile))
	must(t, err)
	card := string(raw)
	want := "| operator | `x'</td>¦<script>alert(1)</script> # Heading [31m` |\n"
	if !strings.Contains(card, want) {
		t.Errorf("the operator is not one code span:\n%s", card[:900])
	}
	for _, table := range Tables() {
		for _, c := range table.Columns {
			if c.What == "" || !strings.Contains(card, "| "+c.Name+" | "+c.Type+" |") {
				t.Errorf("column %s of %s is not described", c.Name, table.Name)
			}
		}
	}
	for _, want := range []string{"| endpoints with a public record | 10 |", "| endpoints not in this edition | 3 |", "28 rows, sorted by endpoint_id, check_id"} {
		if !strings.Contains(card, want) {
			t.Errorf("the card does not say %q", want)
		}
	}
}
