package check

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/lustrum-mcp/lustrum/crawler/mcp"
	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// metadataChecks are the checks that need a server which asks for credentials.
var metadataChecks = []string{"discovery.challenge", "discovery.prm", "discovery.prm.resource", "discovery.as",
	"discovery.as.https", "discovery.as.pkce", "discovery.as.grants", "discovery.registration", "discovery.ssrf"}

// phaseDiscovery judges first contact, and what a protected server publishes
// about how to get in. The answers to the era probes are the first contact.
func (r *run) phaseDiscovery(ctx context.Context) {
	p := r.probe(ctx)
	r.judgeFirstContact(ctx, p)
	if !p.Protected {
		reason := "first contact was not answered 401: there is no authorization to discover"
		if r.report.Auth == AuthUnreachable {
			reason = "first contact brought no answer that tells"
		}
		for _, id := range metadataChecks {
			r.skip(id, reason)
		}
		return
	}
	r.judgeMetadata(ctx, decisive(p))
}

// decisive is the answer that shows how first contact was refused: a 401
// before a 403, initialize before server/discover.
func decisive(p *mcp.Probe) *mcp.Answer {
	all := contacts(p)
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		for _, a := range all {
			if a.Status == status {
				return a
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

func (r *run) judgeFirstContact(ctx context.Context, p *mcp.Probe) {
	const id = "discovery.first_contact"
	ev := of(contacts(p)...)
	a := decisive(p)
	switch {
	case opened(p) && r.client.Transport() == target.SSE:
		observed := "open: a legacy HTTP+SSE endpoint answers without credentials"
		if r.first != nil {
			observed += ", though it is listed as " + r.endpoint.Transport
		}
		r.info(id, ev, observed)
	case opened(p):
		observed := "open: " + p.Why
		if refused(a) {
			observed = fmt.Sprintf("open, though %s is answered HTTP %d: %s", a.Method, a.Status, p.Why)
		}
		r.info(id, ev, observed)
	case p.Protected && a.Status == http.StatusUnauthorized:
		r.pass(id, ev, fmt.Sprintf("%s is answered HTTP 401", a.Method))
	case p.Protected:
		r.warn(id, ev, fmt.Sprintf("%s is answered HTTP %d, which asks for no credentials: 401 with a challenge is due", a.Method, a.Status))
	case r.elsewhere(a) != "":
		r.warn(id, ev, "a deviation: "+r.undecided(ctx, p))
	case r.undecided(ctx, p) != "":
		r.skip(id, r.undecided(ctx, p))
	case silent(p):
		r.skip(id, answered(a))
	default:
		var parts []string
		for _, c := range contacts(p) {
			parts = append(parts, c.Method+": "+answered(c))
		}
		r.warn(id, ev, "a deviation: "+strings.Join(parts, "; "))
	}
}

// silent reports whether no probe brought an HTTP response.
func silent(p *mcp.Probe) bool {
	for _, a := range contacts(p) {
		if a.Status != 0 {
			return false
		}
	}
	return true
}
