package site

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// violationView is one violated policy.
type violationView struct {
	Policy, Title, Severity, Reason, Remedy, Path string
	Server                                        *serverView
}

// policyView is one policy and where it is violated.
type policyView struct {
	ID, Title, Severity, Reason, Remedy string
	Violations                          []violationView
	Servers                             int
}

type policiesView struct {
	Policies []policyView
	Total    int
}

// severities from the worst down.
var severities = []string{"critical", "major", "minor"}

func severityRank(s string) int {
	if i := slices.Index(severities, s); i >= 0 {
		return i
	}
	return len(severities)
}

func (s *site) viewViolation(v Violation) violationView {
	severity := name(v.Severity)
	if !slices.Contains(severities, severity) {
		severity = "info"
	}
	return violationView{
		Policy: name(v.Policy), Title: line(cmp.Or(v.Title, v.Policy)), Severity: severity, Reason: show(v.Reason, 1000),
		Remedy: show(v.Remedy, 1000), Path: line(v.Path), Server: s.view[v.EndpointID],
	}
}

// violationsOf are the violations at one server, worst first.
func (s *site) violationsOf(id string) []violationView {
	var all []violationView
	for _, v := range s.violations[id] {
		all = append(all, s.viewViolation(v))
	}
	return all
}

// sortViolations groups the violations of public records by server. One that
// names a server without a record here is left out.
func sortViolations(all []Violation, known func(id string) bool) map[string][]Violation {
	by := map[string][]Violation{}
	for _, v := range all {
		if known(v.EndpointID) {
			by[v.EndpointID] = append(by[v.EndpointID], v)
		}
	}
	for _, some := range by {
		slices.SortStableFunc(some, func(a, b Violation) int {
			return cmp.Or(cmp.Compare(severityRank(a.Severity), severityRank(b.Severity)), strings.Compare(a.Policy, b.Policy), strings.Compare(a.Path, b.Path))
		})
	}
	return by
}

func (s *site) writePolicies() error {
	at := map[string]int{}
	var v policiesView
	for _, server := range s.order {
		for _, raw := range s.violations[server.ID] {
			x := s.viewViolation(raw)
			i, ok := at[raw.Policy]
			if !ok {
				i = len(v.Policies)
				at[raw.Policy] = i
				v.Policies = append(v.Policies, policyView{ID: x.Policy, Title: x.Title, Severity: x.Severity, Reason: x.Reason, Remedy: x.Remedy})
			}
			p := &v.Policies[i]
			if n := len(p.Violations); n == 0 || p.Violations[n-1].Server != x.Server {
				p.Servers++
			}
			p.Violations = append(p.Violations, x)
			v.Total++
		}
	}
	slices.SortFunc(v.Policies, func(a, b policyView) int {
		return cmp.Or(cmp.Compare(severityRank(a.Severity), severityRank(b.Severity)), strings.Compare(a.ID, b.ID))
	})
	return s.render("policies.html", "policies.html", "Policies", v)
}

// methodView is the method page: the rubric as data.
type methodView struct {
	Method     string
	Pace       string // the fastest that a record of the edition allowed; empty without a cap
	Registry   string
	Namespaces []string
	Contact    string
	Rubrics    []rubricView
	Missing    string
	KeyID, Key string
	Folder     string
}

type rubricView struct {
	ID, Title  string
	Total      int
	Categories []rubricCategory
	Deductions rubric.Deductions
	Caps       []rubricCap
	Grades     []rubricGrade
}

type rubricCategory struct {
	Name, Phases, Share string
	Weight              int
}

type rubricCap struct{ When, Max string }

type rubricGrade struct{ Grade, From string }

func (s *site) writeMethod() error {
	e := s.in.Edition
	v := methodView{
		Method: name(e.Method), Registry: line(e.Registry), Contact: line(e.Contact), Missing: s.missing(),
		KeyID: name(s.in.KeyID), Key: keyPath, Folder: editionsDir + e.ID,
	}
	for _, n := range e.Namespaces {
		v.Namespaces = append(v.Namespaces, name(n))
	}
	fastest, capped := 0.0, len(e.Records) > 0
	for _, r := range e.Records {
		rps := r.Statement.Predicate.Plan.RPS
		fastest, capped = max(fastest, rps), capped && rps > 0
	}
	if capped {
		v.Pace = pace(fastest)
	}
	ids := map[string]bool{rubric.Anonymous: len(e.Records) == 0}
	for _, r := range e.Records {
		if score := r.Statement.Predicate.Score; score != nil {
			ids[score.Rubric] = true
		} else {
			ids[r.Statement.Predicate.Instrument.Rubric] = true
		}
	}
	for _, id := range rubric.IDs() {
		if !ids[id] {
			continue
		}
		r, err := rubric.Load(id)
		if err != nil {
			return err
		}
		v.Rubrics = append(v.Rubrics, viewRubric(r))
	}
	return s.render("method.html", "method.html", "Method", v)
}

func viewRubric(r *rubric.Rubric) rubricView {
	v := rubricView{ID: r.ID, Title: r.Title, Deductions: r.Deductions}
	for _, c := range r.Categories {
		v.Total += c.Weight
	}
	for _, c := range r.Categories {
		v.Categories = append(v.Categories, rubricCategory{
			Name: c.Name, Phases: strings.Join(c.Phases, ", "), Weight: c.Weight, Share: percent(float64(c.Weight) / float64(v.Total)),
		})
	}
	for _, c := range r.Caps {
		when := fmt.Sprintf("a %s failure of %s", c.Severity, strings.Join(c.Checks, ", "))
		if slices.Contains(c.Checks, "*") {
			when = fmt.Sprintf("a %s failure of any check", c.Severity)
		}
		v.Caps = append(v.Caps, rubricCap{When: when, Max: points(c.Max)})
	}
	for _, g := range r.Grades {
		v.Grades = append(v.Grades, rubricGrade{Grade: g.Grade, From: points(g.From)})
	}
	return v
}
