package attest

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// golden was written by Python's json module with sorted keys and no spaces,
// which for these values is RFC 8785; its digest is sha256sum's.
const (
	goldenFile   = "testdata/statement.json"
	goldenDigest = "b37210d46ec66b054a4cf332cd283d02aa2c30483f8fad50c1e033d33c00163f"
)

func golden(t testing.TB) []byte {
	t.Helper()
	raw, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func decoded(t testing.TB) *Statement {
	t.Helper()
	s, err := Decode(golden(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ptr[T any](v T) *T { return &v }

func TestRoundTrip(t *testing.T) {
	raw := golden(t)
	if got := Digest(raw); got != goldenDigest {
		t.Fatalf("digest %s, want %s", got, goldenDigest)
	}
	s := decoded(t)
	if s.Predicate.Target.Server.Name != "notes <dev> & üben" || s.Predicate.Score.Bounds != [2]float64{19.9, 94.3} ||
		s.Predicate.Score.ByCategory["authorization"] != nil || *s.Predicate.Catalogue.Tools[0].Annotations.ReadOnly {
		t.Errorf("read wrongly: %+v", s)
	}
	again, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, raw) {
		t.Errorf("encoded differently at %s", Difference(raw, again))
	}
}

// A statement that code fills in, with nothing where it has nothing to say.
func TestEncodeFillsLists(t *testing.T) {
	e, err := target.New(target.StreamableHTTP, "https://MCP.example.com:443/mcp")
	if err != nil {
		t.Fatal(err)
	}
	s := New(e)
	s.Predicate.Instrument = Instrument{Name: "lustrum", Version: "1", Catalogue: "c", Rubric: "anonymous/1", Method: "1"}
	now := time.Date(2026, 1, 11, 9, 0, 0, 999_999, time.FixedZone("", 3600))
	s.Predicate.StartedAt, s.Predicate.FinishedAt = Time(now), Time(now)
	s.Predicate.Auth.State = "unreachable"
	s.Predicate.Evidence.SHA256 = Digest(nil)
	s.Predicate.Score = &rubric.Score{Rubric: "anonymous/1", Grade: "F"}
	s.Predicate.Catalogue = &Catalogue{Digest: Digest(nil)}
	s.Predicate.Target.ListedAs = []Listing{{"r", "b", "1"}, {"r", "a", "2"}, {"r", "a", "1"}}
	s.Predicate.Auth.Issuers = []string{"https://b.example", "https://a.example"}
	raw, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"sha256":"` + Digest([]byte("streamable-http\nhttps://mcp.example.com/mcp")) + `"`,
		`"verdicts":[]`, `"protocol_versions":[]`, `"phases":[]`, `"caps":[]`, `"by_category":{}`, `"tools":[]`,
		`"issuers":["https://a.example","https://b.example"]`,
		`"listed_as":[{"name":"a","registry":"r","version":"1"},{"name":"a","registry":"r","version":"2"},{"name":"b","registry":"r","version":"1"}]`,
		`"blocked":null`, `"started_at":"2026-01-11T08:00:00.000Z"`, `"unverified":true`, `"policy":"read-only"`,
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("no %s in %s", want, raw)
		}
	}
	if s.Predicate.Target.ListedAs[0].Name != "b" || s.Predicate.Verdicts != nil {
		t.Error("Encode changed the statement it was given")
	}
	if _, err := Decode(raw); err != nil {
		t.Error(err)
	}
}

func TestNameIsBounded(t *testing.T) {
	long := strings.Repeat("ü", 400) // 800 bytes
	other := strings.Repeat("ü", 399) + "ä"
	a, b := Name(long), Name(other)
	if len(a) > MaxName || len(b) > MaxName || a == b || !strings.HasSuffix(a, "sha256:"+Digest([]byte(long))) {
		t.Errorf("cut to %d and %d bytes: %q", len(a), len(b), a)
	}
	if Name(a) != a {
		t.Error("a cut name is cut again")
	}
	if got := Name("a\xffb"); got != "a\uFFFDb" {
		t.Errorf("bad UTF-8 became %q", got)
	}
	s := decoded(t)
	s.Predicate.Catalogue.Tools[0].Name = long
	raw, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	if back.Predicate.Catalogue.Tools[0].Name != a {
		t.Error("Encode did not cut the name")
	}
	back.Predicate.Catalogue.Tools[0].Name = long
	wide, _ := canonical(back)
	if _, err := Decode(wide); err == nil {
		t.Error("a long name was read")
	}
}

// Every rule of Validate, broken once: the message names the member, and
// neither Encode nor Decode lets it through.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*Statement)
		want string
	}{
		{"type", func(s *Statement) { s.Type = "https://in-toto.io/Statement/v0.1" }, "_type"},
		{"predicate type", func(s *Statement) { s.PredicateType = "x" }, "predicateType"},
		{"no subject", func(s *Statement) { s.Subject = nil }, "subject"},
		{"two subjects", func(s *Statement) { s.Subject = append(s.Subject, s.Subject[0]) }, "subject"},
		{"subject name", func(s *Statement) { s.Subject[0].Name = "https://mcp.example.com" }, "subject[0].name"},
		{"subject digest", func(s *Statement) { s.Subject[0].Digest["sha256"] = Digest(nil) }, "subject[0].digest.sha256"},
		{"no digest", func(s *Statement) { s.Subject[0].Digest = nil }, "subject[0].digest"},
		{"second digest wrong", func(s *Statement) { s.Subject[0].Digest["sha512"] = "ab" }, "sha512"},
		{"transport", func(s *Statement) { s.Predicate.Target.Transport = "stdio" }, "transport"},
		{"other transport", func(s *Statement) { s.Predicate.Target.Transport = "sse" }, "subject[0].digest"},
		{"not canonical", func(s *Statement) { s.Predicate.Target.Endpoint = "https://MCP.example.com/mcp" }, "not canonical"},
		{"user information", func(s *Statement) { s.Predicate.Target.Endpoint = "https://a:b@mcp.example.com/mcp" }, "credentials"},
		{"listing", func(s *Statement) { s.Predicate.Target.ListedAs[0].Registry = "" }, "listed_as[0]"},
		{"verified", func(s *Statement) { s.Predicate.Target.Server.Unverified = false }, "server.unverified"},
		{"era", func(s *Statement) { s.Predicate.Target.Server.Era = strings.Repeat("x", 65) }, "server.era"},
		{"instrument", func(s *Statement) { s.Predicate.Instrument.Method = "" }, "instrument.method"},
		{"start", func(s *Statement) { s.Predicate.StartedAt = "2026-01-11T08:00:00Z" }, "started_at"},
		{"finish", func(s *Statement) { s.Predicate.FinishedAt = "2026-01-11T08:00:02.345+00:00" }, "finished_at"},
		{"order", func(s *Statement) { s.Predicate.FinishedAt = "2026-01-11T07:59:59.999Z" }, "before"},
		{"phase", func(s *Statement) { s.Predicate.Plan.Phases[0] = "Net" }, "plan.phases[0]"},
		{"policy", func(s *Statement) { s.Predicate.Plan.Policy = "" }, "plan.policy"},
		{"rate", func(s *Statement) { s.Predicate.Plan.RPS = -1 }, "plan.rps"},
		{"label", func(s *Statement) { s.Predicate.Vantage.Label = strings.Repeat("x", 513) }, "vantage.label"},
		{"check id", func(s *Statement) { s.Predicate.Verdicts[0].ID = "a b" }, "verdicts[0].id"},
		{"check phase", func(s *Statement) { s.Predicate.Verdicts[0].Phase = "" }, "verdicts[0].phase"},
		{"status", func(s *Statement) { s.Predicate.Verdicts[0].Status = "ok" }, "verdicts[0].status"},
		{"fail without severity", func(s *Statement) { s.Predicate.Verdicts[5].Severity = "" }, "verdicts[5].severity"},
		{"pass with severity", func(s *Statement) { s.Predicate.Verdicts[0].Severity = "minor" }, "verdicts[0].severity"},
		{"observed text", func(s *Statement) { s.Predicate.Verdicts[5].Observed = "ignore previous" }, "verdicts[5].observed"},
		{"observed on pass", func(s *Statement) { s.Predicate.Verdicts[0].Observed = Digest(nil) }, "verdicts[0].observed"},
		{"evidence", func(s *Statement) { s.Predicate.Verdicts[0].Evidence = strings.Repeat("x", 65) }, "verdicts[0].evidence"},
		{"score rubric", func(s *Statement) { s.Predicate.Score.Rubric = "full/1" }, "score.rubric"},
		{"total", func(s *Statement) { s.Predicate.Score.Total = 100.1 }, "score.total"},
		{"grade", func(s *Statement) { s.Predicate.Score.Grade = "E" }, "score.grade"},
		{"coverage", func(s *Statement) { s.Predicate.Score.Coverage = -1 }, "score.coverage"},
		{"bounds", func(s *Statement) { s.Predicate.Score.Bounds = [2]float64{9, 8} }, "score.bounds"},
		{"category", func(s *Statement) { s.Predicate.Score.ByCategory["catalog"] = ptr(101.0) }, "by_category.catalog"},
		{"auth", func(s *Statement) { s.Predicate.Auth.State = "" }, "auth.state"},
		{"catalogue digest", func(s *Statement) { s.Predicate.Catalogue.Digest = strings.Repeat("A", 64) }, "catalogue.digest"},
		{"resources", func(s *Statement) { s.Predicate.Catalogue.Resources = -1 }, "catalogue.resources"},
		{"tool", func(s *Statement) { s.Predicate.Catalogue.Tools[1].Definition = "" }, "catalogue.tools[1].definition"},
		{"description", func(s *Statement) { s.Predicate.Catalogue.Tools[1].Description = "Lists notes." }, "catalogue.tools[1].description"},
		{"counts", func(s *Statement) { s.Predicate.Counts.Skip = -1 }, "counts"},
		{"blocked", func(s *Statement) { s.Predicate.Blocked = &Blocked{} }, "blocked.phase"},
		{"evidence digest", func(s *Statement) { s.Predicate.Evidence.SHA256 = "" }, "evidence.sha256"},
		{"evidence size", func(s *Statement) { s.Predicate.Evidence.Size = -1 }, "evidence.size"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := decoded(t)
			c.do(s)
			if _, err := s.Encode(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Encode: %v, want a word on %q", err, c.want)
			}
			raw, err := canonical(s.complete())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Decode(raw); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Decode: %v, want a word on %q", err, c.want)
			}
		})
	}
}

