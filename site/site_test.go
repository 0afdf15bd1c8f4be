package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/graph"
	"golang.org/x/net/html"
)

func build(t testing.TB, in Input) string {
	t.Helper()
	dir := t.TempDir()
	if err := Build(dir, in); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t testing.TB, dir, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// files lists what a build wrote, by path.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		all[filepath.ToSlash(rel)] = read(t, dir, filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func parse(t testing.TB, page string) *html.Node {
	t.Helper()
	n, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func idOf(t *testing.T, in Input, url string) string {
	t.Helper()
	for _, r := range in.Edition.Records {
		if r.Statement.Predicate.Target.Endpoint == url {
			return r.ID
		}
	}
	t.Fatalf("no record of %q", url)
	return ""
}

// published are the paths that the dataset, the signer and the store write
// beside the site: the only links that may lead to a file Build did not write.
func published(in Input) map[string]bool {
	folder := "editions/edition=2026-12-01/"
	all := map[string]bool{"editions/edition=2026-11-01/edition.json": true}
	for _, name := range []string{"endpoints.parquet", "listings.parquet", "checks.parquet", "tools.parquet", "figures.json", "edition.json", "edition.json.sigstore.json", "SHA256SUMS", "README.md"} {
		all[folder+name] = true
	}
	for _, f := range in.Figures.Figures {
		all[folder+"figures/"+f.Name+".csv"], all[folder+"figures/"+f.Name+".sql"] = true, true
	}
	for _, r := range in.Edition.Records {
		p := "statements/" + r.Digest[:2] + "/" + r.Digest + ".json"
		all[p], all[p+".sigstore.json"] = true, true
	}
	return all
}

func TestEveryInternalLinkResolves(t *testing.T) {
	in := fixture(t)
	all := files(t, build(t, in))
	beside := published(in)
	used := map[string]bool{}
	ids := map[string]map[string]bool{}
	for name, content := range all {
		if strings.HasSuffix(name, ".html") {
			ids[name] = map[string]bool{}
			for n := range parse(t, content).Descendants() {
				if id := attr(n, "id"); id != "" {
					if ids[name][id] {
						t.Errorf("%s: the id %q stands twice", name, id)
					}
					ids[name][id] = true
				}
			}
		}
	}
	for name, content := range all {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		for n := range parse(t, content).Descendants() {
			for _, key := range []string{"href", "src"} {
				raw := attr(n, key)
				if raw == "" {
					continue
				}
				u, err := url.Parse(raw)
				if err != nil {
					t.Errorf("%s: %q: %v", name, raw, err)
					continue
				}
				if u.IsAbs() || u.Host != "" {
					if n.Data != "a" {
						t.Errorf("%s: <%s> loads %q from elsewhere", name, n.Data, raw)
					}
					if u.Scheme != "http" && u.Scheme != "https" {
						t.Errorf("%s: a link of scheme %q", name, u.Scheme)
					}
					if attr(n, "rel") != "noreferrer nofollow" {
						t.Errorf("%s: the link to %q has rel %q", name, raw, attr(n, "rel"))
					}
					continue
				}
				if strings.HasPrefix(raw, "/") {
					t.Errorf("%s: %q is not relative", name, raw)
				}
				to := name
				if u.Path != "" {
					to = path.Join(path.Dir(name), u.Path)
				}
				if _, ok := all[to]; !ok && !beside[to] {
					t.Errorf("%s: %q leads to %q, which nobody writes", name, raw, to)
				}
				used[to] = true
				if u.Fragment != "" && !ids[to][u.Fragment] {
					t.Errorf("%s: %q: there is no id %q in %s", name, raw, u.Fragment, to)
				}
			}
		}
	}
	for p := range beside {
		if !used[p] {
			t.Errorf("no page links to %s", p)
		}
	}
}

func TestPagesKeepToThemselves(t *testing.T) {
	const want = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"
	for name, content := range files(t, build(t, fixture(t))) {
		switch path.Ext(name) {
		case ".css":
			if strings.Contains(content, "url(") || strings.Contains(content, "@import") {
				t.Errorf("%s loads something", name)
			}
			continue
		case ".html":
		default:
			continue
		}
		policies, scripts, landmarks := 0, 0, map[string]int{}
		for n := range parse(t, content).Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			landmarks[n.Data]++
			for _, a := range n.Attr {
				if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
					t.Errorf("%s: <%s> has the attribute %s", name, n.Data, a.Key)
				}
			}
			switch n.Data {
			case "meta":
				if attr(n, "http-equiv") == "Content-Security-Policy" {
					policies++
					if got := attr(n, "content"); got != want {
						t.Errorf("%s: policy %q", name, got)
					}
				}
			case "script":
				scripts++
				if attr(n, "src") != "../assets/servers.js" || textOf(n) != "" {
					t.Errorf("%s: a script that is not ours: src %q, text %q", name, attr(n, "src"), textOf(n))
				}
			case "style", "iframe", "object", "embed", "form", "base", "img":
				t.Errorf("%s holds <%s>", name, n.Data)
			}
		}
		if policies != 1 {
			t.Errorf("%s has %d content security policies", name, policies)
		}
		if wantScripts := map[bool]int{true: 1}[name == "servers/index.html"]; scripts != wantScripts {
			t.Errorf("%s has %d scripts, want %d", name, scripts, wantScripts)
		}
		if landmarks["main"] != 1 || landmarks["h1"] != 1 || landmarks["header"] == 0 || landmarks["nav"] == 0 || landmarks["footer"] != 1 {
			t.Errorf("%s lacks a landmark: %v", name, landmarks)
		}
		if !strings.Contains(content, `<a class="skip" href="#main">`) || !strings.HasPrefix(content, "<!doctype html>\n<html lang=\"en\">") {
			t.Errorf("%s has no skip link or no language", name)
		}
	}
}

