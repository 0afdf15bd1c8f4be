package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/crawler/wire"
	"github.com/lustrum-mcp/lustrum/engine/check"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

var update = flag.Bool("update", false, "write the golden files anew")

func yes() *bool { v := true; return &v }

// reports are made by hand, so that the golden files hold what a person
// decided and not what a run happened to give.
func reports(t testing.TB) map[string]*check.Report {
	t.Helper()
	endpoint, err := target.New(target.StreamableHTTP, "https://mcp.example.com/mcp")
	if err != nil {
		t.Fatal(err)
	}
	r, err := rubric.Load(rubric.Anonymous)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 12, 1, 6, 30, 0, 0, time.UTC)
	base := func() *check.Report {
		return &check.Report{Endpoint: endpoint, StartedAt: start, FinishedAt: start.Add(1300 * time.Millisecond),
			Instrument: check.Instrument{Name: "lustrum", Version: "1.0.0", Catalogue: "2026.12", Rubric: r.ID},
			Phases:     check.AnonymousPhases}
	}
	finish := func(rep *check.Report) *check.Report {
		rep.Score = r.Score(rep.Verdicts())
		return rep
	}
	f := func(id string, status check.Status, severity check.Severity, observed, evidence, subject string) check.Finding {
		meta, ok := check.Lookup(id)
		if !ok {
			t.Fatalf("no check %q", id)
		}
		finding := check.Finding{ID: id, Phase: meta.Phase, Title: meta.Title, Status: status, Severity: severity,
			Observed: observed, Evidence: evidence, Reference: meta.Reference, Subject: subject}
		if status == rubric.Fail || status == rubric.Warn {
			finding.Advice = meta.Advice
		}
		return finding
	}
	digest := strings.Repeat("0123456789abcdef", 4)

	open := base()
	open.Auth, open.Resources, open.Catalogue = check.AuthOpen, 2, digest
	open.Server = check.Server{Name: "demo\x1b[2J\u009b2J", Version: "1.0\u202e", ProtocolVersions: []string{"2025-11-25", "2026-07-28"}, Era: "dual"}
	open.Tools = []check.Tool{
		{Name: "read_note", DefinitionDigest: digest, DescriptionDigest: digest, Annotations: check.Annotations{ReadOnly: yes()}},
		{Name: "delete\x1b[8mnote", DefinitionDigest: digest},
	}
	open.Exchanges = make([]wire.Exchange, 8)
	open.Findings = []check.Finding{
		f("net.scheme", rubric.Pass, "", "https", "req#1", ""),
		f("net.tls.version", rubric.Warn, "", "TLS 1.2", "req#1", ""),
		f("discovery.first_contact", rubric.Info, "", "open: server/discover lists \"2026-07-28\"", "req#2-3", ""),
		f("discovery.challenge", rubric.Skip, "", "first contact was not answered 401: there is no authorization to discover", "", ""),
		f("auth.unauthenticated_tools", rubric.Fail, rubric.Critical, `2 tools listed without credentials, and first contact was open too; destructive: "delete<U+001B>[8mnote" ("delete")`, "req#5", ""),
		f("handshake.initialize", rubric.Pass, "", `initialize settles on "2025-11-25"`, "req#3-4", ""),
		f("handshake.server_info", rubric.Fail, rubric.Minor, "the name is missing", "req#3", ""),
		f("catalog.tools.list", rubric.Pass, "", "2 tools listed", "req#5", ""),
		f("catalog.tools.descriptions", rubric.Fail, rubric.Major, "the description is missing", "req#5", "delete<U+001B>[8mnote"),
		f("catalog.tools.annotations", rubric.Warn, "", "1 of 2 tools without readOnlyHint and destructiveHint", "req#5", ""),
	}

	protected := base()
	protected.Auth, protected.Issuers = check.AuthOAuth, []string{"https://login.example.com"}
	protected.Exchanges = make([]wire.Exchange, 6)
	protected.Hosts = []string{"169.254.169.254"}
	protected.Findings = []check.Finding{
		f("net.scheme", rubric.Pass, "", "https", "req#1", ""),
		f("discovery.first_contact", rubric.Pass, "", "initialize is answered HTTP 401", "req#2-3", ""),
		f("handshake.initialize", rubric.Skip, "", "protected: the server asks for credentials, and this run has none", "", ""),
	}

	unreachable := base()
	unreachable.Auth, unreachable.Phases = check.AuthUnreachable, []string{"net"}
	unreachable.Exchanges = make([]wire.Exchange, 1)
	unreachable.Blocked = &check.Blocked{Phase: "net", Reason: "the host name does not resolve"}
	unreachable.Findings = []check.Finding{
		f("net.dns", rubric.Fail, rubric.Critical, "lookup mcp.example.com: no such host", "req#1", ""),
		f("net.tcp", rubric.Skip, "", "not run: net was blocked: the host name does not resolve", "", ""),
	}

	nothing := base()
	nothing.Auth, nothing.Phases = check.AuthUnreachable, nil
	nothing.StartedAt, nothing.FinishedAt = time.Time{}, time.Time{}
	nothing.Findings = []check.Finding{f("net.dns", rubric.Skip, "", "the run was stopped", "", "")}
	return map[string]*check.Report{"open": finish(open), "protected": finish(protected), "unreachable": finish(unreachable), "nothing": finish(nothing)}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (run with -update to accept):\n%s", path, got)
	}
}

