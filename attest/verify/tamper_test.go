package verify

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// Every value in the statement, changed after signing: the file beside the
// bundle is refused and the message names the member.
func TestEveryMemberTampered(t *testing.T) {
	raw := golden(t)
	bundle, key := signed(t, raw)
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	n := 0
	var walk func(v any, path string, set func(any))
	walk = func(v any, path string, set func(any)) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				at := strings.TrimPrefix(path+"."+name, ".")
				walk(inner, at, func(x any) { v[name] = x })
			}
			return
		case []any:
			for i, inner := range v {
				walk(inner, path+"["+string(rune('0'+i))+"]", func(x any) { v[i] = x })
			}
			return
		case string:
			set(v + "x")
		case float64:
			set(v + 1)
		case bool:
			set(!v)
		case nil:
			set("x")
		}
		n++
		r := Statement(Input{Statement: encode(t, doc), Bundle: bundle, Options: Options{Keys: []Key{key}, Now: now}})
		if r.Verified || detail(r, SameContent) != "the statement is not the one in the bundle: "+path+" differs" {
			t.Errorf("%s: verified %v: %s", path, r.Verified, detail(r, SameContent))
		}
		set(v)
	}
	walk(doc, "", nil)
	if n < 80 {
		t.Errorf("only %d values changed", n)
	}
}

// A signer who lies: the signature is good and the content is not. Each lie
// falls under its criterion, and the detail names the member.
func TestLies(t *testing.T) {
	ptr := func(f float64) *float64 { return &f }
	for _, c := range []struct {
		name      string
		do        func(*attest.Statement)
		criterion string
		want      string
	}{
		{"statement type", func(s *attest.Statement) { s.Type = "https://in-toto.io/Statement/v0.1" }, StatementType, "v0.1"},
		{"predicate type", func(s *attest.Statement) { s.PredicateType = "https://slsa.dev/provenance/v1" }, PredicateType, "slsa.dev"},
		{"another endpoint", func(s *attest.Statement) { s.Predicate.Target.Endpoint = "https://bank.example.com/mcp" }, Subject, "bank.example.com"},
		{"endpoint not canonical", func(s *attest.Statement) {
			s.Predicate.Target.Endpoint = "https://mcp.example.com:443/mcp"
		}, Subject, "canonical"},
		{"subject digest", func(s *attest.Statement) { s.Subject[0].Digest["sha256"] = attest.Digest(nil) }, Subject, "sha256"},
		{"no subject", func(s *attest.Statement) { s.Subject = []attest.Subject{} }, Subject, "subject"},
		{"status unknown", func(s *attest.Statement) { s.Predicate.Verdicts[0].Status = "ok" }, Fields, "verdicts[0].status"},
		{"observed text", func(s *attest.Statement) { s.Predicate.Verdicts[5].Observed = "text" }, Fields, "verdicts[5].observed"},
		{"count", func(s *attest.Statement) { s.Predicate.Counts.Fail = 0 }, Counts, "predicate.counts"},
		{"a fail left out", func(s *attest.Statement) { s.Predicate.Verdicts = slices.Delete(s.Predicate.Verdicts, 5, 6) }, Counts, "predicate.counts"},
		{"a fail turned to pass", func(s *attest.Statement) {
			v := &s.Predicate.Verdicts[5]
			v.Status, v.Severity, v.Observed = "pass", "", ""
			s.Predicate.Counts = attest.Count(s.Predicate.Verdicts)
		}, Score, "predicate.score.total is 92, but the verdicts give 98"},
		{"severity lowered", func(s *attest.Statement) { s.Predicate.Verdicts[5].Severity = "critical" }, Caps, "predicate.score.caps"},
		{"total", func(s *attest.Statement) { s.Predicate.Score.Total = 92.1 }, Score, "predicate.score.total"},
		{"category", func(s *attest.Statement) { s.Predicate.Score.ByCategory["catalog"] = ptr(86) }, Categories, "by_category"},
		{"category invented", func(s *attest.Statement) { s.Predicate.Score.ByCategory["x"] = nil }, Categories, "by_category"},
		{"category assessed", func(s *attest.Statement) { s.Predicate.Score.ByCategory["authorization"] = ptr(0) }, Categories, "by_category"},
		{"grade", func(s *attest.Statement) { s.Predicate.Score.Grade = "B" }, Grade, "predicate.score.grade"},
		{"cap", func(s *attest.Statement) { s.Predicate.Score.Caps = []string{"x"} }, Caps, "predicate.score.caps"},
		{"coverage", func(s *attest.Statement) { s.Predicate.Score.Coverage = 100 }, Coverage, "predicate.score.coverage is 100, but the verdicts give 71.4"},
		{"bounds", func(s *attest.Statement) { s.Predicate.Score.Bounds[0] = 20 }, Bounds, "predicate.score.bounds"},
		{"score left out", func(s *attest.Statement) { s.Predicate.Score = nil }, Score, "missing"},
		{"score out of nothing", func(s *attest.Statement) {
			s.Predicate.Verdicts, s.Predicate.Counts = []attest.Verdict{}, attest.Counts{}
		}, Score, "assess nothing"},
		{"unknown rubric", func(s *attest.Statement) { s.Predicate.Instrument.Rubric = "kind/1" }, Score, "kind/1"},
		{"other rubric", func(s *attest.Statement) {
			s.Predicate.Instrument.Rubric, s.Predicate.Score.Rubric = rubric.Full, rubric.Full
		}, Coverage, "predicate.score.coverage"},
		{"order of times", func(s *attest.Statement) { s.Predicate.StartedAt = "2026-01-11T08:00:02.346Z" }, Times, "before"},
		{"future", func(s *attest.Statement) { s.Predicate.FinishedAt = "2026-01-12T00:01:00.001Z" }, Times, "future"},
		{"not a time", func(s *attest.Statement) { s.Predicate.StartedAt = "yesterday" }, Times, "yesterday"},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw := edit(t, c.do)
			bundle, key := signed(t, raw)
			r := Statement(Input{Bundle: bundle, Options: Options{Keys: []Key{key}, Now: now}})
			if r.Outcome(Signature) != Pass {
				t.Fatal(detail(r, Signature))
			}
			if r.Verified || r.Outcome(c.criterion) != Fail || !strings.Contains(detail(r, c.criterion), c.want) {
				t.Errorf("verified %v; %s is %s: %s", r.Verified, c.criterion, r.Outcome(c.criterion), detail(r, c.criterion))
			}
		})
	}
}
