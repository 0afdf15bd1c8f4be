package check

import (
	"encoding/json"
	"time"

	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/crawler/wire"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// Status is the outcome of one check.
type Status = rubric.Status

// Severity weighs a fail.
type Severity = rubric.Severity

// Finding is one outcome of one check.
type Finding struct {
	ID        string   `json:"id"`
	Phase     string   `json:"phase"`
	Title     string   `json:"title"`
	Status    Status   `json:"status"`
	Severity  Severity `json:"severity,omitempty"` // on fail only
	Observed  string   `json:"observed"`           // escaped, at most 300 runes; for skip the reason
	Advice    string   `json:"advice,omitempty"`   // on fail and warn
	Evidence  string   `json:"evidence,omitempty"` // "req#3" or "req#3-5"; never empty on pass, warn, fail
	Reference string   `json:"reference,omitempty"`
	Subject   string   `json:"subject,omitempty"` // the tool or issuer it is about, escaped
}

// Report is the outcome of checking one endpoint.
type Report struct {
	Endpoint   target.Endpoint
	Instrument Instrument
	StartedAt  time.Time
	FinishedAt time.Time
	Phases     []string // in the order they ran
	Auth       string   // open, protected, oauth or unreachable
	Issuers    []string // authorization servers that the metadata lists
	Server     Server
	Tools      []Tool // in the order listed
	Resources  int
	Prompts    int
	Catalogue  string // SHA-256 of the canonical catalogue, hex; empty when it could not be read
	Findings   []Finding
	Blocked    *Blocked
	Score      *rubric.Score // nil when no category was assessed
	Exchanges  []wire.Exchange
	Hosts      []string // hosts that were refused by the scope
}

// Instrument names what measured.
type Instrument struct {
	Name, Version, Commit, Catalogue, Rubric, Method string
}

// Server is what a server says about itself, unverified.
type Server struct {
	Name, Version    string
	ProtocolVersions []string
	Era              string
}

// Tool is one listed tool.
type Tool struct {
	Name              string
	Definition        json.RawMessage // as listed
	DefinitionDigest  string          // SHA-256 of the canonical JSON, hex
	DescriptionDigest string          // SHA-256 of the description, hex; empty when there is none
	Annotations       Annotations
}

// Annotations are a tool's hints as given; nil means absent or null.
type Annotations struct {
	ReadOnly, Destructive, Idempotent, OpenWorld *bool
}

// Blocked says which phase could not go on, and why.
type Blocked struct {
	Phase, Reason string
}
