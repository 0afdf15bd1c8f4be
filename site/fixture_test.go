package site

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/dataset"
	"github.com/lustrum-mcp/lustrum/dataset/figures"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
	"github.com/lustrum-mcp/lustrum/graph"
)

// Names that a server may give itself or its tools to break a page.
const (
	scriptName = `</script><script>alert(1)</script>`
	attrName   = `" onmouseover="alert(2)" x="`
	escName    = "\x1b[2J\x1b]0;owned\x07wiped"
	rtlName    = "invoice\u202efdp.exe"
	tagName    = "clean\U000e0041\U000e0042\u200btext"
)

var bigName = strings.Repeat("A", 1<<20)

func ptr[T any](v T) *T { return &v }

// sample is one server of the fixture.
type sample struct {
	url, transport, auth, era, self string
	listed                          string // registry name; empty: not listed
	total                           float64
	grade                           string // empty: no score
	coverage                        float64
	caps                            []string
	verdicts                        []attest.Verdict
	tools                           []attest.Tool
	hasCatalogue                    bool
	blocked                         *attest.Blocked
	issuers                         []string
}

func pass(id, evidence string) attest.Verdict {
	phase, _, _ := strings.Cut(id, ".")
	return attest.Verdict{ID: id, Phase: phase, Status: rubric.Pass, Evidence: evidence}
}

func fail(id string, severity rubric.Severity, evidence, subject string) attest.Verdict {
	v := pass(id, evidence)
	v.Status, v.Severity, v.Subject = rubric.Fail, severity, subject
	return v
}

func other(id string, status rubric.Status, evidence string) attest.Verdict {
	v := pass(id, evidence)
	v.Status = status
	return v
}

// samples are eight servers of every kind; four of them are hostile.
func samples() []sample {
	basics := []attest.Verdict{
		pass("net.scheme", "req#1"), pass("net.dns", "req#1"), pass("net.tcp", "req#1"), pass("net.tls", "req#1"),
		other("net.tls.version", rubric.Warn, "req#1"), other("discovery.first_contact", rubric.Info, "req#2"),
	}
	tool := func(name string, a attest.Annotations) attest.Tool {
		return attest.Tool{Name: name, Definition: strings.Repeat("ab", 32), Description: strings.Repeat("cd", 32), Annotations: a}
	}
	return []sample{
		{url: "https://notes.example.com/mcp", transport: target.StreamableHTTP, auth: "open", era: "dual", self: "notes", listed: "com.example/notes",
			total: 96.4, grade: "A", coverage: 100, hasCatalogue: true,
			verdicts: append(slices.Clone(basics), pass("catalog.tools.list", "req#5"), pass("handshake.initialize", "req#3")),
			tools: []attest.Tool{
				tool("search_notes", attest.Annotations{ReadOnly: ptr(true), Idempotent: ptr(true), OpenWorld: ptr(false)}),
				tool("add_note", attest.Annotations{ReadOnly: ptr(false), Destructive: ptr(false)}),
				tool("drop_notes", attest.Annotations{Destructive: ptr(true)}),
			}},
		{url: "https://mail.example.com/mcp", transport: target.StreamableHTTP, auth: "oauth", era: "", self: "", listed: "com.example/mail",
			total: 98.3, grade: "A", coverage: 42.9, issuers: []string{"https://login.example.com/", "javascript:alert(3)"},
			verdicts: append(slices.Clone(basics), other("discovery.as.pkce", rubric.Warn, "req#4"), other("handshake.initialize", rubric.Skip, ""))},
		{url: "https://files.example.org/sse", transport: target.SSE, auth: "open", era: "legacy", self: "files", listed: "org.example/files",
			total: 19.9, grade: "F", coverage: 100, caps: []string{"capped at 39.9 by a critical finding: auth.unauthenticated_tools, catalog.text.instructions", "capped at 19.9 by a critical finding: catalog.text.instructions"}, hasCatalogue: true,
			verdicts: append(slices.Clone(basics),
				fail("auth.unauthenticated_tools", rubric.Critical, "req#6", ""), fail("catalog.text.instructions", rubric.Critical, "req#6", "delete_file"),
				fail("catalog.tools.annotation_honesty", rubric.Major, "req#6", "delete_file"), fail("catalog.tools.annotation_honesty", rubric.Major, "req#6", "move_file"),
				fail("handshake.server_info", rubric.Minor, "req#3", "")),
			tools: []attest.Tool{tool("delete_file", attest.Annotations{}), tool("move_file", attest.Annotations{ReadOnly: ptr(true)})}},
		{url: "https://gone.example.net/mcp", transport: target.StreamableHTTP, auth: "unreachable", listed: "net.example/gone",
			verdicts: []attest.Verdict{other("net.tcp", rubric.Skip, "")}, blocked: &attest.Blocked{Phase: "net", Reason: "no answer within the time limit"}},
		{url: "https://script.example.com/mcp?q=%3Cscript%3E", transport: target.StreamableHTTP, auth: "open", era: "modern", self: scriptName,
			total: 76, grade: "B", coverage: 71.4, hasCatalogue: true, verdicts: append(slices.Clone(basics), fail("catalog.tools.names", rubric.Minor, "req#5", scriptName)),
			tools: []attest.Tool{tool(scriptName, attest.Annotations{}), tool(attrName, attest.Annotations{OpenWorld: ptr(true)})}},
		{url: "https://esc.example.com/mcp", transport: target.StreamableHTTP, auth: "open", era: "legacy", self: escName,
			total: 61.5, grade: "C", coverage: 100, hasCatalogue: true, verdicts: slices.Clone(basics)},
		{url: "https://rtl.example.com/mcp", transport: target.StreamableHTTP, auth: "protected", era: "none", self: rtlName,
			total: 45.1, grade: "D", coverage: 57.1, verdicts: slices.Clone(basics), hasCatalogue: true, tools: []attest.Tool{tool(tagName, attest.Annotations{})}},
		{url: "https://big.example.com/mcp", transport: target.StreamableHTTP, auth: "open", era: "legacy", self: bigName,
			total: 90, grade: "A", coverage: 100, hasCatalogue: true, verdicts: slices.Clone(basics),
			tools: []attest.Tool{tool(bigName, attest.Annotations{})}},
	}
}