func compiled(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(SchemaID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(SchemaID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGolden(t *testing.T) {
	s := compiled(t)
	for name, rep := range reports(t) {
		t.Run(name, func(t *testing.T) {
			var plain, verbose, coloured, doc bytes.Buffer
			for _, err := range []error{
				Text(&plain, rep, Options{}),
				Text(&verbose, rep, Options{Verbose: true}),
				Text(&coloured, rep, Options{Color: true}),
				JSON(&doc, rep),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			golden(t, name+".txt", plain.Bytes())
			golden(t, name+".verbose.txt", verbose.Bytes())
			golden(t, name+".json", doc.Bytes())
			stripped := ansi.Replace(coloured.String())
			if stripped != plain.String() {
				t.Errorf("colour changes more than colour:\n%s", stripped)
			}
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(value); err != nil {
				t.Errorf("the document does not follow its schema: %v", err)
			}
			noControl(t, plain.String())
			noControl(t, verbose.String())
			noControl(t, doc.String())
		})
	}
}

// ansi takes out the colours that this package writes.
var ansi = func() *strings.Replacer {
	pairs := []string{"\x1b[0m", ""}
	for _, code := range []string{bold, dim, red, green, yellow, blue, red + ";" + bold, green + ";" + bold, yellow + ";" + bold} {
		pairs = append(pairs, "\x1b["+code+"m", "")
	}
	return strings.NewReplacer(pairs...)
}()

// noControl fails when anything but a line feed could control a terminal or
// turn the order of reading.
func noControl(t *testing.T, s string) {
	t.Helper()
	for _, r := range s {
		if r < 0x20 && r != '\n' || r >= 0x7F && r <= 0x9F || r == 0x202E || r == 0x200B {
			t.Errorf("U+%04X reached the output", r)
		}
	}
}

// Totals in every format are the same numbers.
func TestCountsAgree(t *testing.T) {
	for name, rep := range reports(t) {
		want := map[check.Status]int{}
		for _, f := range rep.Findings {
			want[f.Status]++
		}
		var plain, doc bytes.Buffer
		if err := Text(&plain, rep, Options{}); err != nil {
			t.Fatal(err)
		}
		if err := JSON(&doc, rep); err != nil {
			t.Fatal(err)
		}
		var read struct {
			Counts   map[string]int
			Findings []struct{ Status string }
		}
		if err := json.Unmarshal(doc.Bytes(), &read); err != nil {
			t.Fatal(err)
		}
		if read.Counts["findings"] != len(rep.Findings) || len(read.Findings) != len(rep.Findings) {
			t.Errorf("%s: %d findings, JSON counts %d and lists %d", name, len(rep.Findings), read.Counts["findings"], len(read.Findings))
		}
		line := fmt.Sprintf("%d failed, %d to look at, %d passed, %d to know, %d skipped",
			want[rubric.Fail], want[rubric.Warn], want[rubric.Pass], want[rubric.Info], want[rubric.Skip])
		if !strings.Contains(plain.String(), line) {
			t.Errorf("%s: the text does not say %q", name, line)
		}
		for status, n := range want {
			if read.Counts[string(status)] != n {
				t.Errorf("%s: JSON counts %d %s, want %d", name, read.Counts[string(status)], status, n)
			}
		}
	}
}

// The document must be JSON whatever a server calls itself.
func FuzzJSON(f *testing.F) {
	f.Add("x\x1b[2J", "</script>", "\u202e\U000E0041")
	f.Add("\xff\xfe", "\u2028", "\u009b")
	s := compiled(f)
	f.Fuzz(func(t *testing.T, name, subject, observed string) {
		rep := reports(t)["open"]
		rep.Server.Name = name
		rep.Findings[0].Subject = check.Quote(subject)
		rep.Findings[0].Observed = check.Quote("x" + observed)
		rep.Tools[0].Name = subject
		var plain, doc bytes.Buffer
		if err := JSON(&doc, rep); err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc.Bytes()))
		if err != nil {
			t.Fatalf("not JSON: %v\n%s", err, doc.Bytes())
		}
		if err := s.Validate(value); err != nil {
			t.Fatal(err)
		}
		if err := Text(&plain, rep, Options{}); err != nil {
			t.Fatal(err)
		}
		noControl(t, plain.String())
		noControl(t, doc.String())
	})
}
