package attest

import "github.com/lustrum-mcp/lustrum/engine/rubric"

// Identifiers of the statement format (https://in-toto.io/Statement/v1).
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://lustrum-mcp.github.io/attestation/server-check/v1"
	EditionType   = "https://lustrum-mcp.github.io/attestation/edition/v1"
	PayloadType   = "application/vnd.in-toto+json"
	TimeFormat    = "2006-01-02T15:04:05.000Z" // RFC 3339, UTC, milliseconds
	MaxSize       = 4 << 20                    // bytes of a statement or bundle that is read
)

// Statement is one in-toto statement about one endpoint.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// Subject names the canonical endpoint; its sha256 is target.Endpoint.Digest.
type Subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// Predicate is the result of one check. It holds no secret, no body and no
// free text from the server except names.
type Predicate struct {
	Target     Target        `json:"target"`
	Instrument Instrument    `json:"instrument"`
	StartedAt  string        `json:"started_at"`
	FinishedAt string        `json:"finished_at"`
	Vantage    Vantage       `json:"vantage"`
	Plan       Plan          `json:"plan"`
	Verdicts   []Verdict     `json:"verdicts"`
	Counts     Counts        `json:"counts"`
	Score      *rubric.Score `json:"score"` // null: nothing was assessed
	Auth       Auth          `json:"auth"`
	Catalogue  *Catalogue    `json:"catalogue"` // null: could not be read
	Blocked    *Blocked      `json:"blocked"`
	Evidence   Evidence      `json:"evidence"`
}

// Target is what was checked.
type Target struct {
	Transport string    `json:"transport"`
	Endpoint  string    `json:"endpoint"`
	ListedAs  []Listing `json:"listed_as"`
	Server    Server    `json:"server"`
}

// Listing is a registry name and version that lists the endpoint.
type Listing struct {
	Registry string `json:"registry"`
	Name     string `json:"name"`
	Version  string `json:"version"`
}

// Server is what the server says about itself. Unverified is always true.
type Server struct {
	Name             string   `json:"name"`
	Version          string   `json:"version"`
	ProtocolVersions []string `json:"protocol_versions"`
	Era              string   `json:"era"`
	Unverified       bool     `json:"unverified"`
}

// Instrument names what measured.
type Instrument struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	Commit    string `json:"commit"`
	Catalogue string `json:"catalogue"`
	Rubric    string `json:"rubric"`
	Method    string `json:"method"`
}

// Vantage is where it was measured from.
type Vantage struct {
	Label     string `json:"label"`
	UserAgent string `json:"user_agent"`
}

// Plan is enough to run the check again.
type Plan struct {
	Phases      []string `json:"phases"`
	Policy      string   `json:"policy"`      // "read-only"
	RPS         float64  `json:"rps"`         // requests per second and host; 0: no cap
	Credentials string   `json:"credentials"` // "none"
}

// Verdict is the outcome of one check. Observed is the SHA-256 (hex) of the
// observed text, on a fail only. Subject is a tool name or an issuer.
type Verdict struct {
	ID       string          `json:"id"`
	Phase    string          `json:"phase"`
	Status   rubric.Status   `json:"status"`
	Severity rubric.Severity `json:"severity,omitempty"`
	Evidence string          `json:"evidence,omitempty"`
	Observed string          `json:"observed,omitempty"`
	Subject  string          `json:"subject,omitempty"`
}

// Counts are findings by status.
type Counts struct {
	Pass int `json:"pass"`
	Warn int `json:"warn"`
	Fail int `json:"fail"`
	Skip int `json:"skip"`
	Info int `json:"info"`
}

// Auth is how first contact was answered: open, protected, oauth or
// unreachable.
type Auth struct {
	State   string   `json:"state"`
	Issuers []string `json:"issuers"`
}

// Catalogue is the digest of the canonical catalogue (RFC 8785) and its tools.
type Catalogue struct {
	Digest    string `json:"digest"`
	Tools     []Tool `json:"tools"`
	Resources int    `json:"resources"`
	Prompts   int    `json:"prompts"`
}

// Tool is one tool: its name, digests, and annotations as given (absent
// members were absent or null).
type Tool struct {
	Name        string      `json:"name"`
	Definition  string      `json:"definition"`  // SHA-256 hex
	Description string      `json:"description"` // SHA-256 hex, empty without one
	Annotations Annotations `json:"annotations"`
}

// Annotations are hints as given.
type Annotations struct {
	ReadOnly    *bool `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  *bool `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

// Blocked says which phase could not go on, and why.
type Blocked struct {
	Phase  string `json:"phase"`
	Reason string `json:"reason"`
}

// Evidence is the recorded exchange: a private file, named by its digest.
type Evidence struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}
