package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lustrum-mcp/lustrum/crawler/mcp"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// maxSubjects is how many tools one check names one by one; the rest is
// counted.
const maxSubjects = 100

// Bounds of a tool's name and description, in characters.
const (
	maxToolName      = 128
	shortDescription = 20
)

// entries are the objects of a JSON array.
func entries(raw json.RawMessage) []json.RawMessage {
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(e json.RawMessage) bool {
		_, ok := mcp.Object(e)
		return !ok
	})
}

// tally collects the findings of one check over many tools, and reports them
// within the bound.
type tally struct {
	run   *run
	id    string
	ev    span
	bad   int
	extra int
}

func (t *tally) room() bool {
	t.bad++
	if t.bad > maxSubjects {
		t.extra++
		return false
	}
	return true
}

func (t *tally) warn(subject, observed string, details ...detail) {
	if t.room() {
		t.run.warn(t.id, t.ev, observed, append(details, about(subject))...)
	}
}

func (t *tally) fail(severity Severity, subject, observed string, details ...detail) {
	if t.room() {
		t.run.fail(t.id, severity, t.ev, observed, append(details, about(subject))...)
	}
}

// done reports a pass when nothing was found, and what was left out.
func (t *tally) done(passed string) {
	switch {
	case t.bad == 0:
		t.run.pass(t.id, t.ev, passed)
	case t.extra > 0:
		t.run.info(t.id, t.ev, fmt.Sprintf("and %d more like these", t.extra))
	}
}

// judgeTools runs the checks that look at one tool after the other.
func (r *run) judgeTools(l *listing) {
	ids := []string{"catalog.tools.unique", "catalog.tools.names", "catalog.tools.descriptions", "catalog.tools.input_schema",
		"catalog.tools.annotations", "catalog.tools.annotation_honesty", "catalog.tools.output_schema"}
	if len(l.tools) == 0 {
		for _, id := range ids {
			r.skip(id, "no tools were listed")
		}
		return
	}
	ev := l.ev("tools")
	r.judgeUnique(l, ev)
	r.judgeNames(l, ev)
	r.judgeDescriptions(l, ev)
	r.judgeInputSchemas(l, ev)
	r.judgeAnnotations(l, ev)
	r.judgeHonesty(l, ev)
	r.judgeOutputSchemas(l, ev)
}

// applies skips a check that the negotiated revision does not have.
func (r *run) applies(l *listing, id string) bool {
	meta, _ := Lookup(id)
	if meta.Revisions.Has(l.session.Version) {
		return true
	}
	r.skip(id, "revision "+quoteShort(l.session.Version, 40)+" does not have what this looks at")
	return false
}

func (r *run) judgeUnique(l *listing, ev span) {
	t := &tally{run: r, id: "catalog.tools.unique", ev: ev}
	times := map[string]int{}
	for _, tool := range l.tools {
		if times[tool.key]++; times[tool.key] == 2 {
			n := 0
			for _, other := range l.tools {
				if other.key == tool.key {
					n++
				}
			}
			t.fail(rubric.Major, tool.key, fmt.Sprintf("%s is listed %d times", quoteShort(tool.Name, 80), n))
		}
	}
	t.done(fmt.Sprintf("%s with different names", count(len(l.tools), "tool", "tools")))
}

func (r *run) judgeNames(l *listing, ev span) {
	t := &tally{run: r, id: "catalog.tools.names", ev: ev}
	slash := slices.Contains(mcp.Revisions, l.session.Version) && l.session.Version < mcp.V20251125
	for _, tool := range l.tools {
		n := utf8.RuneCountInString(tool.Name)
		switch {
		case n == 0:
			t.warn(tool.key, "the name is empty or missing")
		case n > maxToolName:
			t.warn(tool.key, fmt.Sprintf("the name has %d characters: %s", n, quoteShort(tool.Name, 60)))
		case strings.ContainsFunc(tool.Name, func(c rune) bool { return !portable(c, slash) }):
			t.warn(tool.key, quoteShort(tool.Name, 160)+" holds other characters than A-Z a-z 0-9 _ - .")
		}
	}
	t.done("all names are portable")
}

func portable(c rune, slash bool) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || slash && c == '/'
}

func (r *run) judgeDescriptions(l *listing, ev span) {
	t := &tally{run: r, id: "catalog.tools.descriptions", ev: ev}
	for _, tool := range l.tools {
		n := utf8.RuneCountInString(strings.TrimSpace(tool.description))
		switch {
		case n == 0:
			t.fail(rubric.Major, tool.key, "the description is missing")
		case n < shortDescription:
			t.warn(tool.key, fmt.Sprintf("%s has %s", quoteShort(tool.description, 60), count(n, "character", "characters")))
		}
	}
	t.done("every tool is described")
}

// judgeAnnotations reports one warning for all tools together: a server that
// annotates nothing has one thing to repair.
func (r *run) judgeAnnotations(l *listing, ev span) {
	const id = "catalog.tools.annotations"
	if !r.applies(l, id) {
		return
	}
	var bare []string
	for _, tool := range l.tools {
		if tool.Annotations.ReadOnly == nil && tool.Annotations.Destructive == nil {
			bare = append(bare, quoteShort(tool.key, 60))
		}
	}
	if len(bare) == 0 {
		r.pass(id, ev, "every tool declares readOnlyHint or destructiveHint")
		return
	}
	r.warn(id, ev, fmt.Sprintf("%d of %s without readOnlyHint and destructiveHint, so to be treated as destructive: %s",
		len(bare), count(len(l.tools), "tool", "tools"), some(bare, 6)))
}

func (r *run) judgeHonesty(l *listing, ev span) {
	const id = "catalog.tools.annotation_honesty"
	if !r.applies(l, id) {
		return
	}
	t := &tally{run: r, id: id, ev: ev}
	readOnly := 0
	for _, tool := range l.tools {
		if !is(tool.Annotations.ReadOnly, true) {
			continue
		}
		readOnly++
		if word := changesThings(tool.Name); word != "" {
			t.fail(rubric.Major, tool.key, fmt.Sprintf("readOnlyHint is true, and the name says %q: %s", word, quoteShort(tool.Name, 100)))
		}
	}
	if readOnly == 0 {
		r.skip(id, "no tool is declared read-only")
		return
	}
	t.done(fmt.Sprintf("%s declared read-only, none named after a change", count(readOnly, "tool", "tools")))
}
