package attest

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// Names inside an edition's folder that its statement does not list: itself,
// its bundle, and the statements, which it lists by digest instead.
const (
	EditionFile   = "edition.json"
	BundleSuffix  = ".sigstore.json"
	StatementsDir = "statements"
)

// MaxPath bounds a path inside an edition, in bytes.
const MaxPath = 512

// EditionStatement is the signed head of one edition: an in-toto statement
// whose subjects are the edition's files, by slash path relative to its folder,
// sorted.
type EditionStatement struct {
	Type          string           `json:"_type"`
	Subject       []Subject        `json:"subject"`
	PredicateType string           `json:"predicateType"`
	Predicate     EditionPredicate `json:"predicate"`
}

// EditionPredicate says what the edition is and what it rests on. The times
// are the earliest start and the latest end of its statements, never a clock's,
// so that the same statements give the same bytes; both are empty in an edition
// without a statement.
type EditionPredicate struct {
	Edition    string        `json:"edition"` // YYYY-MM-DD
	Registry   string        `json:"registry"`
	Namespaces []string      `json:"namespaces"` // sorted; empty: the whole registry
	Audience   string        `json:"audience"`   // "public" or "owner"
	Method     string        `json:"method"`
	Rubric     string        `json:"rubric"`
	Operator   string        `json:"operator"`
	Contact    string        `json:"contact"`
	StartedAt  string        `json:"started_at"`
	FinishedAt string        `json:"finished_at"`
	Statements []string      `json:"statements"` // SHA-256 of each public statement, sorted
	Counts     EditionCounts `json:"counts"`
	Previous   string        `json:"previous"` // SHA-256 of the previous edition.json; empty for the first
}

// EditionCounts are endpoints: all of the slice, those with a public record,
// and the rest in one number.
type EditionCounts struct {
	Endpoints    int `json:"endpoints"`
	Public       int `json:"public"`
	NotInEdition int `json:"not_in_edition"`
}

// NewEdition frames an edition statement over files (see Files) and the
// digests of its statements.
func NewEdition(p EditionPredicate, files []Subject) *EditionStatement {
	return &EditionStatement{Type: StatementType, PredicateType: EditionType, Subject: files, Predicate: p}
}

// Span is the earliest start and the latest end of statements; both are empty
// without one.
func Span(statements []*Statement) (started, finished string) {
	for _, s := range statements {
		if started == "" || s.Predicate.StartedAt < started {
			started = s.Predicate.StartedAt
		}
		finished = max(finished, s.Predicate.FinishedAt)
	}
	return started, finished
}

// EncodeEdition checks the statement and returns its canonical bytes.
// Subjects, namespaces and digests are sorted first.
func EncodeEdition(e *EditionStatement) ([]byte, error) {
	full := e.complete()
	if err := full.Validate(); err != nil {
		return nil, fmt.Errorf("encode the statement of edition %q: %w", e.Predicate.Edition, err)
	}
	out, err := canonical(full)
	if err != nil {
		return nil, fmt.Errorf("encode the statement of edition %q: %w", e.Predicate.Edition, err)
	}
	return out, nil
}

// DecodeEdition reads an edition statement as strictly as Decode reads a
// statement.
func DecodeEdition(raw []byte) (*EditionStatement, error) {
	e, err := ParseEdition(raw)
	if err != nil {
		return nil, err
	}
	if err := e.Validate(); err != nil {
		return nil, fmt.Errorf("read the edition statement: %w", err)
	}
	return e, nil
}

// ParseEdition holds the bytes against the form and leaves their meaning to
// the caller, as Parse does.
func ParseEdition(raw []byte) (*EditionStatement, error) {
	var e EditionStatement
	if err := parse(raw, &e); err != nil {
		return nil, fmt.Errorf("read the edition statement: %w", err)
	}
	again, err := canonical(e.complete())
	if err != nil {
		return nil, fmt.Errorf("read the edition statement: %w", err)
	}
	if err := sameBytes(raw, again); err != nil {
		return nil, fmt.Errorf("read the edition statement: %w", err)
	}
	return &e, nil
}

func (e *EditionStatement) complete() *EditionStatement {
	c := *e
	c.Subject = slices.Clone(list(e.Subject))
	slices.SortStableFunc(c.Subject, func(a, b Subject) int { return strings.Compare(a.Name, b.Name) })
	c.Predicate.Namespaces = slices.Clone(list(e.Predicate.Namespaces))
	slices.Sort(c.Predicate.Namespaces)
	c.Predicate.Statements = slices.Clone(list(e.Predicate.Statements))
	slices.Sort(c.Predicate.Statements)
	return &c
}

// Validate holds the edition statement against its own rules; the error names
// the member.
func (e *EditionStatement) Validate() error {
	if e.Type != StatementType {
		return fmt.Errorf("_type is %q, not %q", e.Type, StatementType)
	}
	if e.PredicateType != EditionType {
		return fmt.Errorf("predicateType is %q, not %q", e.PredicateType, EditionType)
	}
	if err := e.ValidateContent(); err != nil {
		return err
	}
	return e.Predicate.TimesInOrder()
}

