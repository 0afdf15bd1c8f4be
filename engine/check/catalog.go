package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/lustrum-mcp/lustrum/crawler/mcp"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// phaseCatalog lists everything and invokes nothing. Of a protected server it
// asks for the tools once, to see whether they are guarded too.
func (r *run) phaseCatalog(ctx context.Context) {
	p := r.probe(ctx)
	if p.Protected {
		r.judgeGuardedTools(ctx)
		r.skipMissing(protectedReason, []string{PhaseCatalog})
		return
	}
	session := r.client.Session(p)
	if session == nil {
		r.skipMissing("no handshake succeeded", []string{PhaseCatalog})
		return
	}
	defer session.Close(context.WithoutCancel(ctx))
	l := readCatalogue(ctx, session)
	l.unknown = p.Discovered == nil && p.Initiated == nil
	for _, t := range l.tools {
		r.report.Tools = append(r.report.Tools, t.Tool)
	}
	r.report.Resources, r.report.Prompts = len(l.walks["resources"].Items), len(l.walks["prompts"].Items)
	r.report.Catalogue = l.digestOf()

	r.judgeOpenTools(ctx, l)
	refusedLists := 0
	for _, kind := range lists {
		r.judgeList(ctx, l, kind.capability, kind.method, kind.check)
		if refused(last(l.walks[kind.capability])) {
			refusedLists++
		}
	}
	if refusedLists == len(lists) {
		r.skipMissing(protectedReason, []string{PhaseCatalog})
		return
	}
	r.judgePagination(l)
	r.judgeTools(l)
	r.judgeEmpty(ctx, l)
	r.judgeTexts(ctx, p, l)
}

func last(w *mcp.Walk) *mcp.Answer {
	if w == nil || len(w.Answers) == 0 {
		return nil
	}
	return w.Answers[len(w.Answers)-1]
}

func (r *run) judgeList(ctx context.Context, l *listing, capability, method, id string) {
	w, ev := l.walks[capability], l.ev(capability)
	a := last(w)
	n := count(len(w.Items), strings.TrimSuffix(capability, "s"), capability)
	switch {
	case !l.declared(capability) && w.Err != nil:
		r.skip(id, fmt.Sprintf("the %s capability is not declared, and %s is not answered: %s", capability, method, answered(a)))
	case !l.declared(capability) && len(w.Items) == 0:
		r.skip(id, fmt.Sprintf("the %s capability is not declared, and %s lists nothing", capability, method))
	case !l.declared(capability):
		r.warn(id, ev, fmt.Sprintf("%s listed, and the %s capability is not declared", n, capability))
	case w.Err != nil && refused(a):
		r.skip(id, fmt.Sprintf("protected: %s is answered %s", method, answered(a)))
	case w.Err != nil && unsettled(ctx, a) != "":
		r.skip(id, method+": "+unsettled(ctx, a))
	case w.Err != nil:
		severity := rubric.Major
		if capability == "tools" {
			severity = rubric.Critical
		}
		observed := fmt.Sprintf("%s fails: %s", method, w.Err)
		if len(w.Items) > 0 {
			observed = fmt.Sprintf("%s fails after %s: %s", method, n, w.Err)
		}
		r.fail(id, severity, ev, observed)
	case len(nullEntries(w)) > 0:
		r.fail(id, rubric.Major, ev, fmt.Sprintf("%s listed, and %s", n, strings.Join(nullEntries(w), "; ")))
	default:
		r.pass(id, ev, n+" listed")
	}
}

func nullEntries(w *mcp.Walk) []string { return faultsOf(w, mcp.FaultNullEntry) }

func faultsOf(w *mcp.Walk, kinds ...string) []string {
	var list []string
	for _, f := range w.Faults {
		for _, k := range kinds {
			if f.Kind == k {
				list = append(list, f.Detail)
			}
		}
	}
	return list
}

func (r *run) judgePagination(l *listing) {
	const id = "catalog.pagination"
	read, pages := 0, 0
	clean := true
	for _, kind := range lists {
		w, ev := l.walks[kind.capability], l.ev(kind.capability)
		if w.Err == nil {
			read++
			pages += w.Pages
		}
		if stuck := faultsOf(w, mcp.FaultCursorStuck); len(stuck) > 0 {
			clean = false
			r.fail(id, rubric.Major, ev, "pagination does not advance: "+strings.Join(stuck, "; "), about(kind.method))
		}
		if cut := faultsOf(w, mcp.FaultTruncated); len(cut) > 0 {
			clean = false
			r.info(id, ev, "longer than this check reads: "+strings.Join(cut, "; "), about(kind.method))
		}
		if odd := faultsOf(w, mcp.FaultCursorNull, mcp.FaultCursorType); len(odd) > 0 {
			clean = false
			r.warn(id, ev, strings.Join(odd, "; "), about(kind.method))
		}
	}
	switch {
	case !clean:
	case read == 0:
		r.skip(id, "no list could be read to its end")
	default:
		r.pass(id, l.ev("tools", "resources", "prompts"), fmt.Sprintf("%s ended after %s", count(read, "list", "lists"), count(pages, "page", "pages")))
	}
}

// otherCapabilities are things to offer besides tools, resources and prompts.
var otherCapabilities = []string{"completions", "tasks", "extensions"}

func (r *run) judgeEmpty(ctx context.Context, l *listing) {
	const id = "catalog.empty"
	ev := l.ev("tools", "resources", "prompts")
	total := len(l.tools) + r.report.Resources + r.report.Prompts
	if total > 0 {
		r.pass(id, ev, fmt.Sprintf("%s, %s, %s", count(len(l.tools), "tool", "tools"),
			count(r.report.Resources, "resource", "resources"), count(r.report.Prompts, "prompt", "prompts")))
		return
	}
	declared := false
	for _, kind := range lists {
		declared = declared || l.declared(kind.capability)
		if l.declared(kind.capability) && !l.read(kind.capability) {
			r.skip(id, kind.method+" could not be read")
			return
		}
	}
	if !declared {
		for _, c := range otherCapabilities {
			if l.declared(c) {
				r.info(id, ev, "only "+c+" is declared")
				return
			}
		}
	}
	if l.declared("resources") {
		templates := l.session.List(ctx, "resources/templates/list", "resourceTemplates")
		ev = ev.with(of(templates.Answers...))
		switch {
		case len(templates.Items) > 0:
			r.pass(id, ev, count(len(templates.Items), "resource template", "resource templates"))
			return
		case unsettled(ctx, last(templates)) != "":
			r.skip(id, "resources/templates/list: "+unsettled(ctx, last(templates)))
			return
		}
	}
	r.fail(id, rubric.Critical, ev, "no tools, no resources and no prompts")
}
