package discover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/lustrum-mcp/lustrum/crawler/mcp"
	"github.com/lustrum-mcp/lustrum/crawler/oauth"
	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/crawler/wire"
)

// Paths are where MCP endpoints and pointers to them are looked for, in this
// order, after the paths that the target itself names.
var Paths = []string{"/mcp", "/sse", "/.well-known/mcp", "/.well-known/mcp/server-card.json"}

const (
	maxDocument = 256 << 10 // bytes of a well-known document
	maxPointers = 8         // URLs taken from well-known documents of one target
)

// Line is a scoped, recorded way to one host; *wire.Line is one.
type Line interface {
	Do(*http.Request) (*http.Response, error)
	Exchanges() []wire.Exchange
	Blocked() []string
}

// Options say where to look.
type Options struct {
	Target        target.Target
	Line          Line
	Paths         []string // Paths when nil
	AllPaths      bool     // go on after the first proof
	Name, Version string   // of the client
}

// Endpoint is a place that proved to speak MCP.
type Endpoint struct {
	URL       string `json:"url"`
	Transport string `json:"transport"`
	Era       string `json:"era"`
	Server    string `json:"server"`   // name and version as reported, not verified
	Evidence  string `json:"evidence"` // req#A-B
}

// Protected is a place that asks for credentials before it says what it is.
type Protected struct {
	URL       string   `json:"url"`
	Status    int      `json:"status"`
	Challenge []string `json:"challenge"` // WWW-Authenticate headers as given
	// Metadata is where the challenge says that the resource metadata is
	// (RFC 9728, section 5.1). It is not fetched; "" when it says nothing usable.
	Metadata string `json:"resource_metadata,omitempty"`
	Evidence string `json:"evidence"`
}

// Result is what one target showed.
type Result struct {
	Target    string      `json:"target"`
	Endpoints []Endpoint  `json:"endpoints"`
	Protected []Protected `json:"protected"`
	Blocked   []string    `json:"blocked"`  // hosts pointed at and not contacted
	Requests  int         `json:"requests"` // sent to the host
	Error     string      `json:"error,omitempty"`
}

// Probe looks for MCP endpoints on one target. It returns an error only when
// ctx ended; a host that does not answer is a result.
func Probe(ctx context.Context, o Options) (*Result, error) {
	p := &prober{o: o, r: &Result{Target: o.Target.Origin(), Endpoints: []Endpoint{}, Protected: []Protected{}, Blocked: []string{}}, seen: map[string]bool{}}
	p.queue(o.Target.Paths...)
	if o.Paths != nil {
		p.queue(o.Paths...)
	} else {
		p.queue(Paths...)
	}
	for len(p.next) > 0 && ctx.Err() == nil {
		at := p.next[0]
		p.next = p.next[1:]
		if p.look(ctx, at) && !o.AllPaths {
			break
		}
	}
	p.r.Blocked = append(p.r.Blocked, o.Line.Blocked()...)
	slices.Sort(p.r.Blocked)
	p.r.Blocked = slices.Compact(p.r.Blocked)
	p.r.Requests = len(o.Line.Exchanges())
	return p.r, ctx.Err()
}

type prober struct {
	o        Options
	r        *Result
	next     []string // URLs
	seen     map[string]bool
	pointers int
}

func (p *prober) queue(paths ...string) {
	for _, path := range paths {
		u, err := p.o.Target.URL(path)
		if err == nil && !p.seen[u] {
			p.seen[u] = true
			p.next = append(p.next, u)
		}
	}
}

