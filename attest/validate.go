package attest

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// Validate holds a statement against its own rules: types, one subject that is
// the endpoint, times in order, and the closed sets of words. It judges form and
// not truth: whether counts and score follow from the verdicts is for the
// verifier. The error names the member.
func (s *Statement) Validate() error {
	if s.Type != StatementType {
		return fmt.Errorf("_type is %q, not %q", s.Type, StatementType)
	}
	if s.PredicateType != PredicateType {
		return fmt.Errorf("predicateType is %q, not %q", s.PredicateType, PredicateType)
	}
	if n := len(s.Subject); n != 1 {
		return fmt.Errorf("subject holds %d entries; a statement is about exactly one endpoint", n)
	}
	if err := s.MatchSubject(); err != nil {
		return err
	}
	if len(s.Subject[0].Digest) != 1 {
		return fmt.Errorf("subject[0].digest holds %s; a statement is written with sha256 alone", quoted(slices.Sorted(maps.Keys(s.Subject[0].Digest))))
	}
	if err := s.ValidatePredicate(); err != nil {
		return err
	}
	return s.Predicate.TimesInOrder()
}

// ValidatePredicate is the part of Validate that looks at each member of the
// predicate by itself.
func (s *Statement) ValidatePredicate() error {
	for _, check := range []func(*Predicate) error{
		validateTarget, validateInstrument, validateTimes, validatePlan,
		validateVerdicts, validateScore, validateCatalogue, validateRest,
	} {
		if err := check(&s.Predicate); err != nil {
			return fmt.Errorf("predicate.%w", err)
		}
	}
	return nil
}

// MatchSubject looks for the endpoint of the target among the subjects, by
// name and SHA-256, and holds all of them against the rules of in-toto. Other
// digest algorithms are named in the error and not compared: an endpoint has
// one. More than one subject is never written here, but a verifier meets it,
// and the endpoint need not be the first.
func (s *Statement) MatchSubject() error {
	t := s.Predicate.Target
	e, err := target.New(t.Transport, t.Endpoint)
	if err != nil {
		return fmt.Errorf("predicate.target.endpoint: %w", err)
	}
	if e.URL != t.Endpoint {
		return fmt.Errorf("predicate.target.endpoint is %q, which is not canonical: it would be %q", t.Endpoint, e.URL)
	}
	if err := matchSubject(s.Subject, e); err != nil {
		return err
	}
	return inToto(s.Subject)
}

func matchSubject(subjects []Subject, e target.Endpoint) error {
	if len(subjects) == 0 {
		return fmt.Errorf("subject is empty: the statement is about nothing")
	}
	sum := e.Digest()
	want := hex.EncodeToString(sum[:])
	var reason error
	for i, sub := range subjects {
		got, has := sub.Digest["sha256"]
		switch {
		case sub.Name != e.URL:
			if reason == nil {
				reason = fmt.Errorf("subject[%d].name is %q, not the endpoint %q", i, sub.Name, e.URL)
			}
		case !has:
			algorithms := slices.Sorted(maps.Keys(sub.Digest))
			reason = fmt.Errorf("subject[%d].digest has no sha256, only %s, which cannot be compared: an endpoint is known by its sha256", i, quoted(algorithms))
		case got != want:
			reason = fmt.Errorf("subject[%d].digest.sha256 is %q, but the endpoint's is %q", i, got, want)
		default:
			return nil
		}
	}
	return reason
}

func quoted(words []string) string {
	if len(words) == 0 {
		return "nothing"
	}
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(out, ", ")
}

func validateTarget(p *Predicate) error {
	for i, l := range p.Target.ListedAs {
		if l.Registry == "" || l.Name == "" {
			return fmt.Errorf("target.listed_as[%d] has no registry or no name", i)
		}
		if err := bounded(fmt.Sprintf("target.listed_as[%d].registry", i), l.Registry, target.MaxURL); err != nil {
			return err
		}
	}
	if !p.Target.Server.Unverified {
		return fmt.Errorf("target.server.unverified is false: nobody verified what a server says about itself")
	}
	return bounded("target.server.era", p.Target.Server.Era, 64)
}

func validateInstrument(p *Predicate) error {
	in := p.Instrument
	for _, f := range []struct {
		name, value string
		need        bool
	}{
		{"name", in.Name, true}, {"version", in.Version, true}, {"commit", in.Commit, false},
		{"catalogue", in.Catalogue, true}, {"rubric", in.Rubric, true}, {"method", in.Method, true},
	} {
		if f.need && f.value == "" {
			return fmt.Errorf("instrument.%s is empty", f.name)
		}
		if err := bounded("instrument."+f.name, f.value, 256); err != nil {
			return err
		}
	}
	return nil
}

func validateTimes(p *Predicate) error { return wellFormedTimes(p.StartedAt, p.FinishedAt) }

func wellFormedTimes(started, finished string) error {
	if _, err := ParseTime(started); err != nil {
		return fmt.Errorf("started_at: %w", err)
	}
	if _, err := ParseTime(finished); err != nil {
		return fmt.Errorf("finished_at: %w", err)
	}
	return nil
}

// TimesInOrder says whether the end is not before the start.
func (p *Predicate) TimesInOrder() error { return timesInOrder(p.StartedAt, p.FinishedAt) }

// timesInOrder compares text: the format has a fixed width.
func timesInOrder(started, finished string) error {
	if finished < started {
		return fmt.Errorf("predicate.finished_at %s is before predicate.started_at %s", finished, started)
	}
	return nil
}

