package graph

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/cayleygraph/quad"
	"golang.org/x/net/publicsuffix"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// unit is a set of facts that come and go together, under one label.
type unit struct {
	label quad.IRI
	quads []quad.Quad
	seen  map[quad.Quad]bool
}

func newUnit(label quad.IRI) *unit { return &unit{label: label, seen: map[quad.Quad]bool{}} }

func (u *unit) add(s, p quad.IRI, o quad.Value) {
	q := quad.Quad{Subject: s, Predicate: p, Object: o}
	if u.seen[q] {
		return
	}
	u.seen[q] = true
	q.Label = part(u.label, len(u.quads)/partSize)
	u.quads = append(u.quads, q)
}

func (u *unit) node(n quad.IRI, kind string)          { u.add(n, metaKind, quad.String(kind)) }
func (u *unit) edge(s quad.IRI, e string, o quad.IRI) { u.add(s, edgeIRI(e), o) }

func (u *unit) field(s quad.IRI, name, value string) {
	if value != "" {
		u.add(s, fieldIRI(name), text(value))
	}
}

func (u *unit) hint(s quad.IRI, name string, value *bool) {
	if value != nil {
		u.add(s, fieldIRI(name), quad.Bool(*value))
	}
}

// server adds what an endpoint says by itself.
func (u *unit) server(e target.Endpoint) quad.IRI {
	s := nodeIRI("server", e.ID())
	u.node(s, "server")
	u.field(s, "endpoint", e.URL)
	u.field(s, "transport", e.Transport)
	u.edge(s, "hosted_on", nodeIRI("host", e.Host()))
	return s
}

// statementFacts is everything that a statement says. The order is fixed: it
// decides which label part a quad gets.
func statementFacts(digest string, st *attest.Statement) (*unit, error) {
	e, err := endpointOf(st)
	if err != nil {
		return nil, err
	}
	p := &st.Predicate
	u := newUnit(nodeIRI("attestation", digest))
	s := u.server(e)
	u.node(u.label, "attestation")
	u.edge(s, "attested_by", u.label)
	u.field(u.label, "finished_at", p.FinishedAt)
	u.field(u.label, "rubric", p.Instrument.Rubric)
	u.field(s, "finished_at", p.FinishedAt)
	u.field(s, "auth", p.Auth.State)
	u.field(s, "era", p.Target.Server.Era)
	if p.Score != nil {
		u.add(s, fieldIRI("score"), quad.Float(p.Score.Total))
		u.add(s, fieldIRI("coverage"), quad.Float(p.Score.Coverage))
		u.field(s, "grade", p.Score.Grade)
	}
	for _, issuer := range p.Auth.Issuers {
		u.edge(s, "authorized_by", nodeIRI("issuer", issuer))
	}
	if p.Catalogue != nil {
		u.field(u.label, "catalogue", p.Catalogue.Digest)
		for _, t := range p.Catalogue.Tools {
			u.tool(s, toolIRI(e, t.Name), t)
		}
	}
	for i, v := range p.Verdicts {
		u.finding(subjectOf(e, p, v.Subject), quad.IRI("finding:"+digest+"/"+strconv.Itoa(i)), v)
	}
	return u, nil
}

func endpointOf(st *attest.Statement) (target.Endpoint, error) {
	t := st.Predicate.Target
	e, err := target.New(t.Transport, t.Endpoint)
	if err != nil {
		return e, fmt.Errorf("endpoint %q: %w", t.Endpoint, err)
	}
	return e, nil
}

func toolIRI(e target.Endpoint, name string) quad.IRI {
	return nodeIRI("tool", e.ID()+"/"+string(text(name)))
}

// tool adds a tool with its annotations as given and as the protocol reads
// them: readOnlyHint defaults to false, destructiveHint to true, and the second
// means something only without the first
// (https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations).
func (u *unit) tool(server, tool quad.IRI, t attest.Tool) {
	a := t.Annotations
	readOnly := a.ReadOnly != nil && *a.ReadOnly
	destructive := !readOnly && (a.Destructive == nil || *a.Destructive)
	u.node(tool, "tool")
	u.edge(server, "exposes", tool)
	u.add(tool, fieldIRI("readOnly"), quad.Bool(readOnly))
	u.add(tool, fieldIRI("destructive"), quad.Bool(destructive))
	u.hint(tool, "readOnlyHint", a.ReadOnly)
	u.hint(tool, "destructiveHint", a.Destructive)
	u.hint(tool, "idempotentHint", a.Idempotent)
	u.hint(tool, "openWorldHint", a.OpenWorld)
	u.field(tool, "definition", t.Definition)
}

