package graph

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// census makes statements as a registry's slice gives them: hosts and issuers
// shared, ten tools each, a few findings.
func census(servers, tools int) []Statement {
	out := make([]Statement, servers)
	for i := range out {
		p := attest.Predicate{
			Target:     attest.Target{Transport: "streamable-http", Endpoint: fmt.Sprintf("https://s%d.host%d.example.com/mcp", i, i%97), Server: attest.Server{Era: "modern"}},
			Instrument: attest.Instrument{Rubric: "anonymous/1"},
			FinishedAt: "2026-01-01T00:00:00.000Z", Auth: attest.Auth{State: []string{"open", "oauth", "protected"}[i%3]},
			Score:     &rubric.Score{Total: float64(i % 100), Grade: "C", Coverage: 50},
			Catalogue: &attest.Catalogue{Digest: digest(fmt.Sprint("catalogue", i))},
		}
		if i%3 == 1 {
			p.Auth.Issuers = []string{fmt.Sprintf("https://as%d.example.org", i%31)}
		}
		for n := range tools {
			t := attest.Tool{Name: fmt.Sprintf("tool_%d", n), Definition: digest(fmt.Sprint(i%500, n))}
			t.Annotations.ReadOnly = ptr(n%2 == 0)
			p.Catalogue.Tools = append(p.Catalogue.Tools, t)
		}
		for n := range 6 {
			v := attest.Verdict{ID: fmt.Sprintf("net.check%d", (i+n)%20), Status: rubric.Warn}
			if n == 0 && i%10 == 0 {
				v.Status, v.Severity, v.Subject = rubric.Fail, rubric.Critical, "tool_1"
			}
			p.Verdicts = append(p.Verdicts, v)
		}
		out[i] = Statement{Digest: digest(p.Target.Endpoint), Statement: &attest.Statement{Predicate: p}}
	}
	return out
}

// BenchmarkApply loads 1,000 servers with 10 tools each into a file, applies
// them again, and asks.
func BenchmarkApply(b *testing.B) {
	ctx := context.Background()
	statements := census(1000, 10)
	var load, again, risk, query time.Duration
	quads := 0
	for b.Loop() {
		g := disk(b, filepath.Join(b.TempDir(), "graph.db"))
		start := time.Now()
		a := apply(b, g, statements...)
		load += time.Since(start)
		quads += a.Added
		start = time.Now()
		if a := apply(b, g, statements...); a.Unchanged != len(statements) {
			b.Fatalf("%+v", a)
		}
		again += time.Since(start)
		start = time.Now()
		if risks, err := g.Risk(ctx, statements[10].Statement.Predicate.Target.Endpoint); err != nil || len(risks) != 6 {
			b.Fatal(len(risks), err)
		}
		risk += time.Since(start)
		start = time.Now()
		if rows, err := g.Query(ctx, "server -> tool", `tool.destructive && server.auth == "open"`, QueryOptions{Count: true}); err != nil || rows.Count != 334*5 {
			b.Fatal(rows, err)
		}
		query += time.Since(start)
		if err := g.Close(); err != nil {
			b.Fatal(err)
		}
	}
	n := float64(b.N)
	b.ReportMetric(float64(quads)/load.Seconds(), "quads/s")
	b.ReportMetric(float64(quads)/n, "quads")
	b.ReportMetric(load.Seconds()/again.Seconds(), "load/again")
	b.ReportMetric(float64(risk.Microseconds())/n/1000, "ms/risk")
	b.ReportMetric(float64(query.Microseconds())/n/1000, "ms/query")
}
