package site

import (
	"cmp"
	"slices"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
	"github.com/lustrum-mcp/lustrum/graph"
)

// findingGroup is the findings that ask for the same thing to be done.
type findingGroup struct {
	Key, Title, Lead string
	Findings         []findingView
	Brief            bool // one line each, without advice
}

// findingView is one check with everything found under it.
type findingView struct {
	ID, Title, Why, Advice, Reference string
	Word, Class                       string
	Marks                             []mark
	More                              int // marks that are not shown
	rank                              int
}

// mark is one verdict: what it is about, and where it is recorded.
type mark struct{ Subject, Evidence string }

// groups of findings, in the order of the page.
var groups = []findingGroup{
	{Key: "now", Title: "Fix now", Lead: "Critical: this puts whoever connects at risk, or keeps everybody out."},
	{Key: "should", Title: "Should fix", Lead: "Major and minor failures of the specification or of good practice."},
	{Key: "look", Title: "Look at", Lead: "Nothing is broken. It may still be worth a change."},
	{Key: "fine", Title: "Fine", Lead: "Passed, or only for information.", Brief: true},
	{Key: "unknown", Title: "Could not tell", Lead: "Not looked into, for a reason that lies outside the check. It is no failure.", Brief: true},
}

// rank orders a verdict: its group, and its place there (lower is worse).
func rank(v attest.Verdict) (group, place int, word, class string) {
	switch v.Status {
	case rubric.Fail:
		switch v.Severity {
		case rubric.Major:
			return 1, 0, "major", "major"
		case rubric.Minor:
			return 1, 1, "minor", "minor"
		}
		// A fail without a known severity counts as critical, as in the score.
		return 0, 0, "critical", "critical"
	case rubric.Warn:
		return 2, 0, "warning", "warn"
	case rubric.Pass:
		return 3, 0, "pass", "pass"
	case rubric.Info:
		return 3, 1, "info", "info"
	}
	return 4, 0, "skipped", "skip"
}

// findings groups verdicts by what to do about them. In a group one check
// stands once, with all it is about.
func (s *site) findings(verdicts []attest.Verdict) []findingGroup {
	type key struct {
		group, place int
		id           string
	}
	at := map[key]int{}
	all := slices.Clone(groups)
	for _, v := range verdicts {
		group, place, word, class := rank(v)
		k := key{group, place, v.ID}
		i, ok := at[k]
		if !ok {
			c := s.check(v.ID)
			f := findingView{
				ID: line(v.ID), Title: line(cmp.Or(c.Title, v.ID)), Reference: link(c.Reference),
				Word: word, Class: class, rank: place,
			}
			if !all[group].Brief {
				f.Why, f.Advice = show(c.Why, 1000), show(c.Advice, 1000)
			}
			i = len(all[group].Findings)
			at[k] = i
			all[group].Findings = append(all[group].Findings, f)
		}
		f := &all[group].Findings[i]
		m := mark{Subject: name(v.Subject), Evidence: name(v.Evidence)}
		switch {
		case m == mark{}:
		case len(f.Marks) >= maxSubjects:
			f.More++
		default:
			f.Marks = append(f.Marks, m)
		}
	}
	for i := range all {
		slices.SortStableFunc(all[i].Findings, func(a, b findingView) int { return cmp.Compare(a.rank, b.rank) })
	}
	return slices.DeleteFunc(all, func(g findingGroup) bool { return len(g.Findings) == 0 })
}

// riskView is one inherited finding and the way to it.
type riskView struct {
	Word, Class, Title, ID string
	AtKind, At             string
	Steps                  []stepView
	Evidence               []evidenceView
	rank                   int
}

type stepView struct{ Edge, Kind, Name string }

type evidenceView struct{ Short, Path string }

// inherits lists what a server inherits, worst first, and how much more there
// is. What leads over a server without a record in this edition is left out:
// it would say something of one that the public is told nothing about.
func (s *site) inherits(v *serverView) (shown []riskView, more int) {
	for _, r := range s.risksOf(v.ID) {
		if len(shown) == maxInherits {
			more++
			continue
		}
		shown = append(shown, s.viewRisk(r))
	}
	slices.SortStableFunc(shown, func(a, b riskView) int { return cmp.Compare(a.rank, b.rank) })
	return shown, more
}

// risksOf are the inherited risks of a server that may be shown.
func (s *site) risksOf(id string) []graph.Risk {
	var all []graph.Risk
	for _, r := range s.in.Risks[id] {
		if len(r.Path) > 0 && s.showable(r) {
			all = append(all, r)
		}
	}
	return all
}

func (s *site) showable(r graph.Risk) bool {
	nodes := []graph.Node{r.At}
	for _, step := range r.Path {
		nodes = append(nodes, step.From, step.To)
	}
	return !slices.ContainsFunc(nodes, func(n graph.Node) bool {
		return n.Kind == "server" && s.byID[n.Key] == nil
	})
}

func (s *site) viewRisk(r graph.Risk) riskView {
	group, place, word, class := rank(attest.Verdict{Status: rubric.Status(r.Status), Severity: rubric.Severity(r.Severity)})
	c := s.check(r.Check)
	v := riskView{
		Word: word, Class: class, Title: line(cmp.Or(c.Title, r.Check)), ID: line(r.Check),
		AtKind: name(r.At.Kind), At: name(cmp.Or(r.At.Name, r.At.Key)), rank: group*10 + place,
	}
	for _, step := range r.Path[:min(len(r.Path), maxSubjects)] {
		v.Steps = append(v.Steps, stepView{Edge: name(step.Edge), Kind: name(step.To.Kind), Name: name(cmp.Or(step.To.Name, step.To.Key))})
	}
	for _, digest := range r.Evidence[:min(len(r.Evidence), maxSubjects)] {
		if path := statementPath(digest); s.published[digest] {
			v.Evidence = append(v.Evidence, evidenceView{Short: digest[:12], Path: path})
		}
	}
	return v
}
