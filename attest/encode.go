package attest

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// MaxName bounds a name that a server or a registry gave, in bytes.
const MaxName = 512

// New returns the frame of a statement about an endpoint: types, subject,
// target and the parts of the plan that hold for every check. Everything else
// is for the caller to fill.
func New(e target.Endpoint) *Statement {
	sum := e.Digest()
	return &Statement{
		Type:          StatementType,
		PredicateType: PredicateType,
		Subject:       []Subject{{Name: e.URL, Digest: map[string]string{"sha256": hex.EncodeToString(sum[:])}}},
		Predicate: Predicate{
			Target: Target{Transport: e.Transport, Endpoint: e.URL, Server: Server{Unverified: true}},
			Plan:   Plan{Policy: "read-only", Credentials: "none"},
		},
	}
}

// Endpoint is what the statement is about, as its target says.
func (s *Statement) Endpoint() target.Endpoint {
	return target.Endpoint{Transport: s.Predicate.Target.Transport, URL: s.Predicate.Target.Endpoint}
}

// Time writes t as statements do: UTC, cut to milliseconds.
func Time(t time.Time) string { return t.UTC().Truncate(time.Millisecond).Format(TimeFormat) }

// ParseTime reads what Time writes and nothing else.
func ParseTime(text string) (time.Time, error) {
	t, err := time.Parse(TimeFormat, text)
	if err != nil || t.Format(TimeFormat) != text {
		return time.Time{}, fmt.Errorf("%q is not a time in UTC with milliseconds, such as 2026-01-02T15:04:05.000Z", text)
	}
	return t, nil
}

// Count counts verdicts by status.
func Count(verdicts []Verdict) Counts {
	var c Counts
	for _, v := range verdicts {
		switch v.Status {
		case rubric.Pass:
			c.Pass++
		case rubric.Warn:
			c.Warn++
		case rubric.Fail:
			c.Fail++
		case rubric.Skip:
			c.Skip++
		case rubric.Info:
			c.Info++
		}
	}
	return c
}

// Name is how a statement writes a name that somebody else chose: valid UTF-8
// and at most MaxName bytes. A longer one is cut and ends in its own digest, so
// that two long names stay two names and none carries a page of text.
func Name(name string) string {
	if !utf8.ValidString(name) {
		name = string([]rune(name))
	}
	if len(name) <= MaxName {
		return name
	}
	tail := "… sha256:" + Digest([]byte(name))
	cut := MaxName - len(tail)
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + tail
}

// Encode checks the statement and returns its canonical bytes (RFC 8785).
// Lists are never null, names are written as Name does, and the two lists that
// are sets (listed_as, issuers) are sorted, so equal content is equal bytes.
// The statement itself is left as it is.
func (s *Statement) Encode() ([]byte, error) {
	full := s.complete()
	if err := full.Validate(); err != nil {
		return nil, fmt.Errorf("encode the statement about %q: %w", s.Predicate.Target.Endpoint, err)
	}
	out, err := canonical(full)
	if err != nil {
		return nil, fmt.Errorf("encode the statement about %q: %w", s.Predicate.Target.Endpoint, err)
	}
	return out, nil
}

// Decode reads a statement strictly. Refused are: more than MaxSize bytes,
// anything but canonical JSON, members that are unknown, missing or given
// twice, and content that Validate refuses.
func Decode(raw []byte) (*Statement, error) {
	s, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("read the statement: %w", err)
	}
	return s, nil
}

// Parse is the first half of Decode: it holds the bytes against the form (all
// members, no others, canonical) and leaves their meaning to the caller. The
// verifier uses it to give each criterion an outcome of its own.
func Parse(raw []byte) (*Statement, error) {
	var s Statement
	if err := parse(raw, &s); err != nil {
		return nil, fmt.Errorf("read the statement: %w", err)
	}
	again, err := canonical(s.complete())
	if err != nil {
		return nil, fmt.Errorf("read the statement: %w", err)
	}
	if err := sameBytes(raw, again); err != nil {
		return nil, fmt.Errorf("read the statement: %w", err)
	}
	return &s, nil
}

// complete returns a copy in the one form that is written.
func (s *Statement) complete() *Statement {
	c := *s
	c.Subject = list(s.Subject)
	p := &c.Predicate
	p.Target.ListedAs = slices.Clone(list(p.Target.ListedAs))
	for i, l := range p.Target.ListedAs {
		p.Target.ListedAs[i] = Listing{Registry: l.Registry, Name: Name(l.Name), Version: Name(l.Version)}
	}
	slices.SortStableFunc(p.Target.ListedAs, compareListings)
	p.Target.Server.Name = Name(p.Target.Server.Name)
	p.Target.Server.Version = Name(p.Target.Server.Version)
	p.Target.Server.ProtocolVersions = named(p.Target.Server.ProtocolVersions)
	p.Plan.Phases = list(p.Plan.Phases)
	p.Verdicts = slices.Clone(list(p.Verdicts))
	for i := range p.Verdicts {
		p.Verdicts[i].Subject = Name(p.Verdicts[i].Subject)
	}
	p.Auth.Issuers = named(p.Auth.Issuers)
	slices.Sort(p.Auth.Issuers)
	if p.Blocked != nil {
		p.Blocked = &Blocked{Phase: p.Blocked.Phase, Reason: Name(p.Blocked.Reason)}
	}
	if p.Score != nil {
		score := *p.Score
		score.Caps = list(score.Caps)
		if score.ByCategory == nil {
			score.ByCategory = map[string]*float64{}
		}
		p.Score = &score
	}
	if p.Catalogue != nil {
		cat := *p.Catalogue
		cat.Tools = slices.Clone(list(cat.Tools))
		for i := range cat.Tools {
			cat.Tools[i].Name = Name(cat.Tools[i].Name)
		}
		p.Catalogue = &cat
	}
	return &c
}

// list makes a missing list an empty one: JSON [] instead of null.
func list[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}

func named(in []string) []string {
	out := slices.Clone(list(in))
	for i := range out {
		out[i] = Name(out[i])
	}
	return out
}

func compareListings(a, b Listing) int {
	return cmp.Or(cmp.Compare(a.Registry, b.Registry), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
}
