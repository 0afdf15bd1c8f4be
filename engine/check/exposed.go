package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/lustrum-mcp/lustrum/crawler/mcp"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

const idExposed = "auth.unauthenticated_tools"

// judgeGuardedTools asks a protected server for its tools without credentials:
// some guard the handshake and forget the rest.
func (r *run) judgeGuardedTools(ctx context.Context) {
	request := mcp.Request{Method: "tools/list", Modern: true, Version: mcp.LatestModern}
	if r.client.Transport() == "sse" {
		request = mcp.Request{Method: "tools/list"}
	}
	a := r.client.Send(ctx, request)
	r.client.Close()
	ev := of(a)
	switch {
	case refused(a):
		r.pass(idExposed, ev, fmt.Sprintf("tools/list is answered HTTP %d, and so was first contact", a.Status))
	case a.Result() != nil:
		l := &listing{walks: map[string]*mcp.Walk{}}
		members, _ := mcp.Object(a.Result())
		for i, raw := range entries(members["tools"]) {
			l.tools = append(l.tools, readTool(i, raw))
		}
		r.judgeExposed(l.tools, ev, "though first contact was refused")
	default:
		r.skip(idExposed, "tools/list: "+orElse(unsettled(ctx, a), answered(a)))
	}
}

func (r *run) judgeOpenTools(ctx context.Context, l *listing) {
	w, a := l.walks["tools"], last(l.walks["tools"])
	switch {
	case w.Err != nil && refused(a):
		r.pass(idExposed, of(a), fmt.Sprintf("tools/list is answered HTTP %d, while first contact was not refused", a.Status))
	case w.Err != nil && len(w.Items) == 0:
		r.skip(idExposed, "tools/list: "+orElse(unsettled(ctx, a), answered(a)))
	default:
		r.judgeExposed(l.tools, l.ev("tools"), "and first contact was open too")
	}
}

// judgeExposed weighs what anyone may list: the worst tool decides. On
// loopback each outcome is one step lower.
func (r *run) judgeExposed(tools []tool, ev span, contact string) {
	var destructive, unannotated, other []string
	for _, t := range tools {
		word := plainlyDestructive(t.Name)
		if is(t.Annotations.ReadOnly, true) && (word == "" || changesThings(t.Name) == "") {
			continue // a declaration that the name plainly belies does not count
		}
		switch {
		case is(t.Annotations.Destructive, true):
			destructive = append(destructive, quoteShort(t.key, 60)+" (declared)")
		case word != "":
			destructive = append(destructive, fmt.Sprintf("%s (%q)", quoteShort(t.key, 60), word))
		case t.Annotations.Destructive == nil:
			unannotated = append(unannotated, quoteShort(t.key, 60))
		default:
			other = append(other, quoteShort(t.key, 60))
		}
	}
	n := count(len(tools), "tool", "tools")
	loopback := r.loopback()
	switch {
	case len(tools) == 0:
		r.pass(idExposed, ev, "tools/list without credentials lists nothing, "+contact)
	case len(destructive) > 0:
		r.fail(idExposed, lower(rubric.Critical, loopback), ev,
			fmt.Sprintf("%s listed without credentials, %s; destructive: %s", n, contact, some(destructive, 6)))
	case len(unannotated) > 0:
		r.fail(idExposed, lower(rubric.Major, loopback), ev,
			fmt.Sprintf("%s listed without credentials, %s; not annotated, so to be treated as destructive: %s", n, contact, some(unannotated, 6)))
	case len(other) > 0 && loopback:
		r.info(idExposed, ev, fmt.Sprintf("%s listed without credentials on loopback; declared to change things without destroying: %s", n, some(other, 6)))
	case len(other) > 0:
		r.warn(idExposed, ev, fmt.Sprintf("%s listed without credentials, %s; declared to change things without destroying: %s", n, contact, some(other, 6)))
	case loopback:
		r.info(idExposed, ev, n+" listed without credentials on loopback, all declared read-only")
	default:
		r.warn(idExposed, ev, fmt.Sprintf("%s listed without credentials, %s; all are declared read-only", n, contact))
	}
}

// lower is one step down, on loopback.
func lower(s Severity, loopback bool) Severity {
	switch {
	case !loopback:
		return s
	case s == rubric.Critical:
		return rubric.Major
	}
	return rubric.Minor
}

// some joins the first few of a list and counts the rest.
func some(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}
