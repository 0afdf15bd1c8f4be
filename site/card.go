package site

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// Bounds of one card. The JSON file beside it and the statement hold all.
const (
	maxTools    = 500
	maxSubjects = 20
	maxInherits = 200
	maxListings = 200
)

// cardView is the page of one server.
type cardView struct {
	*serverView
	Registry   string
	Self       string // what the server calls itself
	SelfNote   string
	Protocols  string
	Low, High  string
	Span       template.HTML
	Meter      template.HTML
	Caps       []string
	Categories []categoryView
	Blocked    string
	Groups     []findingGroup
	Inherits   []riskView
	MoreRisks  int
	ToolRows   []toolView
	MoreTools  int
	Resources  int
	Prompts    int
	Listings   []listingView
	MoreLists  int
	Statement  string // path from the root
	Bundle     string
	Key        string
	KeyID      string
	Facts      []factRow
	Policies   []violationView
	Issuers    []issuerView
}

type factRow struct{ Name, Text string }

type issuerView struct{ Text, Link string }

type categoryView struct {
	Name, Points string
	Weight       int
	Meter        template.HTML
}

type toolView struct {
	Name, Effect, Class, Idempotent, OpenWorld, Digest string
}

type listingView struct {
	Name, Version, Status, Title, Description, Repository, RepositoryLink string
}

func (s *site) card(v *serverView) cardView {
	p := &v.Statement.Predicate
	c := cardView{
		serverView: v, Registry: line(s.in.Edition.Registry),
		Self: name(p.Target.Server.Name), SelfNote: name(p.Target.Server.Version), Protocols: protocols(p.Target.Server.ProtocolVersions),
		Groups: s.findings(p.Verdicts), Statement: statementPath(v.Digest), Bundle: statementPath(v.Digest) + attest.BundleSuffix,
		Key: keyPath, KeyID: name(s.in.KeyID), Facts: circumstances(p), Policies: s.violationsOf(v.ID),
	}
	if score := p.Score; score != nil {
		c.Low, c.High = points(score.Bounds[0]), points(score.Bounds[1])
		c.Span, c.Meter = span(score.Total, score.Bounds[0], score.Bounds[1]), meter(score.Coverage)
		for _, cap := range score.Caps {
			c.Caps = append(c.Caps, line(cap))
		}
		c.Categories = categories(score)
	}
	if p.Blocked != nil {
		c.Blocked = fmt.Sprintf("The check could not go on after the phase %s: %s", name(p.Blocked.Phase), line(p.Blocked.Reason))
	}
	for _, i := range p.Auth.Issuers[:min(len(p.Auth.Issuers), maxSubjects)] {
		c.Issuers = append(c.Issuers, issuerView{line(i), link(i)})
	}
	c.Inherits, c.MoreRisks = s.inherits(v)
	if p.Catalogue != nil {
		c.Resources, c.Prompts = p.Catalogue.Resources, p.Catalogue.Prompts
		shown := p.Catalogue.Tools[:min(len(p.Catalogue.Tools), maxTools)]
		c.MoreTools = len(p.Catalogue.Tools) - len(shown)
		for _, t := range shown {
			c.ToolRows = append(c.ToolRows, viewTool(t))
		}
	}
	c.Listings, c.MoreLists = s.listings(v)
	return c
}

func protocols(versions []string) string {
	var shown []string
	for _, v := range versions[:min(len(versions), maxSubjects)] {
		shown = append(shown, name(v))
	}
	return strings.Join(shown, ", ")
}

// circumstances are how and when the check was made.
func circumstances(p *attest.Predicate) []factRow {
	rows := []factRow{
		{"Checked", line(p.StartedAt) + " to " + line(p.FinishedAt)},
		{"From", line(p.Vantage.Label)},
		{"User agent", line(p.Vantage.UserAgent)},
		{"Phases", line(strings.Join(p.Plan.Phases, ", "))},
		{"Credentials", line(p.Plan.Credentials)},
		{"Pace", pace(p.Plan.RPS)},
		{"Instrument", line(strings.TrimSpace(p.Instrument.Name + " " + p.Instrument.Version))},
		{"Catalogue of checks", line(p.Instrument.Catalogue)},
		{"Rubric", line(p.Instrument.Rubric)},
		{"Recording", line(p.Evidence.SHA256) + ", " + count(p.Evidence.Size) + " bytes, private"},
	}
	return slices.DeleteFunc(rows, func(r factRow) bool { return r.Text == "" })
}

func pace(rps float64) string {
	if rps <= 0 {
		return "no cap"
	}
	unit := "requests"
	if rps == 1 {
		unit = "request"
	}
	return fmt.Sprintf("at most %s %s a second and host", strings.TrimSuffix(points(rps), ".0"), unit)
}

// categories lists the categories of a score in the order of its rubric.
func categories(score *rubric.Score) []categoryView {
	weights := map[string]int{}
	var names []string
	if r, err := rubric.Load(score.Rubric); err == nil {
		for _, c := range r.Categories {
			names = append(names, c.Name)
			weights[c.Name] = c.Weight
		}
	}
	var others []string
	for n := range score.ByCategory {
		if !slices.Contains(names, n) {
			others = append(others, n)
		}
	}
	slices.Sort(others)
	var all []categoryView
	for _, n := range append(names, others...) {
		points100, ok := score.ByCategory[n]
		if !ok {
			continue
		}
		c := categoryView{Name: name(n), Points: "not assessed", Weight: weights[n]}
		if points100 != nil {
			c.Points, c.Meter = points(*points100), meter(*points100)
		}
		all = append(all, c)
	}
	return all
}

// viewTool says what a tool's annotations amount to. Absent hints mean what
// the specification gives them for a default: may destroy, not idempotent,
// open world
// (https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations).
func viewTool(t attest.Tool) toolView {
	v := toolView{Name: cmp.Or(name(t.Name), "(no name)"), Digest: show(t.Definition, 12)}
	if i := strings.Index(v.Digest, "…"); i >= 0 {
		v.Digest = v.Digest[:i]
	}
	a := t.Annotations
	switch {
	case is(a.ReadOnly):
		v.Effect, v.Class = "reads only", "calm"
	case is(a.Destructive):
		v.Effect, v.Class = "destructive", "alert"
	case a.Destructive != nil:
		v.Effect, v.Class = "changes, does not destroy", "calm"
	default:
		v.Effect, v.Class = "not declared; treated as destructive", "alert"
	}
	v.Idempotent = hint(a.Idempotent, "yes", "no", "not declared; treated as no")
	if is(a.ReadOnly) && a.Idempotent == nil {
		v.Idempotent = "not declared" // means nothing on a tool that only reads
	}
	v.OpenWorld = hint(a.OpenWorld, "yes", "no", "not declared; treated as yes")
	return v
}

func is(b *bool) bool { return b != nil && *b }

func hint(b *bool, yes, no, absent string) string {
	switch {
	case b == nil:
		return absent
	case *b:
		return yes
	}
	return no
}

func (s *site) listings(v *serverView) (shown []listingView, more int) {
	all := s.listed[v.ID]
	for _, l := range all[:min(len(all), maxListings)] {
		shown = append(shown, listingView{
			Name: name(l.Name), Version: name(l.Version), Status: name(l.Status), Title: name(l.Title),
			Description: line(l.Description), Repository: line(l.Repository), RepositoryLink: link(l.Repository),
		})
	}
	return shown, len(all) - len(shown)
}
