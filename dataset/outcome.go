package dataset

import (
	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// Outcomes of an endpoint, see Outcome.
const (
	Answered     = "answered"
	Protected    = "protected"
	Unreachable  = "unreachable"
	NotMCP       = "not-mcp"
	Undetermined = "undetermined"
)

// Outcomes are all of them in the order in which they are decided.
var Outcomes = []string{Answered, Protected, Unreachable, NotMCP, Undetermined}

// Outcome says in one word what became of an endpoint. The first that holds
// is it:
//
//	answered      an MCP handshake succeeded without credentials: the era is
//	              decided and not "none", or handshake.initialize or
//	              handshake.discover passed or warned, or there is a catalogue
//	protected     first contact was refused for want of credentials: the
//	              state of auth is protected or oauth
//	unreachable   no HTTP answer came: net.dns, net.tcp or net.tls failed, or
//	              handshake.initialize failed, discovery.first_contact saw no
//	              answer, and the state of auth is unreachable
//	not-mcp       an HTTP answer came that was no MCP: handshake.initialize or
//	              handshake.discover failed otherwise
//	undetermined  it could not be told: a rate limit, the deadline, a resolver
//	              without an answer, an address that the scope refuses
func Outcome(s *attest.Statement) string {
	p := &s.Predicate
	worst := map[string]rubric.Status{}
	for _, c := range checks("", p.Verdicts) {
		worst[c.Check] = rubric.Status(c.Status)
	}
	has := func(status rubric.Status, ids ...string) bool {
		for _, id := range ids {
			if worst[id] == status {
				return true
			}
		}
		return false
	}
	era := p.Target.Server.Era
	contact := worst["discovery.first_contact"]
	switch {
	case era != "" && era != "none",
		has(rubric.Pass, "handshake.initialize", "handshake.discover"),
		has(rubric.Warn, "handshake.initialize", "handshake.discover"),
		p.Catalogue != nil:
		return Answered
	case p.Auth.State == "protected" || p.Auth.State == "oauth":
		return Protected
	case has(rubric.Fail, "net.dns", "net.tcp", "net.tls"),
		p.Auth.State == "unreachable" && (contact == "" || contact == rubric.Skip) && has(rubric.Fail, "handshake.initialize"):
		return Unreachable
	case has(rubric.Fail, "handshake.initialize", "handshake.discover"):
		return NotMCP
	}
	return Undetermined
}