// look asks one place and reports whether it proved to speak MCP.
func (p *prober) look(ctx context.Context, at string) bool {
	u, err := url.Parse(at)
	if err != nil {
		return false
	}
	if strings.HasPrefix(u.Path, "/.well-known/") {
		p.follow(ctx, u)
		return false
	}
	transport := target.StreamableHTTP
	if strings.HasSuffix(u.Path, "/sse") {
		transport = target.SSE
	}
	client := mcp.NewClient(at, p.o.Line, mcp.Options{Transport: transport, Name: p.o.Name, Version: p.o.Version})
	defer client.Close()
	probe := client.Probe(ctx)
	first, last := span(probe)
	evidence := fmt.Sprintf("req#%d-%d", first, last)
	if first == last {
		evidence = fmt.Sprintf("req#%d", first)
	}
	switch {
	case probe.Discovered != nil || probe.Initiated != nil:
		p.r.Endpoints = append(p.r.Endpoints, Endpoint{URL: at, Transport: transport, Era: string(probe.Era), Server: calls(probe), Evidence: evidence})
		if s := client.Session(probe); s != nil {
			s.Close(ctx)
		}
		return true
	case probe.Protected:
		for _, a := range []*mcp.Answer{probe.Initialize, probe.Discover} {
			if a != nil && (a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden) {
				given := a.Header.Values("WWW-Authenticate")
				challenges, _ := oauth.ParseChallenges(given)
				metadata, _ := oauth.ResourceMetadataURL(challenges, at)
				p.r.Protected = append(p.r.Protected, Protected{URL: at, Status: a.Status, Challenge: given, Metadata: metadata, Evidence: evidence})
				break
			}
		}
	}
	for _, a := range []*mcp.Answer{probe.Initialize, probe.Discover} {
		if a != nil && a.Err != nil && p.r.Error == "" {
			p.r.Error = a.Err.Error()
		}
	}
	return false
}

// span is the first and last exchange behind a probe.
func span(p *mcp.Probe) (first, last int) {
	for _, a := range append([]*mcp.Answer{p.Discover, p.Initialize, p.Notified}, p.More...) {
		if a == nil || a.First == 0 {
			continue
		}
		if first == 0 || a.First < first {
			first = a.First
		}
		last = max(last, a.Last)
	}
	return first, last
}

// calls is what a server calls itself.
func calls(p *mcp.Probe) string {
	var info *mcp.Implementation
	if p.Discovered != nil {
		info = p.Discovered.ServerInfo
	}
	if info == nil && p.Initiated != nil {
		info = p.Initiated.ServerInfo
	}
	if info == nil {
		return ""
	}
	return strings.TrimSpace(info.Name + " " + info.Version)
}

// follow reads a document at a well-known place and queues the URLs of this
// host that it points at. URLs of other hosts are noted as blocked.
func (p *prober) follow(ctx context.Context, at *url.URL) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return
	}
	req.Header.Set("Accept", "application/json")
	resp, err := p.o.Line.Do(req)
	if err != nil {
		if p.r.Error == "" && !errors.Is(err, wire.ErrBlocked) {
			p.r.Error = err.Error()
		}
		return
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil || len(raw) > maxDocument || resp.StatusCode != http.StatusOK {
		return
	}
	var document map[string]any
	if json.Unmarshal(raw, &document) != nil {
		return
	}
	for _, pointer := range pointersIn(document, 0) {
		to, err := at.Parse(pointer)
		if err != nil || to.User != nil || (to.Scheme != "http" && to.Scheme != "https") {
			continue
		}
		canonical, err := target.Canonical(to.String())
		if err != nil {
			continue
		}
		if to.Host != at.Host || to.Scheme != at.Scheme {
			p.r.Blocked = append(p.r.Blocked, to.Host)
			continue
		}
		if p.pointers < maxPointers && !p.seen[canonical] {
			p.pointers++
			p.seen[canonical] = true
			p.next = append(p.next, canonical)
		}
	}
}

// pointerKeys are the members that name an endpoint in the documents that are
// in use; their places are drafts.
var pointerKeys = []string{"url", "endpoint", "mcp_endpoint", "mcpEndpoint", "serverUrl", "href"}

// pointersIn collects the values of those members, to a small depth.
func pointersIn(v any, depth int) []string {
	if depth > 6 {
		return nil
	}
	var out []string
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			if s, ok := v[key].(string); ok && slices.Contains(pointerKeys, key) {
				out = append(out, s)
				continue
			}
			out = append(out, pointersIn(v[key], depth+1)...)
		}
	case []any:
		for _, item := range v {
			out = append(out, pointersIn(item, depth+1)...)
		}
	}
	return out[:min(len(out), 64)]
}