func (s sample) record(t testing.TB) dataset.Record {
	t.Helper()
	e, err := target.New(s.transport, s.url)
	if err != nil {
		t.Fatal(err)
	}
	var score *rubric.Score
	if s.grade != "" {
		score = &rubric.Score{
			Rubric: rubric.Anonymous, Total: s.total, Grade: s.grade, Caps: s.caps, Coverage: s.coverage,
			Bounds: [2]float64{s.total * s.coverage / 100, s.total}, ByCategory: map[string]*float64{
				"connectivity": ptr(95.0), "authorization": ptr(s.total), "protocol": ptr(88.5), "catalog": nil,
			},
		}
	}
	sum := e.Digest()
	p := attest.Predicate{
		Target:     attest.Target{Transport: s.transport, Endpoint: e.URL, Server: attest.Server{Name: s.self, Version: "1.2.3", ProtocolVersions: []string{"2025-06-18"}, Era: s.era, Unverified: true}},
		Instrument: attest.Instrument{Name: "lustrum", Version: "0.1.0", Catalogue: "2026.12", Rubric: rubric.Anonymous, Method: "1"},
		StartedAt:  "2026-12-01T02:00:00.000Z", FinishedAt: "2026-12-01T02:00:04.250Z",
		Vantage:  attest.Vantage{Label: "example, Frankfurt", UserAgent: "lustrum/0.1.0 (+https://census.example/contact)"},
		Plan:     attest.Plan{Phases: []string{"net", "discovery", "handshake", "catalog"}, Policy: "read-only", RPS: 1, Credentials: "none"},
		Verdicts: s.verdicts, Score: score, Auth: attest.Auth{State: s.auth, Issuers: s.issuers}, Blocked: s.blocked,
		Evidence: attest.Evidence{SHA256: strings.Repeat("0f", 32), Size: 18233},
	}
	if s.hasCatalogue {
		p.Catalogue = &attest.Catalogue{Digest: strings.Repeat("12", 32), Tools: s.tools, Resources: 2}
	}
	host := e.Host()
	operator := strings.Join(strings.Split(host, ".")[1:], ".")
	return dataset.Record{
		ID: e.ID(), Host: host, Operator: operator, Digest: fmt.Sprintf("%x", sum),
		Statement: &attest.Statement{Type: attest.StatementType, PredicateType: attest.PredicateType, Predicate: p},
	}
}