// ValidateContent is Validate without the two types and the order of times.
func (e *EditionStatement) ValidateContent() error {
	if err := validateFiles(e.Subject); err != nil {
		return err
	}
	if err := inToto(e.Subject); err != nil {
		return err
	}
	for _, check := range []func(*EditionPredicate) error{validateEditionWords, validateEditionTimes, validateEditionStatements} {
		if err := check(&e.Predicate); err != nil {
			return fmt.Errorf("predicate.%w", err)
		}
	}
	return nil
}

// TimesInOrder says whether the end is not before the start.
func (p *EditionPredicate) TimesInOrder() error { return timesInOrder(p.StartedAt, p.FinishedAt) }

func validateFiles(files []Subject) error {
	for i, f := range files {
		if err := CheckPath(f.Name); err != nil {
			return fmt.Errorf("subject[%d].name: %w", i, err)
		}
		if f.Name == EditionFile || f.Name == EditionFile+BundleSuffix {
			return fmt.Errorf("subject[%d].name is %q, which cannot hold its own digest", i, f.Name)
		}
		if i > 0 && files[i-1].Name == f.Name {
			return fmt.Errorf("subject[%d].name %q stands twice", i, f.Name)
		}
		if len(f.Digest) != 1 || !isDigest(f.Digest["sha256"]) {
			return fmt.Errorf("subject[%d].digest of %q is not one SHA-256 in hex", i, f.Name)
		}
	}
	return nil
}

func validateEditionWords(p *EditionPredicate) error {
	if day, err := time.Parse(time.DateOnly, p.Edition); err != nil || day.Format(time.DateOnly) != p.Edition {
		return fmt.Errorf("edition is %q, not a day such as 2026-01-31", p.Edition)
	}
	if p.Audience != "public" && p.Audience != "owner" {
		return fmt.Errorf("audience is %q; it is public or owner", p.Audience)
	}
	if p.Method == "" || p.Rubric == "" || p.Registry == "" {
		return fmt.Errorf("registry %q, method %q or rubric %q is empty", p.Registry, p.Method, p.Rubric)
	}
	for _, f := range []struct{ name, value string }{
		{"registry", p.Registry}, {"method", p.Method}, {"rubric", p.Rubric},
		{"operator", p.Operator}, {"contact", p.Contact},
	} {
		if err := bounded(f.name, f.value, target.MaxURL); err != nil {
			return err
		}
	}
	return ascending("namespaces", p.Namespaces, func(ns string) error {
		if ns == "" || len(ns) > MaxName {
			return fmt.Errorf("%q is not a namespace", ns)
		}
		return nil
	})
}

func validateEditionTimes(p *EditionPredicate) error {
	if len(p.Statements) == 0 {
		if p.StartedAt != "" || p.FinishedAt != "" {
			return fmt.Errorf("started_at and finished_at are given, but no statement is that they could come from")
		}
		return nil
	}
	return wellFormedTimes(p.StartedAt, p.FinishedAt)
}

func validateEditionStatements(p *EditionPredicate) error {
	if err := ascending("statements", p.Statements, func(d string) error {
		if !isDigest(d) {
			return fmt.Errorf("%q is not a SHA-256 in hex", d)
		}
		return nil
	}); err != nil {
		return err
	}
	c := p.Counts
	if min(c.Endpoints, c.Public, c.NotInEdition) < 0 || c.Endpoints != c.Public+c.NotInEdition {
		return fmt.Errorf("counts: %d endpoints are not %d public and %d others", c.Endpoints, c.Public, c.NotInEdition)
	}
	if c.Public != len(p.Statements) {
		return fmt.Errorf("counts.public is %d, but %d statements are listed", c.Public, len(p.Statements))
	}
	if p.Previous != "" && !isDigest(p.Previous) {
		return fmt.Errorf("previous is %q, not a SHA-256 in hex", p.Previous)
	}
	return nil
}

func ascending(name string, in []string, check func(string) error) error {
	for i, s := range in {
		if err := check(s); err != nil {
			return fmt.Errorf("%s[%d]: %w", name, i, err)
		}
		if i > 0 && in[i-1] >= s {
			return fmt.Errorf("%s[%d]: %q stands twice or out of order", name, i, s)
		}
	}
	return nil
}

// CheckPath accepts a relative slash path that stays below the folder it is
// relative to, on every system: no "..", no "." and no empty element, no
// leading slash, no backslash, no colon (a Windows drive or stream), no control
// character.
func CheckPath(p string) error {
	if p == "" || len(p) > MaxPath || !utf8.ValidString(p) {
		return fmt.Errorf("path %q is empty, over %d bytes, or not UTF-8", p, MaxPath)
	}
	if strings.ContainsAny(p, "\\:") {
		return fmt.Errorf("path %q holds a backslash or a colon", p)
	}
	for _, r := range p {
		if r < 0x20 || r == 0x7f {
			return fmt.Errorf("path %q holds a control character", p)
		}
	}
	for _, part := range strings.Split(p, "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("path %q is absolute or has an empty, \".\" or \"..\" element", p)
		}
	}
	return nil
}

// StatementPath is where an edition (and the store) keeps the statement with a
// digest, relative to its folder.
func StatementPath(digest string) string {
	if !isDigest(digest) {
		return ""
	}
	return StatementsDir + "/" + digest[:2] + "/" + digest + ".json"
}
