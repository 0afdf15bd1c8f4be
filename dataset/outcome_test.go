package dataset

import (
	"testing"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

func TestOutcome(t *testing.T) {
	first := func(s rubric.Status) attest.Verdict { return verdict("discovery.first_contact", "discovery", s, "") }
	initialize := func(s rubric.Status, sev rubric.Severity) attest.Verdict {
		return verdict("handshake.initialize", "handshake", s, sev)
	}
	for _, c := range []struct {
		name string
		want string
		edit func(*attest.Predicate)
	}{
		{"the era is decided", Answered, func(p *attest.Predicate) { p.Target.Server.Era = "modern" }},
		{"a handshake with a deviation", Answered, func(p *attest.Predicate) { p.Verdicts = []attest.Verdict{initialize(rubric.Warn, "")} }},
		{"a modern handshake alone", Answered, func(p *attest.Predicate) {
			p.Verdicts = []attest.Verdict{initialize(rubric.Skip, ""), verdict("handshake.discover", "handshake", rubric.Pass, "")}
		}},
		{"a catalogue", Answered, func(p *attest.Predicate) { p.Catalogue = &attest.Catalogue{Digest: digestOf("c")} }},
		{"open handshake behind a refused first contact", Answered, func(p *attest.Predicate) { p.Auth.State, p.Target.Server.Era = "protected", "legacy" }},
		{"refused with metadata", Protected, func(p *attest.Predicate) {
			p.Auth.State = "oauth"
			p.Verdicts = []attest.Verdict{first(rubric.Pass), initialize(rubric.Skip, "")}
		}},
		{"refused without", Protected, func(p *attest.Predicate) { p.Auth.State, p.Target.Server.Era = "protected", "none" }},
		{"no name", Unreachable, func(p *attest.Predicate) {
			p.Auth.State = "unreachable"
			p.Verdicts = []attest.Verdict{verdict("net.dns", "net", rubric.Fail, rubric.Critical), initialize(rubric.Skip, "")}
		}},
		{"a certificate that has expired", Unreachable, func(p *attest.Predicate) {
			p.Auth.State, p.Blocked = "unreachable", &attest.Blocked{Phase: "net", Reason: "x"}
			p.Verdicts = []attest.Verdict{verdict("net.tls", "net", rubric.Fail, rubric.Critical)}
		}},
		{"refused by the scope", Undetermined, func(p *attest.Predicate) {
			p.Auth.State, p.Blocked = "unreachable", &attest.Blocked{Phase: "net", Reason: "not contacted"}
			p.Verdicts = []attest.Verdict{verdict("net.dns", "net", rubric.Skip, ""), first(rubric.Skip), initialize(rubric.Skip, "")}
		}},
		{"a connection and no answer", Unreachable, func(p *attest.Predicate) {
			p.Auth.State = "unreachable"
			p.Verdicts = []attest.Verdict{verdict("net.tcp", "net", rubric.Pass, ""), first(rubric.Skip), initialize(rubric.Fail, rubric.Critical)}
		}},
		{"a web page", NotMCP, func(p *attest.Predicate) {
			p.Auth.State, p.Target.Server.Era = "unreachable", "none"
			p.Verdicts = []attest.Verdict{first(rubric.Warn), initialize(rubric.Fail, rubric.Critical)}
		}},
		{"a rate limit", Undetermined, func(p *attest.Predicate) {
			p.Auth.State = "unreachable"
			p.Verdicts = []attest.Verdict{first(rubric.Skip), initialize(rubric.Skip, "")}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := record(t, "https://x.example.com/", c.edit)
			if got := Outcome(r.Statement); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
