package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/lustrum-mcp/lustrum/crawler/mcp"
	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// probe asks the endpoint, once a run and without credentials, which
// handshakes it answers. Its requests are the first contact as well: the
// fewer a check sends, the better for small operators. An endpoint listed as
// Streamable HTTP that turns out to be HTTP+SSE is asked again as that.
func (r *run) probe(ctx context.Context) *mcp.Probe {
	if r.probed != nil {
		return r.probed
	}
	r.client = r.newClient(r.endpoint.Transport)
	r.probed = r.client.Probe(ctx)
	if r.probed.Era == mcp.EraNone && r.probed.Endpoint != "" {
		r.first = r.probed
		r.client.Close()
		r.client = r.newClient(target.SSE)
		r.probed = r.client.Probe(ctx)
	}
	r.report.Server = serverOf(r.probed)
	switch {
	case r.probed.Protected:
		r.report.Auth = AuthProtected
	case opened(r.probed):
		r.report.Auth = AuthOpen
	}
	return r.probed
}

func (r *run) newClient(transport string) *mcp.Client {
	return mcp.NewClient(r.endpoint.URL, r.line, mcp.Options{
		Transport: transport, Name: r.opts.Client.Name, Version: r.opts.Client.Version,
	})
}

// asked lists the answers of a probe in the order of asking.
func asked(p *mcp.Probe) []*mcp.Answer {
	if p == nil {
		return nil
	}
	list := []*mcp.Answer{}
	for _, a := range append([]*mcp.Answer{p.Discover, p.Initialize, p.Notified}, p.More...) {
		if a != nil {
			list = append(list, a)
		}
	}
	slices.SortStableFunc(list, func(a, b *mcp.Answer) int { return a.First - b.First })
	return list
}

// contacts are the answers to both probes without what follows them.
func contacts(p *mcp.Probe) []*mcp.Answer {
	return slices.DeleteFunc([]*mcp.Answer{p.Initialize, p.Discover}, func(a *mcp.Answer) bool { return a == nil })
}

// opened reports whether a handshake succeeded without credentials.
func opened(p *mcp.Probe) bool {
	return p.Initiated != nil || p.Discovered != nil || p.Era == mcp.EraModern
}

func refused(a *mcp.Answer) bool {
	return a != nil && (a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden)
}

func throttled(a *mcp.Answer) bool {
	return a != nil && (a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "")
}

func timedOut(a *mcp.Answer) bool {
	return a != nil && a.Status == 0 && errors.Is(a.Err, context.DeadlineExceeded) ||
		a != nil && a.Result() == nil && a.RPCError() == nil && errors.Is(a.Err, context.DeadlineExceeded)
}

// unsettled says why an answer tells nothing about the server, "" when it
// does tell.
func unsettled(ctx context.Context, a *mcp.Answer) string {
	switch {
	case a == nil:
		return "it was not asked"
	case throttled(a):
		return fmt.Sprintf("HTTP %d: the server asked to slow down", a.Status)
	case ctx.Err() != nil && a.Result() == nil && a.RPCError() == nil:
		return ended(ctx.Err())
	case timedOut(a):
		return "no answer in time"
	case a.Status == 0 && a.Err != nil:
		return "no answer: " + a.Err.Error()
	case a.Err != nil && a.Result() == nil && a.RPCError() == nil && (errors.Is(a.Err, io.ErrUnexpectedEOF) || errors.Is(a.Err, syscall.ECONNRESET)):
		return "the answer broke off: " + a.Err.Error()
	}
	return unread(a)
}

// unread says why an answer was left unread by the bounds of this check, "" when
// it was read. They are ours: no specification forbids the server to answer so.
func unread(a *mcp.Answer) string {
	if a == nil || a.Reply != nil {
		return ""
	}
	for _, f := range a.Faults {
		if f.Kind == mcp.FaultDepth || f.Kind == mcp.FaultTruncated {
			return "the answer is beyond the bounds of this check: " + f.Detail
		}
	}
	return ""
}

// elsewhere is the host that an answer redirects to when it is another one
// than the endpoint's. Only named hosts are asked, so what stands there is
// unknown.
func (r *run) elsewhere(a *mcp.Answer) string {
	if a == nil || a.Location == "" || a.Status < 300 || a.Status > 399 {
		return ""
	}
	base, err := url.Parse(r.endpoint.URL)
	if err != nil {
		return ""
	}
	to, err := base.Parse(a.Location)
	if err != nil || to.Host == "" || strings.EqualFold(to.Hostname(), base.Hostname()) {
		return "" // the same host over plain http, or on another port, is the server's own fault
	}
	return to.Host
}

// answered words what came back, quoting the server.
func answered(a *mcp.Answer) string {
	switch {
	case a == nil:
		return "not asked"
	case a.RPCError() != nil:
		e := a.RPCError()
		text := fmt.Sprintf("HTTP %d with error %d %s", a.Status, e.Code, quoteShort(e.Message, 120))
		if len(e.Data) > 0 && e.Code != mcp.CodeMethodNotFound {
			text += " and data " + clip(Quote(string(e.Data)), 100)
		}
		return text
	case a.Result() != nil:
		return fmt.Sprintf("HTTP %d with a result", a.Status)
	case a.Status == 0 && a.Err != nil:
		return "no answer: " + a.Err.Error()
	}
	text := fmt.Sprintf("HTTP %d", a.Status)
	switch {
	case a.Location != "":
		text += " to " + quoteShort(a.Location, 120)
	case len(a.Body) > 0:
		text += fmt.Sprintf(" (%s) %s", orElse(a.MediaType, "no media type"), quoteShort(string(a.Body[:min(len(a.Body), 600)]), 80))
	case a.Err != nil:
		text += ": " + a.Err.Error()
	}
	return text
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func serverOf(p *mcp.Probe) Server {
	s := Server{Era: string(p.Era)}
	info := (*mcp.Implementation)(nil)
	versions := []string{}
	if p.Initiated != nil {
		info = p.Initiated.ServerInfo
		versions = append(versions, p.Initiated.ProtocolVersion)
	}
	if p.Discovered != nil {
		if p.Discovered.ServerInfo != nil {
			info = p.Discovered.ServerInfo
		}
		versions = append(versions, p.Discovered.SupportedVersions...)
	}
	for _, a := range asked(p) {
		if e := a.RPCError(); e != nil && e.Code == mcp.CodeUnsupportedVersion {
			versions = append(versions, e.Supported()...)
		}
	}
	slices.Sort(versions)
	for _, v := range slices.Compact(versions) {
		if len(s.ProtocolVersions) < 16 {
			s.ProtocolVersions = append(s.ProtocolVersions, strings.ToValidUTF8(clip(v, 40), "\uFFFD"))
		}
	}
	if info != nil {
		s.Name, s.Version = clip(info.Name, 200), clip(info.Version, 100)
	}
	return s
}
