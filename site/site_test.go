package site

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/graph"
)

func TestStartPageNumbersAreTheRecords(t *testing.T) {
	in := fixture(t)
	doc := parse(t, read(t, build(t, in), "index.html"))
	byID := map[string]string{}
	var rows [][]string
	for n := range doc.Descendants() {
		if id := attr(n, "id"); id != "" {
			byID[id] = strings.TrimSpace(textOf(n))
		}
		if n.Data == "tr" && n.Parent.Data == "tbody" {
			var row []string
			for c := range n.ChildNodes() {
				row = append(row, textOf(c))
			}
			rows = append(rows, row)
		}
	}
	// Counted by hand over the eight samples.
	for id, want := range map[string]string{
		"fact-servers": "8", "fact-operators": "3", "fact-open": "5", "fact-protected": "2", "fact-tools": "9", "fact-listings": "6",
		"coverage-full": "4", "coverage-part": "3", "coverage-none": "1",
		"grade-A": "3", "grade-B": "1", "grade-C": "1", "grade-D": "1", "grade-F": "1", "grade-none": "1",
	} {
		if byID[id] != want {
			t.Errorf("%s is %q, want %q", id, byID[id], want)
		}
	}
	if !strings.HasPrefix(byID["missing"], "3 endpoints are not in this edition.") {
		t.Errorf("what is missing reads %q", byID["missing"])
	}
	want := [][]string{
		{"open", "5", "8", "62.5 %", "30.6 %", "86.3 %"},
		{"oauth", "1", "8", "12.5 %", "2.2 %", "47.1 %"},
		{"modern", "0", "0", "–", "–", "–"},
		{scriptName, "12,345", "23,456", "52.6 %", "52.0 %", "53.3 %"},
		{"catalog.tools.check_13", "1", "40", "2.5 %", "1.0 %", "50.0 %"},
	}
	for _, w := range want {
		if !slices.ContainsFunc(rows, func(r []string) bool { return slices.Equal(r, w) }) {
			t.Errorf("no row reads %q", w)
		}
	}
	if n := 4 + 14 + 2 + 6; len(rows) != n {
		t.Errorf("%d rows of figures, want %d", len(rows), n)
	}
}

func TestChartsDrawTheFigures(t *testing.T) {
	page := read(t, build(t, fixture(t)), "index.html")
	for _, want := range []string{
		`<title id="chart-authentication-t">How first contact was answered</title><desc id="chart-authentication-d">open: 5 · 62.5 %; oauth: 1 · 12.5 %; protected: 1 · 12.5 %; unreachable: 1 · 12.5 %.</desc>`,
		`<rect class="bar-fill" x="0" y="24" width="62.500%" height="10" rx="2"/>`,
		`<line x1="30.574%" x2="86.316%" y1="39" y2="39"/>`,
		`<desc id="chart-era-d">modern: –;`,
		`aria-label="Grades. A: 3, B: 1, C: 1, D: 1, F: 1, Not assessed: 1."`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the start page lacks %s", want)
		}
	}
	if strings.Contains(page, "chart-check-failures") {
		t.Error("a figure of kind table has a chart")
	}
}

func TestCardSaysWhatToDo(t *testing.T) {
	in := fixture(t)
	dir := build(t, in)
	page := read(t, dir, "servers/"+idOf(t, in, "https://files.example.org/sse")+".html")
	at := -1
	for _, want := range []string{
		"Grade </span>F", `id="score">19.9<`, `id="coverage">100.0 %<`, `id="bounds">19.9 to 19.9<`, "Answers without credentials.",
		"The score is capped", "capped at 19.9 by a critical finding: catalog.text.instructions",
		"Fix now", "auth.unauthenticated_tools", "req#6", "What to do", "Require a token",
		"Should fix", "annotation_honesty", "<b>delete_file</b>", "<b>move_file</b>", "handshake.server_info",
		"Look at", "net.tls.version", "Fine", "net.scheme", "Policies it violates", "What it inherits", "exposes", "delete_file",
		"not declared; treated as destructive", "reads only", "org.example/files", "lustrum verify --key keys/lustrum.pub statements/",
	} {
		i := strings.Index(page[at+1:], want)
		if i < 0 {
			t.Fatalf("%q does not follow in the card", want)
		}
		at += 1 + i
	}
	if strings.Contains(page, strings.Repeat("9", 12)) {
		t.Error("it links to a statement that is not in the edition")
	}
	mail := read(t, dir, "servers/"+idOf(t, in, "https://mail.example.com/mcp")+".html")
	if !strings.Contains(mail, "Could not tell") || !strings.Contains(mail, "without credentials") || !strings.Contains(mail, "authorized_by") {
		t.Error("the protected card lacks what could not be told, or what it inherits")
	}
	gone := read(t, dir, "servers/"+idOf(t, in, "https://gone.example.net/mcp")+".html")
	if !strings.Contains(gone, "there is no score") || !strings.Contains(gone, "no answer within the time limit") {
		t.Error("the unreachable card does not say that there is no score, and why")
	}
}

