package mcp

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// Session is one way to talk to an endpoint, after a Probe.
type Session struct {
	Client       *Client
	Version      string // the revision spoken
	Modern       bool   // by per-request metadata; false: after initialize
	ID           string // Mcp-Session-Id of a legacy session, "" without one or when modern
	Capabilities map[string]json.RawMessage

	opened string // the legacy session that Probe opened, which Close ends
	header string // MCP-Protocol-Version of the legacy session
}

// Session returns the best way to talk, nil when there is none: the modern era
// when server/discover listed a modern revision, which shows that a modern
// request works; else the legacy session that initialize opened; else, after a
// modern error alone, the modern era in a revision the server lists. A server
// that answers requests in any revision whatever (EraInconsistent) has proven
// nothing modern, so its legacy session is used.
func (c *Client) Session(p *Probe) *Session {
	switch {
	case p == nil:
		return nil
	case p.Discovered != nil && len(modernOf(p.Discovered.SupportedVersions)) > 0:
		s := c.legacySession(p)
		s.Modern, s.ID = true, ""
		s.Version = modernOf(p.Discovered.SupportedVersions)[0]
		s.Capabilities = p.Discovered.Capabilities
		return s
	case p.Initiated != nil:
		return c.legacySession(p)
	case p.Era != EraModern:
		return nil
	}
	s := &Session{Client: c, Modern: true, Version: LatestModern}
	for _, a := range append([]*Answer{p.Discover}, p.More...) {
		if listed := modernOf(a.RPCError().Supported()); len(listed) > 0 {
			s.Version = listed[0]
		}
	}
	return s
}

// LegacySession returns the session that initialize opened, whatever else the
// server speaks; nil when initialize did not work.
func (c *Client) LegacySession(p *Probe) *Session {
	if p == nil || p.Initiated == nil {
		return nil
	}
	return c.legacySession(p)
}

func (c *Client) legacySession(p *Probe) *Session {
	s := &Session{Client: c}
	if p.Initiated != nil {
		s.Version = p.Initiated.ProtocolVersion
		s.ID, s.opened = p.Initiated.SessionID, p.Initiated.SessionID
		s.header = headerVersion(s.Version)
		s.Capabilities = p.Initiated.Capabilities
	}
	return s
}

// Request fills in what the session adds to a request; deviant requests start
// from it.
func (s *Session) Request(method string, params map[string]any) Request {
	r := Request{Method: method, SessionID: s.ID, Version: s.header}
	if params != nil {
		r.Params = params
	}
	if s.Modern {
		r.Modern, r.Version = true, s.Version
	}
	return r
}

// Call sends one request within the session and never returns nil. A session
// that the server has forgotten shows as status 404; it is not opened again.
// Over HTTP+SSE the session is the stream: once that has ended, a later Call
// opens another one and repeats initialize on it. A request that was under way
// when the stream ended fails and is not repeated.
func (s *Session) Call(ctx context.Context, method string, params map[string]any) *Answer {
	if s.Client.streamLost() {
		if p := s.Client.Probe(ctx); p.Initiated == nil {
			return p.Initialize
		}
	}
	return s.Client.Send(ctx, s.Request(method, params))
}

// Close ends what the probe opened: the legacy session by DELETE, the stream
// of HTTP+SSE. Servers may refuse the DELETE, so nothing is reported.
func (s *Session) Close(ctx context.Context) {
	if s == nil {
		return
	}
	if s.opened != "" && s.Client.o.Transport != target.SSE {
		s.Client.Send(ctx, Request{HTTPMethod: http.MethodDelete, SessionID: s.opened, Version: s.header})
		s.opened = ""
	}
	s.Client.Close()
}
