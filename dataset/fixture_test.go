package dataset

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/attest/sign"
	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/dataset/figures"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// hostile is text that means something to a spreadsheet, a shell, a terminal
// and a browser.
const hostile = "=HYPERLINK(\"http://evil.example\",\"x\")\r\n'; DROP TABLE tools;--\x1b[31m\u202e<script>"

func digestOf(text string) string { return attest.Digest([]byte(text)) }

// record is a valid statement about a URL, changed by edit; counts and score
// follow from its verdicts.
func record(t testing.TB, url string, edit func(*attest.Predicate)) Record {
	t.Helper()
	e, err := target.New(target.StreamableHTTP, url)
	if err != nil {
		t.Fatal(err)
	}
	s := attest.New(e)
	p := &s.Predicate
	p.Instrument = attest.Instrument{Name: "lustrum", Version: "0.1.0", Commit: "abc", Catalogue: "checks", Rubric: rubric.Anonymous, Method: "1"}
	p.StartedAt, p.FinishedAt = "2026-01-11T08:00:00.000Z", "2026-01-11T08:00:02.345Z"
	p.Auth.State = "open"
	p.Evidence.SHA256 = digestOf("evidence")
	edit(p)
	p.Counts = attest.Count(p.Verdicts)
	rub, err := rubric.Load(rubric.Anonymous)
	if err != nil {
		t.Fatal(err)
	}
	var verdicts []rubric.Verdict
	for _, v := range p.Verdicts {
		verdicts = append(verdicts, rubric.Verdict{ID: v.ID, Phase: v.Phase, Status: v.Status, Severity: v.Severity})
	}
	p.Score = rub.Score(verdicts)
	raw, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if s, err = attest.Decode(raw); err != nil {
		t.Fatal(err)
	}
	return Record{ID: e.ID(), Host: e.Host(), Operator: "example.com", Digest: attest.Digest(raw), Statement: s}
}

func verdict(id, phase string, status rubric.Status, severity rubric.Severity) attest.Verdict {
	v := attest.Verdict{ID: id, Phase: phase, Status: status, Severity: severity, Evidence: "req#1"}
	if status == rubric.Skip {
		v.Evidence = ""
	}
	return v
}

// answering is what most endpoints of the fixture look like.
func answering(p *attest.Predicate) {
	p.Target.Server.Name, p.Target.Server.Version = "notes", ""
	p.Target.Server.Era = "legacy"
	p.Target.Server.ProtocolVersions = []string{"2025-03-26", "2025-06-18", "zzz"}
	p.Verdicts = []attest.Verdict{
		verdict("net.dns", "net", rubric.Pass, ""),
		verdict("handshake.initialize", "handshake", rubric.Pass, ""),
		verdict("catalog.tools.descriptions", "catalog", rubric.Pass, ""),
	}
	yes, no := true, false
	p.Catalogue = &attest.Catalogue{Digest: digestOf("catalogue"), Resources: 2, Tools: []attest.Tool{
		{Name: "write", Definition: digestOf("write"), Description: digestOf("w"), Annotations: attest.Annotations{ReadOnly: &no, Destructive: &yes}},
		{Name: "read", Definition: digestOf("read"), Annotations: attest.Annotations{ReadOnly: &yes}},
	}}
}

