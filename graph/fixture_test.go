package graph

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func ptr[T any](v T) *T { return &v }

// statement is a small one; the options change it.
func statement(endpoint, finished string, change ...func(*attest.Predicate)) Statement {
	p := attest.Predicate{
		Target:     attest.Target{Transport: "streamable-http", Endpoint: endpoint, Server: attest.Server{Era: "modern", Unverified: true}},
		Instrument: attest.Instrument{Rubric: "anonymous/1"},
		StartedAt:  finished, FinishedAt: finished,
		Auth: attest.Auth{State: "open"},
	}
	for _, f := range change {
		f(&p)
	}
	return Statement{Digest: digest(fmt.Sprintf("%s %s %+v", endpoint, finished, p.Verdicts)), Statement: &attest.Statement{Predicate: p}}
}

func tools(names ...string) func(*attest.Predicate) {
	return func(p *attest.Predicate) {
		p.Catalogue = &attest.Catalogue{Digest: digest("catalogue")}
		for _, n := range names {
			p.Catalogue.Tools = append(p.Catalogue.Tools, attest.Tool{Name: n, Definition: digest(n)})
		}
	}
}

func fail(check string, severity rubric.Severity, subject string) func(*attest.Predicate) {
	return func(p *attest.Predicate) {
		p.Verdicts = append(p.Verdicts, attest.Verdict{ID: check, Phase: "net", Status: rubric.Fail, Severity: severity, Subject: subject})
	}
}

func issuer(url string) func(*attest.Predicate) {
	return func(p *attest.Predicate) { p.Auth.State, p.Auth.Issuers = "oauth", append(p.Auth.Issuers, url) }
}

func memory(t testing.TB) *Graph {
	t.Helper()
	g, err := Open(context.Background(), "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

func disk(t testing.TB, dir string) *Graph {
	t.Helper()
	g, err := Open(context.Background(), dir, Options{LockTimeout: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

func apply(t testing.TB, g *Graph, sts ...Statement) Applied {
	t.Helper()
	a, err := g.Apply(context.Background(), sts)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func list(t testing.TB, g *Graph, s Source) Applied {
	t.Helper()
	a, err := g.ApplySource(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func export(t testing.TB, g *Graph) string {
	t.Helper()
	var b bytes.Buffer
	if err := g.Export(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
