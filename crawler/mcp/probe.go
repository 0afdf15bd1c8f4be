package mcp

import (
	"context"
	"net/http"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

const unversionedMethod = "tools/list"

// Probe asks an endpoint which handshakes it answers
// (https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning,
// "Backward Compatibility"): server/discover in the
// newest modern revision, and initialize in the newest legacy one. The two are
// independent: a discover result does not say whether initialize works, and
// servers that answer both list only the modern revisions. When initialize
// works, notifications/initialized follows.
//
// One thing stops initialize from being asked: an unsupported-version error
// (-32022) that lists revisions, all of them modern. The server has then said
// by the modern era's own error that no revision with initialize is spoken,
// and the specification wants the request repeated in a listed revision
// instead of a fallback. That repetition is made once.
//
// More is asked only when the two leave it open: after 404 with -32601 to
// server/discover, tools/list in a revision that does not exist, which a
// modern server refuses by a modern error; after 400, 404 or 405 to both, one
// GET that shows a legacy HTTP+SSE endpoint. Over HTTP+SSE only initialize is
// asked, on a stream of its own.
func (c *Client) Probe(ctx context.Context) *Probe {
	p := &Probe{}
	if c.o.Transport == target.SSE {
		c.Close()
	} else {
		c.probeModern(ctx, p)
	}
	if !onlyModern(p.first()) {
		c.probeLegacy(ctx, p)
	}
	if p.Discover != nil {
		c.probeFurther(ctx, p)
	}
	p.decide()
	return p
}

// first is the first answer to server/discover, also when it was repeated.
func (p *Probe) first() *Answer {
	for _, a := range p.More {
		if a.Method == "server/discover" {
			return a
		}
	}
	return p.Discover
}

func (c *Client) probeModern(ctx context.Context, p *Probe) {
	ask := Request{Method: "server/discover", Version: LatestModern, Modern: true}
	p.Discover = c.Send(ctx, ask)
	if e := p.Discover.RPCError(); e != nil && e.Code == CodeUnsupportedVersion {
		if listed := modernOf(e.Supported()); len(listed) > 0 {
			p.More = append(p.More, p.Discover)
			ask.Version = listed[0]
			p.Discover = c.Send(ctx, ask)
		}
	}
	if p.Discover.RPCError() == nil {
		p.Discovered = readDiscover(p.Discover.Result())
	}
}

// probeLegacy sends initialize without the version header, which is due only
// after it.
func (c *Client) probeLegacy(ctx context.Context, p *Probe) {
	p.Initialize = c.Send(ctx, Request{Method: "initialize", Params: map[string]any{
		"protocolVersion": LatestLegacy,
		"capabilities":    map[string]any{},
		"clientInfo":      c.info(),
	}})
	if p.Initialize.RPCError() == nil {
		p.Initiated = readInitialize(p.Initialize.Result(), p.Initialize.Header)
	}
	if p.Initiated == nil {
		return
	}
	p.Notified = c.Send(ctx, Request{
		Method:    "notifications/initialized",
		Notify:    true,
		Version:   headerVersion(p.Initiated.ProtocolVersion),
		SessionID: p.Initiated.SessionID,
	})
}

func (c *Client) probeFurther(ctx context.Context, p *Probe) {
	if e := p.Discover.RPCError(); e != nil && e.Code == CodeMethodNotFound && p.Discover.Status == http.StatusNotFound {
		p.More = append(p.More, c.Send(ctx, Request{Method: unversionedMethod, Version: Unpublished, Modern: true}))
		return
	}
	if p.Initialize != nil && p.Initiated == nil && p.Discovered == nil && noSuchMethod(p.Discover) && noSuchMethod(p.Initialize) &&
		errorClaim(p.Discover) == claimNone {
		get, data := c.findEndpoint(ctx)
		p.Endpoint = data
		p.More = append(p.More, get)
	}
}

// noSuchMethod says whether HTTP refused a POST the way an endpoint does that
// takes none.
func noSuchMethod(a *Answer) bool {
	return a.Status == http.StatusBadRequest || a.Status == http.StatusNotFound || a.Status == http.StatusMethodNotAllowed
}

// headerVersion is the MCP-Protocol-Version header of requests after
// initialize: due since 2025-06-18, unknown to servers before it. An answer
// that is no plain word can't be sent in a header.
func headerVersion(negotiated string) string {
	if negotiated < V20250618 || len(negotiated) > maxStringLen {
		return ""
	}
	for i := 0; i < len(negotiated); i++ {
		if negotiated[i] <= 0x20 || negotiated[i] >= 0x7f {
			return ""
		}
	}
	return negotiated
}
