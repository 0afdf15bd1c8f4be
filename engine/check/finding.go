package check

import (
	"fmt"

	"github.com/lustrum-mcp/lustrum/crawler/mcp"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// span is a run of recorded exchanges, req#first to req#last. The zero span
// cites nothing.
type span struct{ first, last int }

func at(n int) span { return span{n, n} }

// of is the exchanges behind answers, from the first to the last of them.
func of(answers ...*mcp.Answer) span {
	var s span
	for _, a := range answers {
		if a != nil {
			s = s.with(span{a.First, a.Last})
		}
	}
	return s
}

func (s span) with(other span) span {
	switch {
	case other.first == 0:
		return s
	case s.first == 0:
		return other
	}
	return span{min(s.first, other.first), max(s.last, other.last)}
}

func (s span) String() string {
	switch {
	case s.first == 0:
		return ""
	case s.last <= s.first:
		return fmt.Sprintf("req#%d", s.first)
	}
	return fmt.Sprintf("req#%d-%d", s.first, s.last)
}

// detail is what an outcome may add to its observation.
type detail func(*Finding)

// about names the tool or issuer that a finding is about.
func about(subject string) detail {
	return func(f *Finding) { f.Subject = clip(Quote(subject), 160) }
}

// advise replaces the catalogue's advice by a more exact one.
func advise(format string, args ...any) detail {
	return func(f *Finding) { f.Advice = Quote(fmt.Sprintf(format, args...)) }
}

func (r *run) pass(id string, ev span, observed string, details ...detail) {
	r.add(id, rubric.Pass, "", ev, observed, details)
}

func (r *run) warn(id string, ev span, observed string, details ...detail) {
	r.add(id, rubric.Warn, "", ev, observed, details)
}

func (r *run) fail(id string, severity Severity, ev span, observed string, details ...detail) {
	r.add(id, rubric.Fail, severity, ev, observed, details)
}

func (r *run) info(id string, ev span, observed string, details ...detail) {
	r.add(id, rubric.Info, "", ev, observed, details)
}

func (r *run) skip(id, reason string, details ...detail) {
	r.add(id, rubric.Skip, "", span{}, reason, details)
}

// add records one finding. An outcome that nothing recorded backs is no
// outcome: it becomes a skip, so that a report never accuses or praises
// without evidence.
func (r *run) add(id string, status Status, severity Severity, ev span, observed string, details []detail) {
	meta, ok := Lookup(id)
	if !ok {
		return
	}
	if ev.first == 0 && (status == rubric.Pass || status == rubric.Warn || status == rubric.Fail) {
		status, severity = rubric.Skip, ""
		observed = "no recorded exchange shows it: " + observed
	}
	f := Finding{
		ID: id, Phase: meta.Phase, Title: meta.Title, Status: status, Severity: severity,
		Observed: Quote(observed), Evidence: ev.String(), Reference: meta.Reference,
	}
	if status == rubric.Warn || status == rubric.Fail {
		f.Advice = meta.Advice
	}
	for _, d := range details {
		d(&f)
	}
	if status != rubric.Warn && status != rubric.Fail {
		f.Advice = ""
	}
	r.report.Findings = append(r.report.Findings, f)
}