func TestHostileTextIsInert(t *testing.T) {
	in := fixture(t)
	for name, content := range files(t, build(t, in)) {
		for _, r := range content {
			if r != '\n' && (r < 0x20 || r == 0x7f || r == 0x202e || r == 0x200b || r >= 0xe0000 && r <= 0xe007f) {
				t.Errorf("%s holds the raw character U+%04X", name, r)
				break
			}
		}
		if strings.Contains(content, "<script>alert") || strings.HasSuffix(name, ".html") && strings.Contains(content, `" onmouseover`) {
			t.Errorf("%s holds live markup of a server", name)
		}
		if strings.HasSuffix(name, ".html") && len(content) > 100_000 {
			t.Errorf("%s has %d bytes: a long name was not bounded", name, len(content))
		}
	}
	dir := build(t, in)
	list := textOf(parse(t, read(t, dir, "servers/index.html")))
	for _, want := range []string{
		scriptName,
		"<U+001B>[2J<U+001B>]0;owned<U+0007>wiped",
		"invoice<U+202E>fdp.exe",
		strings.Repeat("A", 120) + "… (1,048,576 characters)",
	} {
		if !strings.Contains(list, want) {
			t.Errorf("the list does not show %.60q", want)
		}
	}
	rtl := read(t, dir, "servers/"+idOf(t, in, "https://rtl.example.com/mcp")+".html")
	if !strings.Contains(textOf(parse(t, rtl)), "clean<U+E0041><U+E0042><U+200B>text") {
		t.Error("a tool's invisible characters are not shown as code points")
	}
	if !strings.Contains(rtl, "javascript:alert(4)") || strings.Contains(rtl, `href="javascript`) {
		t.Error("a repository of a foreign scheme must stand as text and not as a link")
	}
	// The JSON record has the name whole, with what is invisible as escapes.
	raw := read(t, dir, "servers/"+idOf(t, in, "https://rtl.example.com/mcp")+".json")
	if !strings.Contains(raw, `invoice\u202efdp.exe`) || !strings.Contains(raw, `clean\udb40\udc41\udb40\udc42\u200btext`) {
		t.Error("invisible characters stand raw in the record")
	}
	var rec record
	if err := json.Unmarshal([]byte(raw), &rec); err != nil || rec.Server.Name != rtlName || rec.Catalogue.Tools[0].Name != tagName {
		t.Errorf("the record does not read back: %v", err)
	}
}

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
		`<rect class="bar-fill" x="0" y="24" width="62.500%" height="12" rx="2"/>`,
		`<line x1="30.574%" x2="86.316%" y1="30" y2="30"/>`,
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

