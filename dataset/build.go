package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// rows are the tables of one edition before they are written.
type rows struct {
	endpoints []Endpoint
	listings  []ListingRow
	checks    []Check
	tools     []Tool
}

// build turns an edition into sorted rows. A record that is not what its
// statement says, or that stands twice, is an error.
func build(e *Edition) (*rows, error) {
	if day, err := time.Parse(time.DateOnly, e.ID); err != nil || day.Format(time.DateOnly) != e.ID {
		return nil, fmt.Errorf("edition %q is no day such as 2026-01-31", e.ID)
	}
	t := &rows{}
	for i := range e.Records {
		r := &e.Records[i]
		if err := r.validate(); err != nil {
			return nil, fmt.Errorf("record %q of edition %s: %w", r.ID, e.ID, err)
		}
		row, err := endpoint(r)
		if err != nil {
			return nil, fmt.Errorf("record %q of edition %s: %w", r.ID, e.ID, err)
		}
		t.endpoints = append(t.endpoints, row)
		t.checks = append(t.checks, checks(r.ID, r.Statement.Predicate.Verdicts)...)
		t.tools = append(t.tools, tools(r)...)
	}
	for _, l := range e.Listings {
		t.listings = append(t.listings, ListingRow{
			Name: text(l.Name), Version: text(l.Version), Namespace: text(l.Namespace), Status: text(l.Status),
			Transport: given(l.Transport), URL: given(l.URL), EndpointID: given(l.EndpointID), Reason: given(l.Reason),
			Repository: given(l.Repository), Title: given(l.Title), Description: given(l.Description),
		})
	}
	t.sort()
	for i := 1; i < len(t.endpoints); i++ {
		if t.endpoints[i-1].ID == t.endpoints[i].ID {
			return nil, fmt.Errorf("edition %s has two records of endpoint %q", e.ID, t.endpoints[i].ID)
		}
	}
	return t, nil
}

func (r *Record) validate() error {
	if r.Statement == nil {
		return fmt.Errorf("it has no statement")
	}
	if err := r.Statement.Validate(); err != nil {
		return fmt.Errorf("its statement is not valid: %w", err)
	}
	if id := r.Statement.Endpoint().ID(); id != r.ID {
		return fmt.Errorf("its statement is about the endpoint %q", id)
	}
	if len(r.Digest) != 64 || strings.Trim(r.Digest, "0123456789abcdef") != "" {
		return fmt.Errorf("its digest %q is not a SHA-256 in hex", r.Digest)
	}
	return nil
}

func endpoint(r *Record) (Endpoint, error) {
	p := &r.Statement.Predicate
	started, err := attest.ParseTime(p.StartedAt)
	if err != nil {
		return Endpoint{}, err
	}
	finished, err := attest.ParseTime(p.FinishedAt)
	if err != nil {
		return Endpoint{}, err
	}
	row := Endpoint{
		ID: r.ID, URL: p.Target.Endpoint, Transport: p.Target.Transport, Host: text(r.Host), Operator: text(r.Operator),
		Outcome: Outcome(r.Statement), Auth: p.Auth.State,
		Era: given(p.Target.Server.Era), ProtocolVersion: newest(p.Target.Server.ProtocolVersions),
		Pass: int32(p.Counts.Pass), Warn: int32(p.Counts.Warn), Fail: int32(p.Counts.Fail),
		Skip: int32(p.Counts.Skip), Info: int32(p.Counts.Info),
		Rubric: text(p.Instrument.Rubric), StartedAt: started.UnixMilli(), FinishedAt: finished.UnixMilli(), Statement: r.Digest,
	}
	for _, v := range p.Target.Server.ProtocolVersions {
		row.ProtocolVersions = append(row.ProtocolVersions, attest.Name(v))
	}
	if row.Outcome == Answered {
		row.ServerName, row.ServerVersion = ptr(attest.Name(p.Target.Server.Name)), ptr(attest.Name(p.Target.Server.Version))
	}
	if c := p.Catalogue; c != nil {
		row.Tools, row.Resources, row.Prompts = ptr(int32(len(c.Tools))), ptr(int32(c.Resources)), ptr(int32(c.Prompts))
	}
	if s := p.Score; s != nil {
		row.Score, row.Grade, row.Coverage = ptr(s.Total), ptr(s.Grade), ptr(s.Coverage)
		row.ScoreLow, row.ScoreHigh = ptr(s.Bounds[0]), ptr(s.Bounds[1])
	}
	if b := p.Blocked; b != nil {
		row.BlockedPhase = ptr(b.Phase)
	}
	return row, nil
}

