package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
	"github.com/lustrum-mcp/lustrum/engine/text"
	"github.com/lustrum-mcp/lustrum/graph"
)

// Formats of the JSON files. Fields are added under the same name; a changed
// meaning gets another one.
const (
	recordFormat = "lustrum/server-record/1"
	indexFormat  = "lustrum/server-index/1"
)

// record is servers/ID.json: what the page of the server says, for programs.
// Text of the server stands in it whole; it is unverified.
type record struct {
	Format     string            `json:"format"`
	Edition    string            `json:"edition"`
	Audience   string            `json:"audience"`
	ID         string            `json:"id"` // endpoint id
	Endpoint   string            `json:"endpoint"`
	Transport  string            `json:"transport"`
	Host       string            `json:"host"`
	Operator   string            `json:"operator"`
	Statement  recordStatement   `json:"statement"`
	CheckedAt  string            `json:"checked_at"` // when the check ended
	Outcome    string            `json:"outcome"`    // answered, protected, unreachable, not-mcp or undetermined
	Auth       attest.Auth       `json:"auth"`
	Server     attest.Server     `json:"server"`
	Score      *rubric.Score     `json:"score"`     // null: nothing was assessed
	Catalogue  *recordCatalogue  `json:"catalogue"` // null: could not be read
	Counts     attest.Counts     `json:"counts"`
	Blocked    *attest.Blocked   `json:"blocked"`
	Findings   []attest.Verdict  `json:"findings"`
	Inherits   []graph.Risk      `json:"inherits"`
	Listings   []recordListing   `json:"listings"`
	Violations []recordViolation `json:"violations"`
}

// recordStatement names the signed statement; paths are from the root.
type recordStatement struct {
	SHA256 string `json:"sha256"`
	Path   string `json:"path"`
	Bundle string `json:"bundle"`
	Key    string `json:"key"`
	KeyID  string `json:"key_id"`
}

type recordCatalogue struct {
	SHA256    string        `json:"sha256"`
	Tools     []attest.Tool `json:"tools"`
	Resources int           `json:"resources"`
	Prompts   int           `json:"prompts"`
}

type recordListing struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Status     string `json:"status"`
	Repository string `json:"repository"`
}

type recordViolation struct {
	Policy   string `json:"policy"`
	Severity string `json:"severity"`
	Path     string `json:"path"`
}

func (s *site) record(v *serverView) record {
	p := &v.Statement.Predicate
	r := record{
		Format: recordFormat, Edition: s.in.Edition.ID, Audience: s.in.Edition.Audience, ID: v.ID,
		Endpoint: p.Target.Endpoint, Transport: p.Target.Transport, Host: v.Record.Host, Operator: v.Record.Operator,
		Statement: recordStatement{
			SHA256: v.Digest, Path: statementPath(v.Digest), Bundle: statementPath(v.Digest) + attest.BundleSuffix, Key: keyPath, KeyID: s.in.KeyID,
		},
		CheckedAt: p.FinishedAt, Outcome: v.Outcome, Auth: p.Auth, Server: p.Target.Server, Score: p.Score, Counts: p.Counts,
		Blocked: p.Blocked, Findings: list(p.Verdicts), Inherits: list(s.risksOf(v.ID)),
		Listings: []recordListing{}, Violations: []recordViolation{},
	}
	if c := p.Catalogue; c != nil {
		r.Catalogue = &recordCatalogue{SHA256: c.Digest, Tools: list(c.Tools), Resources: c.Resources, Prompts: c.Prompts}
	}
	for _, l := range s.listed[v.ID] {
		r.Listings = append(r.Listings, recordListing{l.Name, l.Version, l.Status, l.Repository})
	}
	for _, x := range s.violations[v.ID] {
		r.Violations = append(r.Violations, recordViolation{x.Policy, x.Severity, x.Path})
	}
	return r
}

// list is never null in JSON.
func list[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// index is index.json: the list of servers, in the order of endpoint ids.
type index struct {
	Format       string        `json:"format"`
	Edition      string        `json:"edition"`
	Audience     string        `json:"audience"`
	Registry     string        `json:"registry"`
	Namespaces   []string      `json:"namespaces"`
	NotInEdition int           `json:"not_in_edition"`
	Servers      []indexServer `json:"servers"`
}

// indexServer is one row. Name is bounded and has its control and invisible
// characters as code points; servers/ID.json has it whole.
type indexServer struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Endpoint  string   `json:"endpoint"`
	Transport string   `json:"transport"`
	Operator  string   `json:"operator"`
	Grade     *string  `json:"grade"` // null: not assessed
	Score     *float64 `json:"score"`
	Coverage  *float64 `json:"coverage"` // percent
	Auth      string   `json:"auth"`
	Era       string   `json:"era"`
	Outcome   string   `json:"outcome"`
	Tools     *int     `json:"tools"` // null: could not be read
	Statement string   `json:"statement"`
	Record    string   `json:"record"`
}

func (s *site) index() index {
	e := s.in.Edition
	out := index{
		Format: indexFormat, Edition: e.ID, Audience: e.Audience, Registry: e.Registry, Namespaces: list(e.Namespaces),
		NotInEdition: e.NotInEdition, Servers: make([]indexServer, 0, len(e.Records)),
	}
	for _, r := range e.Records {
		v, p := s.view[r.ID], &r.Statement.Predicate
		row := indexServer{
			ID: r.ID, Name: v.Name, Endpoint: p.Target.Endpoint, Transport: p.Target.Transport, Operator: r.Operator,
			Auth: p.Auth.State, Era: p.Target.Server.Era, Outcome: v.Outcome, Statement: r.Digest, Record: serversDir + "/" + r.ID + ".json",
		}
		if p.Score != nil {
			row.Grade, row.Score, row.Coverage = &p.Score.Grade, &p.Score.Total, &p.Score.Coverage
		}
		if v.HasTools {
			row.Tools = &v.Tools
		}
		out.Servers = append(out.Servers, row)
	}
	return out
}

// encode writes indented JSON in which every control or invisible character is
// an escape, so that the file is safe to print.
func encode(v any) ([]byte, error) {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(len(raw) + 1)
	for i := 0; i < len(raw); {
		if raw[i] < utf8.RuneSelf && raw[i] != 0x7f {
			b.WriteByte(raw[i])
			i++
			continue
		}
		r, size := utf8.DecodeRune(raw[i:])
		switch {
		case unicode.IsPrint(r) && !text.Invisible(r):
			b.Write(raw[i : i+size])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