// finding adds a verdict that counts against its subject.
func (u *unit) finding(subject, node quad.IRI, v attest.Verdict) {
	edge := ""
	switch v.Status {
	case rubric.Fail:
		edge = "fails"
	case rubric.Warn:
		edge = "warns"
	default:
		return
	}
	u.edge(subject, edge, node)
	u.add(node, toCheck, nodeIRI("check", v.ID))
	u.field(node, "severity", string(v.Severity))
}

// subjectOf is the node that a verdict is about: a tool or an issuer that the
// same statement names, else the server.
func subjectOf(e target.Endpoint, p *attest.Predicate, subject string) quad.IRI {
	switch {
	case subject == "":
	case slices.Contains(p.Auth.Issuers, subject):
		return nodeIRI("issuer", subject)
	case p.Catalogue != nil && slices.ContainsFunc(p.Catalogue.Tools, func(t attest.Tool) bool { return t.Name == subject }):
		return toolIRI(e, subject)
	}
	return nodeIRI("server", e.ID())
}

// derived is what follows from the name of a shared node alone: that it is one,
// and for a host the registrable domain above it.
func derived(n Node) *unit {
	iri := n.iri()
	u := newUnit("derived:" + iri)
	u.node(iri, n.Kind)
	if n.Kind == "host" {
		if d := domainOf(n.Key); d != "" && d != n.Key {
			u.edge(iri, "hosted_on", nodeIRI("host", d))
		}
	}
	return u
}

// domainOf is the registrable domain of a host by the public suffix list, or ""
// for an address or a name that has none.
func domainOf(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	d, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return ""
	}
	return d
}

// sourceKey names a source.
func (s Source) key() string { return string(text(s.Kind + " " + s.Ref)) }

// sourceFacts is what a source says about itself.
func sourceFacts(s Source) *unit {
	iri := nodeIRI("source", s.key())
	u := newUnit(iri)
	u.node(iri, "source")
	u.field(iri, "type", s.Kind)
	u.field(iri, "ref", s.Ref)
	u.add(iri, fieldIRI("complete"), quad.Bool(s.Complete))
	return u
}

func (l Listing) key() string { return string(text(l.Name + "@" + l.Version)) }

// entryLabel is the label of what a source says by one of its listings.
func entryLabel(source string, l Listing) quad.IRI {
	label := "entry:" + escapeKey(source) + "#" + escapeKey(l.key())
	if l.Endpoint != "" {
		label += "#" + escapeKey(l.Transport+" "+l.Endpoint)
	}
	return quad.IRI(label)
}

// listing adds what one entry of a source says.
func (u *unit) listing(source quad.IRI, l Listing) error {
	n := nodeIRI("listing", l.key())
	u.add(u.label, metaOf, source)
	u.node(n, "listing")
	u.field(n, "name", l.Name)
	u.field(n, "version", l.Version)
	u.field(n, "status", l.Status)
	if l.Namespace != "" {
		u.edge(n, "published_by", nodeIRI("namespace", string(text(l.Namespace))))
	}
	if r := repository(l.Repository); r != "" {
		u.edge(n, "built_from", nodeIRI("repository", r))
	}
	for _, p := range l.Packages {
		if p == "" || strings.Contains(p, "://") && strings.Contains(p, "@") {
			continue // a URL with credentials is no name
		}
		u.edge(n, "built_from", nodeIRI("package", string(text(p))))
	}
	if l.Endpoint == "" {
		return nil
	}
	e, err := target.New(l.Transport, l.Endpoint)
	if err != nil {
		return fmt.Errorf("listing %q: endpoint %q: %w", l.key(), l.Endpoint, err)
	}
	s := u.server(e)
	u.edge(s, "listed_as", n)
	u.edge(s, "discovered_by", source)
	return nil
}

// repository is the canonical URL of a repository, or "" for anything that is
// no plain http(s) URL: credentials never enter the graph.
func repository(raw string) string {
	u, err := target.Canonical(raw)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimRight(u, "/"), ".git")
}