// newest is the highest revision that looks like a date; revisions are dates
// (https://modelcontextprotocol.io/specification/versioning) and order as text.
func newest(versions []string) *string {
	best := ""
	for _, v := range versions {
		if _, err := time.Parse(time.DateOnly, v); err == nil {
			best = max(best, v)
		}
	}
	return given(best)
}

// checks groups verdicts by check, at the worst outcome.
func checks(id string, verdicts []attest.Verdict) []Check {
	at := map[string]int{}
	var out []Check
	var worst []int
	for _, v := range verdicts {
		i, ok := at[v.ID]
		if !ok {
			i = len(out)
			at[v.ID] = i
			out = append(out, Check{EndpointID: id, Check: v.ID, Phase: v.Phase})
			worst = append(worst, -1)
		}
		out[i].Findings++
		if n := rank(v); n > worst[i] {
			worst[i] = n
			out[i].Phase, out[i].Status, out[i].Severity = v.Phase, string(v.Status), given(string(v.Severity))
		}
	}
	return out
}

// rank orders outcomes: what was assessed before what was not.
func rank(v attest.Verdict) int {
	switch v.Status {
	case rubric.Info:
		return 1
	case rubric.Pass:
		return 2
	case rubric.Warn:
		return 3
	case rubric.Fail:
		return 4 + max(0, slices.Index([]rubric.Severity{rubric.Minor, rubric.Major, rubric.Critical}, v.Severity))
	}
	return 0
}

func tools(r *Record) []Tool {
	c := r.Statement.Predicate.Catalogue
	if c == nil {
		return nil
	}
	out := make([]Tool, len(c.Tools))
	for i, t := range c.Tools {
		a := t.Annotations
		out[i] = Tool{
			EndpointID: r.ID, Name: attest.Name(t.Name), Position: int32(i),
			ReadOnly: a.ReadOnly, Destructive: a.Destructive, Idempotent: a.Idempotent, OpenWorld: a.OpenWorld,
			Definition: t.Definition, Description: given(t.Description),
		}
	}
	return out
}

// sort brings every table into the order of its key, see Tables.
func (t *rows) sort() {
	slices.SortFunc(t.endpoints, func(a, b Endpoint) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(t.listings, compareListings)
	slices.SortFunc(t.checks, func(a, b Check) int {
		return cmp.Or(cmp.Compare(a.EndpointID, b.EndpointID), cmp.Compare(a.Check, b.Check))
	})
	slices.SortFunc(t.tools, func(a, b Tool) int {
		return cmp.Or(cmp.Compare(a.EndpointID, b.EndpointID), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Position, b.Position))
	})
}

// compareListings compares every column, so that the order is one even when a
// registry lists something twice.
func compareListings(a, b ListingRow) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version),
		nullsFirst(a.URL, b.URL), nullsFirst(a.Transport, b.Transport), nullsFirst(a.EndpointID, b.EndpointID),
		nullsFirst(a.Reason, b.Reason), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Status, b.Status),
		nullsFirst(a.Repository, b.Repository), nullsFirst(a.Title, b.Title), nullsFirst(a.Description, b.Description))
}

func nullsFirst(a, b *string) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return cmp.Compare(*a, *b)
}

func ptr[T any](v T) *T { return &v }

// given is null for a text that was not given.
func given(s string) *string {
	if s == "" {
		return nil
	}
	return ptr(text(s))
}

// text is valid UTF-8, which readers of Parquet insist on.
func text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