// fixture is an edition of the eight servers, three of them with violations.
func fixture(t testing.TB) Input {
	t.Helper()
	e := &dataset.Edition{
		ID: "2026-12-01", Registry: "https://registry.example/", Namespaces: []string{"com.example", "org.example"}, Audience: "public",
		Method: "1", Operator: "example, Frankfurt", Contact: "https://census.example/contact", NotInEdition: 3,
	}
	ids := map[string]string{}
	for _, s := range samples() {
		r := s.record(t)
		ids[s.url] = r.ID
		e.Records = append(e.Records, r)
		if s.listed != "" {
			e.Listings = append(e.Listings, dataset.Listing{
				Name: s.listed, Version: "1.0.0", Namespace: strings.Split(s.listed, "/")[0], Status: "active", Transport: s.transport, URL: s.url, EndpointID: r.ID,
				Repository: "https://code.example/" + s.listed, Title: "A server", Description: "Does one thing, and says so in a sentence.",
			})
		}
	}
	e.Listings = append(e.Listings,
		dataset.Listing{Name: "com.example/local", Version: "2.0.0", Namespace: "com.example", Status: "active", Reason: "not remote"},
		dataset.Listing{Name: "com.example/evil", Version: "2.0.0", Namespace: "com.example", Status: "active", EndpointID: ids["https://rtl.example.com/mcp"], Repository: "javascript:alert(4)", Description: scriptName},
	)
	// The listing of the RTL server hides its own name; leave that to the tools.
	e.Listings[len(e.Listings)-1].Name = ""
	slices.SortFunc(e.Records, func(a, b dataset.Record) int { return strings.Compare(a.ID, b.ID) })
	files, gone := ids["https://files.example.org/sse"], ids["https://mail.example.com/mcp"]
	server := graph.Node{Kind: "server", Key: files, Name: "https://files.example.org/sse"}
	tool := graph.Node{Kind: "tool", Key: files + " delete_file", Name: "delete_file"}
	issuer := graph.Node{Kind: "issuer", Key: "https://login.example.com/", Name: "https://login.example.com/"}
	held := graph.Node{Kind: "server", Key: strings.Repeat("h", 26), Name: "https://held-back.example/mcp"}
	var digest string
	for _, r := range e.Records {
		if r.ID == files {
			digest = r.Digest
		}
	}
	return Input{
		Edition: e, Editions: []string{"2026-12-01", "2026-11-01"}, KeyID: "SHA256:examplekeyid", PublicKeyPEM: []byte("-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n"), Version: "0.1.0",
		Figures: sampleFigures(),
		Risks: map[string][]graph.Risk{
			files: {
				{Check: "auth.unauthenticated_tools", Status: "fail", Severity: "critical", At: server, Evidence: []string{digest}},
				{Check: "catalog.text.instructions", Status: "fail", Severity: "critical", At: tool, Path: []graph.Step{{From: server, Edge: "exposes", To: tool}}, Evidence: []string{digest, strings.Repeat("9", 64)}},
			},
			gone: {
				{Check: "discovery.as.pkce", Status: "warn", At: issuer, Path: []graph.Step{{From: graph.Node{Kind: "server", Key: gone}, Edge: "authorized_by", To: issuer}}},
				{Check: "discovery.as.https", Status: "fail", Severity: "major", At: held, Path: []graph.Step{{From: graph.Node{Kind: "server", Key: gone}, Edge: "shadows", To: held}}},
			},
		},
		Violations: []Violation{
			{Policy: "open-destructive", Title: "Nobody destroys without credentials", Severity: "major", Reason: "The server answers anybody, and this tool may destroy.", Remedy: "Ask for credentials.", Path: "server files.example.org exposes tool delete_file", EndpointID: files},
			{Policy: "inherited-critical", Title: "Nothing critical in reach", Severity: "critical", Reason: "It inherits a critical finding.", Remedy: "Repair the tool.", Path: "server files.example.org exposes tool delete_file", EndpointID: files},
			{Policy: "open-destructive", Title: "Nobody destroys without credentials", Severity: "major", Path: scriptName, EndpointID: ids["https://script.example.com/mcp?q=%3Cscript%3E"]},
			{Policy: "open-destructive", Title: "Nobody destroys without credentials", Severity: "major", Path: "server held-back.example", EndpointID: strings.Repeat("h", 26)},
		},
	}
}

func sampleFigures() *figures.Set {
	columns := []string{"label", "count", "denominator", "share", "low", "high"}
	row := func(label string, k, n int64, share, low, high float64) []any {
		return []any{label, k, n, share, low, high}
	}
	wide := figures.Figure{Name: "check-failures", Title: "Checks by how often they fail", Unit: "endpoints", Chart: "table", Note: "Of the endpoints where the check came out.", SQL: "SELECT 2", Columns: columns}
	for i := range 14 {
		wide.Rows = append(wide.Rows, row(fmt.Sprintf("catalog.tools.check_%02d", i), int64(14-i), 40, float64(14-i)/40, 0.01, 0.5))
	}
	return &figures.Set{Edition: "2026-12-01", Figures: []figures.Figure{
		{Name: "authentication", Title: "How first contact was answered", Unit: "endpoints", Chart: "bars", Note: `Share of all endpoints with a public record. "open": answers without credentials.`, SQL: "SELECT 1", Columns: columns, Rows: [][]any{
			row("open", 5, 8, 0.625, 0.305742, 0.863157), row("oauth", 1, 8, 0.125, 0.022420, 0.470882), row("protected", 1, 8, 0.125, 0.022420, 0.470882), row("unreachable", 1, 8, 0.125, 0.022420, 0.470882),
		}},
		wide,
		{Name: "era", Title: "Which handshakes are answered", Unit: "endpoints", Chart: "bars", Note: "Nothing answered.", SQL: "SELECT 3", Columns: columns, Rows: [][]any{{"modern", int64(0), int64(0), nil, nil, nil}, {scriptName, int64(12345), int64(23456), 0.526304, 0.5199, 0.5327}}},
		{Name: "grades", Title: "Grades", Unit: "endpoints", Chart: "bars", Note: "Share of all endpoints with a public record.", SQL: "SELECT 4", Columns: columns, Rows: [][]any{
			row("A", 3, 8, 0.375, 0.136848, 0.694253), row("B", 1, 8, 0.125, 0.022420, 0.470882), row("C", 1, 8, 0.125, 0.022420, 0.470882), row("D", 1, 8, 0.125, 0.022420, 0.470882), row("F", 1, 8, 0.125, 0.022420, 0.470882), row("none", 1, 8, 0.125, 0.022420, 0.470882),
		}},
	}}
}