// fixture is an edition with ten endpoints: eight answer, one is protected,
// one is unreachable. Of the eight, two fail catalog.tools.descriptions.
func fixture(t testing.TB) *Edition {
	t.Helper()
	e := &Edition{
		ID: "2026-01-11", Registry: "https://registry.example.com", Namespaces: []string{"com.example"},
		Audience: "public", Method: "1", Operator: "an operator", Contact: "https://census.example.org", NotInEdition: 3,
	}
	for i := range 8 {
		e.Records = append(e.Records, record(t, fmt.Sprintf("https://mcp%d.example.com/mcp", i), func(p *attest.Predicate) {
			answering(p)
			switch i {
			case 0:
				p.Verdicts[2] = verdict("catalog.tools.descriptions", "catalog", rubric.Fail, rubric.Minor)
				p.Verdicts = append(p.Verdicts, verdict("catalog.tools.descriptions", "catalog", rubric.Fail, rubric.Major),
					verdict("catalog.tools.descriptions", "catalog", rubric.Warn, ""))
			case 1:
				p.Verdicts[2] = verdict("catalog.tools.descriptions", "catalog", rubric.Fail, rubric.Major)
				p.Target.Server.Name = hostile
				p.Catalogue.Tools = append(p.Catalogue.Tools, attest.Tool{Name: hostile, Definition: digestOf("h")})
			case 2:
				p.Target.Server.ProtocolVersions = []string{hostile}
				p.Target.Server.Era = "modern"
			}
		}))
	}
	e.Records = append(e.Records,
		record(t, "https://closed.example.com/mcp", func(p *attest.Predicate) {
			p.Auth.State = "oauth"
			p.Verdicts = []attest.Verdict{verdict("net.dns", "net", rubric.Pass, ""), verdict("handshake.initialize", "handshake", rubric.Skip, "")}
		}),
		record(t, "https://gone.example.com/mcp", func(p *attest.Predicate) {
			p.Auth.State = "unreachable"
			p.Blocked = &attest.Blocked{Phase: "net", Reason: "no such host"}
			p.Verdicts = []attest.Verdict{verdict("net.dns", "net", rubric.Fail, rubric.Critical), verdict("handshake.initialize", "handshake", rubric.Skip, "")}
		}))
	slices.SortFunc(e.Records, func(a, b Record) int { return compare(a.ID, b.ID) })
	for _, r := range e.Records {
		e.Listings = append(e.Listings, Listing{
			Name: "com.example/" + r.Host, Version: "1.0.0", Namespace: "com.example", Status: "active",
			Transport: "streamable-http", URL: r.Statement.Predicate.Target.Endpoint, EndpointID: r.ID,
		})
	}
	e.Listings = append(e.Listings,
		Listing{Name: "com.example/local", Version: "", Namespace: "com.example", Status: "active", Reason: "not remote", Title: hostile},
		Listing{Name: "com.example/old", Version: "0.1", Namespace: "com.example", Status: "active", Reason: hostile, URL: "https://{tenant}.example.com", Transport: "sse"})
	return e
}

func compare(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}

// shuffled is the same edition in another order.
func shuffled(e *Edition, seed uint64) *Edition {
	c := *e
	c.Records, c.Listings = slices.Clone(e.Records), slices.Clone(e.Listings)
	r := rand.New(rand.NewPCG(seed, 1))
	r.Shuffle(len(c.Records), func(i, j int) { c.Records[i], c.Records[j] = c.Records[j], c.Records[i] })
	r.Shuffle(len(c.Listings), func(i, j int) { c.Listings[i], c.Listings[j] = c.Listings[j], c.Listings[i] })
	return &c
}

// now is after every time of the fixture.
var now = time.Date(2026, 1, 12, 0, 0, 0, 0, time.UTC)

// publish writes a folder as a census does and returns it with the edition's
// folder and the public key.
func publish(t testing.TB, e *Edition) (root, dir string, key []byte) {
	t.Helper()
	root = t.TempDir()
	signer, err := sign.LoadOrMake(filepath.Join(t.TempDir(), "keys"))
	must(t, err)
	return root, publishIn(t, root, e, signer, ""), signer.PublicPEM()
}

// publishIn adds an edition that follows the one with the digest given.
func publishIn(t testing.TB, root string, e *Edition, signer *sign.Key, previous string) (dir string) {
	t.Helper()
	dir = filepath.Join(root, "editions", "edition="+e.ID)
	must(t, os.MkdirAll(dir, 0o755))
	must(t, Write(dir, e))
	if figures.Available {
		set, err := figures.Compute(t.Context(), dir, e.ID)
		must(t, err)
		must(t, figures.Write(dir, set))
	}
	must(t, WriteSums(dir))
	put := func(path string, content []byte) {
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, content, 0o644))
	}
	signed := func(path string, raw []byte) {
		bundle, err := signer.Sign(raw)
		must(t, err)
		put(path, raw)
		put(path+attest.BundleSuffix, bundle)
	}
	p := attest.EditionPredicate{
		Edition: e.ID, Registry: e.Registry, Namespaces: e.Namespaces, Audience: e.Audience, Method: e.Method, Rubric: rubric.Anonymous,
		Previous: previous,
		Counts:   attest.EditionCounts{Endpoints: len(e.Records) + e.NotInEdition, Public: len(e.Records), NotInEdition: e.NotInEdition},
	}
	var all []*attest.Statement
	for _, r := range e.Records {
		raw, err := r.Statement.Encode()
		must(t, err)
		signed(filepath.Join(root, filepath.FromSlash(attest.StatementPath(r.Digest))), raw)
		p.Statements = append(p.Statements, r.Digest)
		all = append(all, r.Statement)
	}
	p.StartedAt, p.FinishedAt = attest.Span(all)
	files, err := attest.Files(os.DirFS(dir))
	must(t, err)
	raw, err := attest.EncodeEdition(attest.NewEdition(p, files))
	must(t, err)
	signed(filepath.Join(dir, attest.EditionFile), raw)
	put(filepath.Join(root, "keys", "lustrum.pub"), signer.PublicPEM())
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
