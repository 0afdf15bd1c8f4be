package dataset

import "github.com/lustrum-mcp/lustrum/attest"

// Edition is everything that is published of one run: what the tables, the
// figures and the site are made from. It holds public records only; what is
// held back is in NotInEdition and nowhere else.
type Edition struct {
	ID           string // YYYY-MM-DD
	Registry     string // URL of the registry
	Namespaces   []string
	Audience     string // "public", or "owner" for a private edition in which nothing is held back
	Method       string // method version
	Operator     string // vantage label
	Contact      string
	Records      []Record  // sorted by endpoint id
	Listings     []Listing // sorted by name, version, url
	NotInEdition int       // endpoints of the slice without a public record, in one number
}

// Record is one endpoint of an edition and its statement.
type Record struct {
	ID        string // endpoint id
	Host      string
	Operator  string // registrable domain of the host; the host itself when there is none
	Digest    string // SHA-256 hex of the statement's canonical bytes
	Statement *attest.Statement
}

// Listing is one remote of one registry entry, or an entry without one.
type Listing struct {
	Name, Version, Namespace, Status string
	Transport, URL                   string // as listed; empty when the entry has no remote
	EndpointID                       string // empty when left out
	Reason                           string // why it was left out; empty when it is a target
	Repository                       string
	Title, Description               string
}
