package mcp

import (
	"fmt"
	"slices"
	"strings"
)

// Unpublished is a revision that does not exist. A server that answers a
// request in it does not look at revisions at all. It lies in the future:
// servers compare revisions as text, and some refuse an old date in front of
// their JSON-RPC layer.
const Unpublished = "2099-01-01"

// claim is what a request with modern metadata showed.
type claim int

const (
	claimNone    claim = iota
	claimError         // a recognised modern error: modern, though nothing worked yet
	claimWorking       // server/discover listed a modern revision
)

// modernClaim judges the answer to server/discover. 404 with -32601 is no
// claim: it is what a modern server owes for a method it lacks, but a modern
// server must not lack this one, and gateways in front of legacy servers
// answer the same.
func modernClaim(a *Answer, d *DiscoverResult) claim {
	if d != nil {
		if len(modernOf(d.SupportedVersions)) > 0 {
			return claimWorking
		}
		return claimNone
	}
	return errorClaim(a)
}

// errorClaim recognises the errors that the 2026-07-28 revision defines. An
// unsupported-version error that lists legacy revisions only is how a legacy
// server refuses, not a modern one.
func errorClaim(a *Answer) claim {
	e := a.RPCError()
	if e == nil {
		return claimNone
	}
	switch e.Code {
	case CodeHeaderMismatch, CodeMissingCapability:
		return claimError
	case CodeUnsupportedVersion:
		if list := e.Supported(); len(list) == 0 || len(modernOf(list)) > 0 {
			return claimError
		}
	}
	return claimNone
}

// onlyModern says whether an unsupported-version error lists revisions and
// all of them are modern.
func onlyModern(a *Answer) bool {
	e := a.RPCError()
	if e == nil || e.Code != CodeUnsupportedVersion {
		return false
	}
	list := e.Supported()
	return len(list) > 0 && len(modernOf(list)) == len(list)
}

// modernOf returns the modern revisions of a list, the best first: those
// published, newest first, then the others.
func modernOf(list []string) []string {
	var modern []string
	for _, v := range list {
		if Modern(v) && !slices.Contains(modern, v) {
			modern = append(modern, v)
		}
	}
	slices.SortFunc(modern, func(a, b string) int {
		knownA, knownB := slices.Contains(Revisions, a), slices.Contains(Revisions, b)
		if knownA != knownB {
			if knownA {
				return -1
			}
			return 1
		}
		return strings.Compare(b, a)
	})
	return modern
}

// decide sets Era, Why, Protected and Unlisted from the answers of a probe.
func (p *Probe) decide() {
	legacy := p.Initiated != nil
	switch modern := modernClaim(p.Discover, p.Discovered); {
	case p.unversioned() != nil:
		p.Era, p.Why = EraInconsistent, fmt.Sprintf("tools/list is answered in %q, a revision that does not exist, while server/discover gets %s and initialize gets %s", Unpublished, describe(p.Discover), p.describeInitialize())
	case modern == claimWorking && legacy:
		p.Era, p.Why = EraDual, fmt.Sprintf("server/discover lists %s and initialize answers %q", quoteList(p.Discovered.SupportedVersions), clip(p.Initiated.ProtocolVersion))
	case modern == claimWorking:
		p.Era, p.Why = EraModern, fmt.Sprintf("server/discover lists %s and initialize %s", quoteList(p.Discovered.SupportedVersions), p.notInitiated())
	case modern == claimError && legacy:
		p.Era, p.Why = EraDual, fmt.Sprintf("server/discover gets %s, an error of the modern era, and initialize answers %q", describe(p.Discover), clip(p.Initiated.ProtocolVersion))
	case modern == claimError:
		p.Era, p.Why = EraModern, fmt.Sprintf("server/discover gets %s, an error of the modern era, and initialize %s", describe(p.Discover), p.notInitiated())
	case p.laterClaim() != nil:
		p.decideLater(legacy)
	case p.Discovered != nil && len(p.Discovered.SupportedVersions) > 0 && legacy:
		p.Era, p.Why = EraDiscoverOnly, fmt.Sprintf("server/discover is answered but lists only %s, and initialize answers %q", quoteList(p.Discovered.SupportedVersions), clip(p.Initiated.ProtocolVersion))
	case legacy && p.Discover == nil:
		p.Era, p.Why = EraLegacy, fmt.Sprintf("initialize answers %q over HTTP+SSE", clip(p.Initiated.ProtocolVersion))
	case legacy:
		p.Era, p.Why = EraLegacy, fmt.Sprintf("initialize answers %q and server/discover gets %s", clip(p.Initiated.ProtocolVersion), describe(p.Discover))
	case p.Discovered != nil:
		p.Era, p.Why = EraInconsistent, fmt.Sprintf("server/discover is answered and lists %s, no revision without initialize, and initialize gets %s", quoteList(p.Discovered.SupportedVersions), describe(p.Initialize))
	default:
		p.decideNone()
	}
	p.Unlisted = p.unlisted()
	if p.Unlisted != "" {
		p.Why += fmt.Sprintf("; server/discover does not list %q", clip(p.Unlisted))
	}
}