func TestVerifyCommandIsExact(t *testing.T) {
	in := fixture(t)
	dir := build(t, in)
	for _, r := range in.Edition.Records {
		want := fmt.Sprintf("lustrum verify --key keys/lustrum.pub statements/%s/%s.json</code>", r.Digest[:2], r.Digest)
		if !strings.Contains(read(t, dir, "servers/"+r.ID+".html"), want) {
			t.Errorf("the page of %s lacks %q", r.ID, want)
		}
	}
}

func TestRecordsAndIndexForPrograms(t *testing.T) {
	in := fixture(t)
	dir := build(t, in)
	var idx index
	if err := json.Unmarshal([]byte(read(t, dir, "index.json")), &idx); err != nil {
		t.Fatal(err)
	}
	if idx.Format != "lustrum/server-index/1" || idx.NotInEdition != 3 || len(idx.Servers) != 8 {
		t.Fatalf("index: %q, %d missing, %d servers", idx.Format, idx.NotInEdition, len(idx.Servers))
	}
	for i, row := range idx.Servers {
		r := in.Edition.Records[i]
		var rec record
		if err := json.Unmarshal([]byte(read(t, dir, row.Record)), &rec); err != nil {
			t.Fatal(err)
		}
		if rec.ID != r.ID || row.ID != r.ID || rec.Statement.SHA256 != r.Digest || row.Statement != r.Digest || rec.Statement.Path != attest.StatementPath(r.Digest) {
			t.Errorf("row %d and its record do not name statement %s", i, r.Digest)
		}
		score := r.Statement.Predicate.Score
		if (score == nil) != (row.Score == nil) || (score == nil) != (rec.Score == nil) {
			t.Errorf("%s: a score where there is none, or none where there is one", r.ID)
		}
		if score != nil && (*row.Score != score.Total || *row.Grade != score.Grade || rec.Score.Total != score.Total) {
			t.Errorf("%s: another score than the statement's", r.ID)
		}
		if rec.Findings == nil || rec.Inherits == nil || rec.Listings == nil || rec.Violations == nil {
			t.Errorf("%s: a list is null", r.ID)
		}
	}
}

func TestPoliciesWorstFirst(t *testing.T) {
	page := read(t, build(t, fixture(t)), "policies.html")
	worst, then := strings.Index(page, `id="policy-inherited-critical"`), strings.Index(page, `id="policy-open-destructive"`)
	if worst < 0 || then < worst || !strings.Contains(page, "3 violations in this edition") || !strings.Contains(page, "2 violations at 2 servers") {
		t.Error("policies are not in order, or not counted right")
	}
}

func TestMethodShowsTheRubric(t *testing.T) {
	page := read(t, build(t, fixture(t)), "method.html")
	for _, want := range []string{
		"<code>anonymous/1</code>", `<th scope="row">connectivity</th><td>net</td><td class="num">10</td><td class="num">14.3 %</td>`,
		`<th scope="row">critical</th><td class="num">100</td>`, "auth.rejects_garbage, net.tls", "39.9", "19.9",
		"at most 1 request a second and host", "lustrum census reproduce .", "https://census.example/contact",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the method page lacks %q", want)
		}
	}
}

func TestWithoutFigures(t *testing.T) {
	in := fixture(t)
	in.Figures, in.FiguresNote = nil, "this build has no DuckDB"
	page := read(t, build(t, in), "index.html")
	if !strings.Contains(page, "were not computed: this build has no DuckDB") || strings.Contains(page, "figures.json") {
		t.Error("the start page does not say that there are no figures, or links to them")
	}
}

func TestEmptyEdition(t *testing.T) {
	in := fixture(t)
	in.Edition.Records, in.Edition.Listings, in.Risks, in.Violations = nil, nil, nil, nil
	in.Figures = nil
	dir := build(t, in)
	if !strings.Contains(read(t, dir, "servers.html"), "No server has a record in this edition.") {
		t.Error("an empty list does not say so")
	}
	if !strings.Contains(read(t, dir, "index.json"), `"servers": []`) {
		t.Error("the index of an empty edition has no empty list")
	}
}

func TestEqualInputEqualBytes(t *testing.T) {
	first, second := files(t, build(t, fixture(t))), files(t, build(t, fixture(t)))
	if len(first) != len(second) || len(first) != 8*2+9+3 {
		t.Fatalf("%d and %d files", len(first), len(second))
	}
	for name, content := range first {
		if content != second[name] {
			t.Errorf("%s differs between two builds", name)
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	in := fixture(b)
	base := samples()[:4]
	in.Edition.Records, in.Edition.Listings, in.Risks, in.Violations = nil, nil, map[string][]graph.Risk{}, nil
	for i := range 1000 {
		s := base[i%len(base)]
		s.url = fmt.Sprintf("https://s%d.example.com/mcp", i)
		in.Edition.Records = append(in.Edition.Records, s.record(b))
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := Build(b.TempDir(), in); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(in.Edition.Records))*float64(b.N)/b.Elapsed().Seconds(), "servers/s")
}
