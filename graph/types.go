package graph

import "github.com/lustrum-mcp/lustrum/attest"

// Statement is a verified statement and its digest, ready to be applied.
type Statement struct {
	Digest    string // SHA-256 hex of the canonical bytes
	Statement *attest.Statement
}

// Source is one whole listing of something outside: what it no longer names
// is removed, and only that. A source that is not Complete removes nothing.
type Source struct {
	Kind     string // "registry"
	Ref      string // such as "https://registry.example/ namespaces a, b"
	Complete bool
	Listings []Listing
}

// Listing is one registry entry of a source.
type Listing struct {
	Name, Version, Namespace, Status string
	Transport, Endpoint              string // canonical; empty when it has no remote that is a target
	Repository                       string // URL; empty without one
	Packages                         []string
}

// Applied counts what an Apply did.
type Applied struct {
	Applied    int // statements that were new to the graph
	Unchanged  int // statements that it already knew
	Superseded int // statements older than the current one of their endpoint
	Added      int // quads
	Removed    int
}

// Node is one thing in the graph.
type Node struct {
	Kind string `json:"kind"` // server, tool, listing, namespace, source, host, issuer, check, attestation
	Key  string `json:"key"`  // unique within its kind
	Name string `json:"name"` // for people
}

// Step is one edge of a path.
type Step struct {
	From Node   `json:"from"`
	Edge string `json:"edge"`
	To   Node   `json:"to"`
}

// Risk is one finding that a node has or inherits.
type Risk struct {
	Check    string   `json:"check"`
	Status   string   `json:"status"`             // fail or warn
	Severity string   `json:"severity,omitempty"` // on a fail
	At       Node     `json:"at"`                 // the node that has the finding
	Path     []Step   `json:"path"`               // shortest, from the node asked about to At; empty when they are one
	Evidence []string `json:"evidence"`           // statement digests
}