// decideLater handles a server that lacks server/discover and yet refused
// another request by a modern error.
func (p *Probe) decideLater(legacy bool) {
	p.Era = EraModern
	if legacy {
		p.Era = EraDual
	}
	p.Why = fmt.Sprintf("server/discover gets %s, but tools/list in %q gets %s, an error of the modern era, and initialize gets %s",
		describe(p.Discover), Unpublished, describe(p.laterClaim()), p.describeInitialize())
}

func (p *Probe) decideNone() {
	p.Era = EraNone
	if p.Discover == nil {
		p.Why = "initialize gets " + describe(p.Initialize)
	} else {
		p.Why = fmt.Sprintf("server/discover gets %s and initialize gets %s", describe(p.Discover), describe(p.Initialize))
	}
	p.Protected = guarded(p.Initialize) && (p.Discover == nil || guarded(p.Discover))
	if p.Endpoint != "" {
		p.Why += fmt.Sprintf("; it is a legacy HTTP+SSE endpoint: GET opens an event stream that begins with endpoint %q", clip(p.Endpoint))
	}
}

func (p *Probe) notInitiated() string {
	if p.Initialize == nil {
		return "was not asked, because the server lists no revision that has it"
	}
	return "gets " + describe(p.Initialize)
}

func (p *Probe) describeInitialize() string {
	if p.Initiated != nil {
		return fmt.Sprintf("the revision %q", clip(p.Initiated.ProtocolVersion))
	}
	return describe(p.Initialize)
}

// unversioned returns the answer in the unpublished revision, when it was a
// result.
func (p *Probe) unversioned() *Answer {
	for _, a := range p.More {
		if a.Method == unversionedMethod && a.Result() != nil && a.RPCError() == nil {
			return a
		}
	}
	return nil
}

// laterClaim returns the answer in the unpublished revision, when it was a
// modern error.
func (p *Probe) laterClaim() *Answer {
	for _, a := range p.More {
		if a.Method == unversionedMethod && errorClaim(a) == claimError {
			return a
		}
	}
	return nil
}

// unlisted is the revision that initialize answered, when server/discover
// lists revisions with initialize but not this one. Servers of both eras may
// list the modern ones only.
func (p *Probe) unlisted() string {
	if p.Discovered == nil || p.Initiated == nil {
		return ""
	}
	list := p.Discovered.SupportedVersions
	if len(modernOf(list)) == len(list) || slices.Contains(list, p.Initiated.ProtocolVersion) {
		return ""
	}
	return p.Initiated.ProtocolVersion
}

func guarded(a *Answer) bool { return a != nil && (a.Status == 401 || a.Status == 403) }

// describe words an answer in a few words, quoting the server.
func describe(a *Answer) string {
	switch {
	case a == nil:
		return "no answer, as it was not asked"
	case a.RPCError() != nil:
		e := a.RPCError()
		text := fmt.Sprintf("error %d %q with status %d", e.Code, clip(e.Message), a.Status)
		if list := e.Supported(); len(list) > 0 {
			text += " that lists " + quoteList(list)
		}
		return text
	case a.Err != nil:
		return "no answer (" + clip(a.Err.Error()) + ")"
	case a.Result() != nil:
		return fmt.Sprintf("a result that can't be used (%s)", quote(a.Result()))
	}
	text := fmt.Sprintf("status %d", a.Status)
	if len(a.Body) > 0 {
		text += " with " + quote(a.Body)
	}
	return text
}

// quoteList shows at most eight entries of a list of the server.
func quoteList(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	var parts []string
	for i, s := range list {
		if i == 8 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, fmt.Sprintf("%q", clip(s)))
	}
	return strings.Join(parts, ", ")
}