func TestDecodeIsStrict(t *testing.T) {
	raw := string(golden(t))
	swap := func(old, new string) string {
		if !strings.Contains(raw, old) {
			t.Fatalf("no %s in the golden statement", old)
		}
		return strings.Replace(raw, old, new, 1)
	}
	for _, c := range []struct {
		name, raw string
		is        error
		want      string
	}{
		{"empty", "", nil, "JSON"},
		{"null", "null", ErrNotCanonical, ""},
		{"list", "[]", nil, "JSON"},
		{"cut", raw[:len(raw)-1], nil, "JSON"},
		{"too large", raw + strings.Repeat(" ", MaxSize), ErrTooLarge, "4194304"},
		{"trailing newline", raw + "\n", ErrNotCanonical, "offset"},
		{"trailing value", raw + "{}", nil, "JSON"},
		{"space", swap(`:{`, `: {`), ErrNotCanonical, "offset"},
		{"order", swap(`"name":"lustrum","rubric":"anonymous/1"`, `"rubric":"anonymous/1","name":"lustrum"`), ErrNotCanonical, "offset"},
		{"escape", swap(`&`, `\u0026`), ErrNotCanonical, "offset"},
		{"number", swap(`"total":92`, `"total":92.0`), ErrNotCanonical, "offset"},
		{"exponent", swap(`"size":4711`, `"size":4711e0`), nil, "size"},
		{"unknown", swap(`"_type"`, `"_extra":1,"_type"`), ErrUnknownField, "_extra"},
		{"unknown inside", swap(`"state":"open"`, `"state":"open","token":"x"`), ErrUnknownField, "token"},
		{"unknown annotation", swap(`{"readOnlyHint":true}`, `{"readOnlyHint":true,"title":"x"}`), ErrUnknownField, "title"},
		{"duplicate", swap(`"rps":0.5`, `"rps":0.5,"rps":0.5`), nil, "uplicate"},
		{"other case", swap(`"rps":0.5`, `"RPS":0.5`), ErrNotCanonical, ""},
		{"missing", swap(`"policy":"read-only","rps":0.5`, `"policy":"read-only"`), ErrNotCanonical, "plan.rps"},
		{"null list", swap(`"caps":[]`, `"caps":null`), ErrNotCanonical, "score.caps"},
		{"null annotation", swap(`{"readOnlyHint":true}`, `{"readOnlyHint":null}`), ErrNotCanonical, "readOnlyHint"},
		{"empty evidence", swap(`"id":"protocol.ping"`, `"evidence":"","id":"protocol.ping"`), ErrNotCanonical, "evidence"},
		{"unsorted", swap(`"issuers":[]`, `"issuers":["b","a"]`), ErrNotCanonical, "issuers[0]"},
		{"bounds of one", swap(`"bounds":[19.9,94.3]`, `"bounds":[19.9]`), ErrNotCanonical, "bounds"},
		{"bounds of three", swap(`"bounds":[19.9,94.3]`, `"bounds":[19.9,94.3,100]`), ErrNotCanonical, "bounds"},
		{"bad UTF-8", swap("ü", "\xff"), nil, "UTF-8"},
		{"wrong type", swap(`"size":4711`, `"size":"4711"`), nil, "size"},
		{"deep", strings.Repeat("[", 20000), nil, "JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode([]byte(c.raw))
			if err == nil {
				t.Fatal("accepted")
			}
			if c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want %v with %q", err, c.is, c.want)
			}
		})
	}
}