func validatePlan(p *Predicate) error {
	for i, phase := range p.Plan.Phases {
		if !isWord(phase) {
			return fmt.Errorf("plan.phases[%d] is %q, not a phase", i, phase)
		}
	}
	if !isWord(p.Plan.Policy) || !isWord(p.Plan.Credentials) {
		return fmt.Errorf("plan.policy %q and plan.credentials %q must both be a word", p.Plan.Policy, p.Plan.Credentials)
	}
	if r := p.Plan.RPS; math.IsNaN(r) || math.IsInf(r, 0) || r < 0 {
		return fmt.Errorf("plan.rps is %v, not a rate", r)
	}
	if err := bounded("vantage.label", p.Vantage.Label, MaxName); err != nil {
		return err
	}
	return bounded("vantage.user_agent", p.Vantage.UserAgent, MaxName)
}

func validateVerdicts(p *Predicate) error {
	for i, v := range p.Verdicts {
		if err := v.validate(); err != nil {
			return fmt.Errorf("verdicts[%d].%w", i, err)
		}
	}
	return nil
}

func (v Verdict) validate() error {
	switch {
	case !isWord(v.ID):
		return fmt.Errorf("id is %q, not the id of a check", v.ID)
	case !isWord(v.Phase):
		return fmt.Errorf("phase is %q, not a phase", v.Phase)
	}
	switch v.Status {
	case rubric.Fail:
		if v.Severity != rubric.Critical && v.Severity != rubric.Major && v.Severity != rubric.Minor {
			return fmt.Errorf("severity is %q; a fail is critical, major or minor", v.Severity)
		}
	case rubric.Pass, rubric.Warn, rubric.Skip, rubric.Info:
		if v.Severity != "" {
			return fmt.Errorf("severity is %q, but only a fail has one and this is %q", v.Severity, v.Status)
		}
		if v.Observed != "" {
			return fmt.Errorf("observed is given, but only a fail has one and this is %q", v.Status)
		}
	default:
		return fmt.Errorf("status is %q; it is pass, warn, fail, skip or info", v.Status)
	}
	if v.Observed != "" && !isDigest(v.Observed) {
		return fmt.Errorf("observed is %q, not a SHA-256 in hex", v.Observed)
	}
	return bounded("evidence", v.Evidence, 64)
}

func validateScore(p *Predicate) error {
	s := p.Score
	if s == nil {
		return nil
	}
	if s.Rubric != p.Instrument.Rubric {
		return fmt.Errorf("score.rubric is %q, but instrument.rubric is %q", s.Rubric, p.Instrument.Rubric)
	}
	if !slices.Contains([]string{"A", "B", "C", "D", "F"}, s.Grade) {
		return fmt.Errorf("score.grade is %q; it is A, B, C, D or F", s.Grade)
	}
	if !percent(s.Total) {
		return fmt.Errorf("score.total is %v, outside 0 to 100", s.Total)
	}
	if !percent(s.Coverage) {
		return fmt.Errorf("score.coverage is %v, outside 0 to 100", s.Coverage)
	}
	if !percent(s.Bounds[0]) || !percent(s.Bounds[1]) || s.Bounds[0] > s.Bounds[1] {
		return fmt.Errorf("score.bounds is %v, not a range inside 0 to 100", s.Bounds)
	}
	for name, v := range s.ByCategory {
		if v != nil && !percent(*v) {
			return fmt.Errorf("score.by_category.%s is %v, outside 0 to 100", name, *v)
		}
	}
	return nil
}

func percent(f float64) bool { return f >= 0 && f <= 100 } // false for NaN

func validateCatalogue(p *Predicate) error {
	c := p.Catalogue
	if c == nil {
		return nil
	}
	if !isDigest(c.Digest) {
		return fmt.Errorf("catalogue.digest is %q, not a SHA-256 in hex", c.Digest)
	}
	if c.Resources < 0 || c.Prompts < 0 {
		return fmt.Errorf("catalogue.resources or catalogue.prompts is negative")
	}
	for i, t := range c.Tools {
		if !isDigest(t.Definition) {
			return fmt.Errorf("catalogue.tools[%d].definition is %q, not a SHA-256 in hex", i, t.Definition)
		}
		if t.Description != "" && !isDigest(t.Description) {
			return fmt.Errorf("catalogue.tools[%d].description is %q, not a SHA-256 in hex", i, t.Description)
		}
	}
	return nil
}

func validateRest(p *Predicate) error {
	switch p.Auth.State {
	case "open", "protected", "oauth", "unreachable":
	default:
		return fmt.Errorf("auth.state is %q; it is open, protected, oauth or unreachable", p.Auth.State)
	}
	c := p.Counts
	if min(c.Pass, c.Warn, c.Fail, c.Skip, c.Info) < 0 {
		return fmt.Errorf("counts holds a negative number")
	}
	if b := p.Blocked; b != nil {
		if !isWord(b.Phase) {
			return fmt.Errorf("blocked.phase is %q, not a phase", b.Phase)
		}
		if err := bounded("blocked.reason", b.Reason, MaxName); err != nil {
			return err
		}
	}
	if !isDigest(p.Evidence.SHA256) {
		return fmt.Errorf("evidence.sha256 is %q, not a SHA-256 in hex", p.Evidence.SHA256)
	}
	if p.Evidence.Size < 0 {
		return fmt.Errorf("evidence.size is negative")
	}
	return nil
}

// isDigest accepts exactly what Digest writes.
func isDigest(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// isWord accepts ids of checks, phases and the like: lower case, digits and
// the separators between them.
func isWord(s string) bool {
	return s != "" && len(s) <= 128 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789._-") == ""
}

func bounded(name, value string, limit int) error {
	if len(value) > limit {
		return fmt.Errorf("%s is %d bytes long, over the bound of %d", name, len(value), limit)
	}
	return nil
}
