package registry

import (
	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// Reason says why an entry or a remote is left out.
type Reason string

// Reasons by which an entry is left out before its remotes are looked at.
const (
	Malformed      Reason = "malformed entry"
	OtherNamespace Reason = "outside the namespace"
	Repeated       Reason = "listed twice" // the same name and version again
	OlderVersion   Reason = "older version"
	Deleted        Reason = "deleted"
	Deprecated     Reason = "deprecated"
	NotActive      Reason = "status not active" // neither of the three known ones
)

// Reasons by which a remote of a chosen entry is left out, and with its last
// remote the entry.
const (
	OptedOut         Reason = "opted out"
	NotRemote        Reason = "not remote" // the entry has no remotes
	TemplateURL      Reason = "template URL"
	UnknownTransport Reason = "unknown transport"
	NotHTTP          Reason = "not http(s)"
	Credentials      Reason = "credentials in the URL"
	PrivateAddress   Reason = "private address"
	InvalidURL       Reason = "invalid URL"
	NeedsHeaders     Reason = "needs headers from the user" // only with Options.SkipNeedsHeaders
	Duplicate        Reason = "duplicate"                   // an earlier remote is the same endpoint
)

// Reasons are all of them in the order in which they are decided.
func Reasons() []Reason {
	return []Reason{
		Malformed, Repeated, OtherNamespace, Deleted, Deprecated, NotActive, OlderVersion,
		OptedOut, NotRemote, TemplateURL, UnknownTransport, NotHTTP, Credentials, PrivateAddress,
		InvalidURL, NeedsHeaders, Duplicate,
	}
}

// Slice is what was read of a registry.
//
// Two sums hold: Seen is Measured plus all of Skipped, and the number of
// Remotes is the number of Targets plus all of SkippedRemotes.
type Slice struct {
	Base  string // canonical URL of the registry, without the API's route
	Route string // "/v0.1/servers" or "/v0/servers"
	Pages []Page

	Entries []Entry  // the chosen one of each name, by name
	Names   []string // of Entries
	Remotes []Remote // of Entries in their order, one at least for each

	LeftOut        []LeftOut      // entries, but for those outside the namespace
	Seen           int            // entries on the pages
	Measured       int            // entries with a target of their own
	Skipped        map[Reason]int // entries, each under one reason
	SkippedRemotes map[Reason]int // remotes, each under one reason

	Notes    []string // what a person should know, one line each
	Complete bool     // the walk reached its end
}

// Targets are the remotes to be measured: one for each endpoint.
func (s *Slice) Targets() []Remote {
	var targets []Remote
	for _, r := range s.Remotes {
		if r.Reason == "" {
			targets = append(targets, r)
		}
	}
	return targets
}

// Page is one answer of the registry as it was served.
type Page struct {
	URL    string
	SHA256 string // hex, of Body
	Size   int    // bytes
	Body   []byte
}

// LeftOut is an entry that nothing is measured for.
type LeftOut struct {
	Name, Version string // empty when the entry has none that can be read
	Reason        Reason
	Detail        string // more than the reason says; may be empty
	Page, Index   int    // where the entry stands, both from 0
}

// Why is the detail, or the reason where there is none.
func (l LeftOut) Why() string { return why(l.Reason, l.Detail) }

// Remote is one remote of a chosen entry, or an entry that has none.
type Remote struct {
	Name, Version string
	Entry         int    // index into Slice.Entries
	Transport     string // as listed, older spellings mapped; empty for NotRemote
	URL           string // as listed, credentials masked; empty for NotRemote

	// Endpoint is what is measured, zero when the remote is left out. A
	// Duplicate keeps its endpoint: it is a listing of it like the first.
	Endpoint target.Endpoint
	Reason   Reason // empty for a target
	Detail   string // more than the reason says; may be empty

	Headers      []string // names of the headers the listing would have sent
	NeedsHeaders []string // those of them that it requires; never sent
}

// Why is the detail, or the reason where there is none; empty for a target.
func (r Remote) Why() string { return why(r.Reason, r.Detail) }

func why(reason Reason, detail string) string {
	if detail != "" {
		return detail
	}
	return string(reason)
}