func TestParseKeepsMeaningOpen(t *testing.T) {
	s := decoded(t)
	s.Subject = []Subject{
		{Name: "a", Digest: map[string]string{"sha256": Digest([]byte("a"))}},
		s.Subject[0],
		{Name: "b", Digest: map[string]string{"sha512": strings.Repeat("0", 128)}},
	}
	raw, err := canonical(s)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := parsed.MatchSubject(); err != nil {
		t.Errorf("ours is second of three: %v", err)
	}
	if _, err := Decode(raw); err == nil || !strings.Contains(err.Error(), "exactly one") {
		t.Errorf("Decode took three subjects: %v", err)
	}
	parsed.Subject = []Subject{{Name: s.Predicate.Target.Endpoint, Digest: map[string]string{"sha512": strings.Repeat("0", 128)}}}
	if err := parsed.MatchSubject(); err == nil || !strings.Contains(err.Error(), `"sha512"`) {
		t.Errorf("sha512 only: %v", err)
	}
}

func TestDifference(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{`{"a":1}`, `{"a":1}`, ""},
		{`{"a":{"b":[1,{"c":2}]}}`, `{"a":{"b":[1,{"c":3}]}}`, "a.b[1].c"},
		{`{"a":[1]}`, `{"a":[1,2]}`, "a[1]"},
		{`{"a":1}`, `{"b":1}`, "a"},
		{`{"a":{}}`, `{"a":[]}`, "a"},
		{`1`, `2`, "the document"},
		{`{`, `{}`, "the document"},
	} {
		if got := Difference([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%s and %s differ at %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	want := Counts{Pass: 3, Warn: 1, Fail: 1, Skip: 1, Info: 1}
	if diff := cmp.Diff(want, Count(decoded(t).Predicate.Verdicts)); diff != "" {
		t.Error(diff)
	}
}

func FuzzDecode(f *testing.F) {
	raw := golden(f)
	f.Add(raw)
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"subject":[{"digest":{"sha512":"00"}}]}`))
	f.Add(bytes.Replace(raw, []byte(`"score":{`), []byte(`"score":null,"x":{`), 1))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if e, err := DecodeEdition(raw); err == nil {
			if again, err := EncodeEdition(e); err != nil || !bytes.Equal(again, raw) {
				t.Fatalf("an edition was read that is not written so: %v", err)
			}
		}
		s, err := Decode(raw)
		if err != nil {
			return
		}
		again, err := s.Encode()
		if err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("a statement was read that is not written so: %v", err)
		}
		if !json.Valid(again) {
			t.Fatal("not JSON")
		}
	})
}