// TestSilentOnWhatIsNotInTheEdition gives risks and violations of a server
// that has no public record.
func TestSilentOnWhatIsNotInTheEdition(t *testing.T) {
	for name, content := range files(t, build(t, fixture(t))) {
		if strings.Contains(content, "held-back") || strings.Contains(content, strings.Repeat("h", 26)) {
			t.Errorf("%s names a server without a record", name)
		}
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

func TestOwnerEditionSaysSo(t *testing.T) {
	const banner = "Private edition for the operator of these servers. Not for publication."
	in := fixture(t)
	for name, content := range files(t, build(t, in)) {
		if strings.Contains(content, banner) {
			t.Errorf("the public %s says that it is private", name)
		}
	}
	in.Edition.Audience = "owner"
	in.Edition.NotInEdition = 0
	all := files(t, build(t, in))
	for name, content := range all {
		if strings.HasSuffix(name, ".html") && (!strings.Contains(content, banner) || !strings.Contains(content, `content="noindex, nofollow"`)) {
			t.Errorf("%s does not say that it is private", name)
		}
	}
	if all["robots.txt"] != "User-agent: *\nDisallow: /\n" {
		t.Errorf("robots.txt of a private edition: %q", all["robots.txt"])
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
	if !strings.Contains(read(t, dir, "servers/index.html"), "No server has a record in this edition.") {
		t.Error("an empty list does not say so")
	}
	if !strings.Contains(read(t, dir, "index.json"), `"servers": []`) {
		t.Error("the index of an empty edition has no empty list")
	}
}

func TestEqualInputEqualBytes(t *testing.T) {
	first, second := files(t, build(t, fixture(t))), files(t, build(t, fixture(t)))
	if len(first) != len(second) || len(first) != 8*2+4+1+3+3 {
		t.Fatalf("%d and %d files", len(first), len(second))
	}
	for name, content := range first {
		if content != second[name] {
			t.Errorf("%s differs between two builds", name)
		}
	}
}

func TestRefusesWhatWouldBreakThePages(t *testing.T) {
	for want, spoil := range map[string]func(*Input){
		"no edition":              func(in *Input) { in.Edition = nil },
		"is not a date":           func(in *Input) { in.Edition.ID = "../../etc" },
		"not 26 characters":       func(in *Input) { in.Edition.Records[0].ID = "../../../../../etc/passwd.." },
		"stands twice":            func(in *Input) { in.Edition.Records[1].ID = in.Edition.Records[0].ID },
		"not a SHA-256":           func(in *Input) { in.Edition.Records[0].Digest = "../x" },
		"has no statement":        func(in *Input) { in.Edition.Records[0].Statement = nil },
		"not made of a-z":         func(in *Input) { in.Figures.Figures[0].Name = "../x" },
		"figures are of edition":  func(in *Input) { in.Figures.Edition = "2026-11-01" },
		"-1 endpoints are not in": func(in *Input) { in.Edition.NotInEdition = -1 },
	} {
		in := fixture(t)
		spoil(&in)
		dir := t.TempDir()
		err := Build(dir, in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%q: something was written", want)
		}
	}
}

func TestLeavesFilesAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Build(dir, fixture(t)); err == nil {
		t.Error("an existing page is no error")
	}
	if read(t, dir, "index.html") != "mine" {
		t.Error("an existing page was overwritten")
	}
}

func TestLinksAreHTTPOnly(t *testing.T) {
	for raw, want := range map[string]string{
		"https://a.example/mcp?x=1": "https://a.example/mcp?x=1",
		"http://127.0.0.1:8080/":    "http://127.0.0.1:8080/",
		"javascript:alert(1)":       "", "JaVaScRiPt://a.example/%0aalert(1)": "", "data:text/html,x": "", "//a.example/": "",
		"https://user:pass@a.example/": "", " https://a.example/": "", "https://a.example/\u202e": "", "https:///path": "", "": "",
		"https://a.example/" + strings.Repeat("x", 3000): "",
	} {
		if got := link(raw); got != want {
			t.Errorf("link(%.40q) = %q, want %q", raw, got, want)
		}
	}
}

func FuzzShow(f *testing.F) {
	for _, s := range []string{scriptName, escName, rtlName, tagName, "\xff\xfe", "é"} {
		f.Add(s, 10)
	}
	raw := regexp.MustCompile(`[\x00-\x1f\x7f\x{202a}-\x{202e}\x{2066}-\x{2069}\x{e0000}-\x{e007f}]`)
	f.Fuzz(func(t *testing.T, s string, bound int) {
		bound = min(max(bound, 1), 500)
		got := show(s, bound)
		if raw.MatchString(got) {
			t.Errorf("show(%q) = %q holds something invisible", s, got)
		}
		if len(got) > bound*16+40 {
			t.Errorf("show of %d bytes with bound %d gives %d bytes", len(s), bound, len(got))
		}
		if l := link(s); l != "" && !strings.HasPrefix(l, "http://") && !strings.HasPrefix(l, "https://") {
			t.Errorf("link(%q) = %q", s, l)
		}
	})
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

func TestEncodeIsPrintable(t *testing.T) {
	raw, err := encode(map[string]string{"a": "x\u0085\u202e\U000e0001\x7fé<"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "{\n  \"a\": \"x\\u0085\\u202e\\udb40\\udc01\\u007fé\\u003c\"\n}\n"; !bytes.Equal(raw, []byte(want)) {
		t.Errorf("got %q, want %q", raw, want)
	}
}
