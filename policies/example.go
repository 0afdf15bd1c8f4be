package policies

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
	"github.com/lustrum-mcp/lustrum/graph"
)

// Example is a small graph and the violations that the policy must find in it.
type Example struct {
	Name       string          `yaml:"name"`
	Servers    []ExampleServer `yaml:"servers"`
	Violations [][]string      `yaml:"violations"` // names of the nodes, one list a violation
}

// ExampleServer is a server as a registry lists it and, unless it is
// unattested, as a statement describes it.
type ExampleServer struct {
	URL        string           `yaml:"url"`
	Auth       string           `yaml:"auth"` // default open
	Grade      string           `yaml:"grade"`
	Score      float64          `yaml:"score"`
	ListedAs   string           `yaml:"listed_as"` // name@version
	Unattested bool             `yaml:"unattested"`
	Issuers    []string         `yaml:"issuers"`
	Tools      []ExampleTool    `yaml:"tools"`
	Findings   []ExampleFinding `yaml:"findings"`
}

// ExampleTool is a tool with hints as given.
type ExampleTool struct {
	Name        string `yaml:"name"`
	ReadOnly    *bool  `yaml:"readOnlyHint"`
	Destructive *bool  `yaml:"destructiveHint"`
}

// ExampleFinding is a fail, or a warn when it has no severity.
type ExampleFinding struct {
	Check    string `yaml:"check"`
	Severity string `yaml:"severity"`
	Subject  string `yaml:"subject"` // a tool or an issuer
}

func (p *Policy) validateExamples() error {
	fires, silent := false, false
	for i, e := range p.Examples {
		if e.Name == "" || len(e.Servers) == 0 {
			return fmt.Errorf(": example %d has no name or no servers", i+1)
		}
		for _, s := range e.Servers {
			if _, err := target.New(target.StreamableHTTP, s.URL); err != nil {
				return fmt.Errorf(": example %q: %q: %w", e.Name, s.URL, err)
			}
		}
		fires, silent = fires || len(e.Violations) > 0, silent || len(e.Violations) == 0
	}
	if !fires || !silent {
		return fmt.Errorf(": one example must fire and one stay silent")
	}
	return nil
}

// Test runs the policy's examples, without its exemptions, on passing graphs.
// The error names the first example that comes out otherwise, and how.
func Test(ctx context.Context, p *Policy) error {
	bare := *p
	bare.Exempt = nil
	for _, e := range p.Examples {
		if err := bare.run(ctx, e); err != nil {
			return fmt.Errorf("%s: example %q: %w", p.File, e.Name, err)
		}
	}
	return nil
}

func (p *Policy) run(ctx context.Context, e Example) error {
	g, err := graph.Open(ctx, "", graph.Options{})
	if err != nil {
		return err
	}
	defer g.Close() //nolint:errcheck // of no use any more
	if err := e.apply(ctx, g); err != nil {
		return err
	}
	r, err := p.CheckAt(ctx, g, time.Time{})
	if err != nil {
		return err
	}
	var got, want []string
	for _, v := range r.Violations {
		var names []string
		for _, n := range v.Nodes {
			names = append(names, n.Name)
		}
		got = append(got, strings.Join(names, ", "))
	}
	for _, names := range e.Violations {
		want = append(want, strings.Join(names, ", "))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("found [%s], expected [%s]", strings.Join(got, "; "), strings.Join(want, "; "))
	}
	return nil
}

// apply makes the example's graph as a census would: a listing and statements.
func (e Example) apply(ctx context.Context, g *graph.Graph) error {
	source := graph.Source{Kind: "registry", Ref: "https://registry.example/", Complete: true}
	var statements []graph.Statement
	for i, s := range e.Servers {
		endpoint, err := target.New(target.StreamableHTTP, s.URL)
		if err != nil {
			return err
		}
		name, version, _ := strings.Cut(s.ListedAs, "@")
		if name == "" {
			name = fmt.Sprintf("com.example/server-%d", i+1)
		}
		namespace, _, _ := strings.Cut(name, "/")
		source.Listings = append(source.Listings, graph.Listing{
			Name: name, Version: version, Namespace: namespace, Status: "active",
			Transport: endpoint.Transport, Endpoint: endpoint.URL,
		})
		if !s.Unattested {
			statements = append(statements, s.statement(endpoint))
		}
	}
	if _, err := g.ApplySource(ctx, source); err != nil {
		return err
	}
	_, err := g.Apply(ctx, statements)
	return err
}

func (s ExampleServer) statement(e target.Endpoint) graph.Statement {
	p := attest.Predicate{
		Target:     attest.Target{Transport: e.Transport, Endpoint: e.URL, Server: attest.Server{Unverified: true}},
		FinishedAt: "2026-01-01T00:00:00.000Z",
		Auth:       attest.Auth{State: s.Auth, Issuers: s.Issuers},
		Catalogue:  &attest.Catalogue{},
	}
	if s.Auth == "" {
		p.Auth.State = "open"
	}
	if s.Grade != "" {
		p.Score = &rubric.Score{Grade: s.Grade, Total: s.Score}
	}
	for _, t := range s.Tools {
		p.Catalogue.Tools = append(p.Catalogue.Tools, attest.Tool{
			Name: t.Name, Definition: digest(t.Name), Annotations: attest.Annotations{ReadOnly: t.ReadOnly, Destructive: t.Destructive},
		})
	}
	for _, f := range s.Findings {
		status := rubric.Fail
		if f.Severity == "" {
			status = rubric.Warn
		}
		p.Verdicts = append(p.Verdicts, attest.Verdict{ID: f.Check, Status: status, Severity: rubric.Severity(f.Severity), Subject: f.Subject})
	}
	raw, _ := json.Marshal(p) // plain data: cannot fail
	return graph.Statement{Digest: digest(string(raw)), Statement: &attest.Statement{Predicate: p}}
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
