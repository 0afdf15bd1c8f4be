package rubric

import (
	"fmt"
	"slices"
	"strings"
)

// Score judges verdicts. It is nil when no category was assessed.
//
// A category is assessed when at least one of its checks passed, warned or
// failed. Each check is counted once, at its worst status. A verdict of a
// phase that the rubric does not name, or of a check on trial, does not count;
// a fail without a known severity counts as critical. The order of verdicts
// does not matter.
func (r *Rubric) Score(verdicts []Verdict) *Score {
	checks := r.worst(verdicts)
	score := &Score{
		Rubric:     r.ID,
		Caps:       []string{},
		ByCategory: make(map[string]*float64, len(r.Categories)),
	}
	var sum, assessed, weights int64 // sum of weight times points
	var missing []Category
	for _, c := range r.Categories {
		weights += int64(c.Weight)
		points, ok := r.category(checks[c.Name])
		if !ok {
			score.ByCategory[c.Name] = nil
			missing = append(missing, c)
			continue
		}
		f := float64(points)
		score.ByCategory[c.Name] = &f
		sum += int64(c.Weight) * points
		assessed += int64(c.Weight)
	}
	if assessed == 0 {
		return nil
	}
	limit := int64(1000)
	for _, c := range r.Caps {
		hit := capping(c, checks)
		if len(hit) == 0 {
			continue
		}
		score.Caps = append(score.Caps, fmt.Sprintf("capped at %.1f by a %s finding: %s", c.Max, c.Severity, strings.Join(hit, ", ")))
		limit = min(limit, mustTenths(c.Max))
	}
	total := min(ratioTenths(sum, assessed), limit)
	score.Total = float64(total) / 10
	score.Grade = r.grade(total)
	score.Coverage = float64(ratioTenths(assessed*100, weights)) / 10
	open := weights - assessed
	score.Bounds[0] = float64(min(ratioTenths(sum, weights), limit, r.reachable(missing))) / 10
	score.Bounds[1] = float64(min(ratioTenths(sum+100*open, weights), limit)) / 10
	return score
}

// outcome is the worst that was found of one check.
type outcome struct {
	status   Status
	severity Severity
}

// worst groups verdicts by category and check.
func (r *Rubric) worst(verdicts []Verdict) map[string]map[string]outcome {
	byPhase := map[string]string{}
	for _, c := range r.Categories {
		for _, p := range c.Phases {
			byPhase[p] = c.Name
		}
	}
	all := map[string]map[string]outcome{}
	for _, v := range verdicts {
		category := byPhase[v.Phase]
		if category == "" || matchesAny(r.Trial, v.ID) {
			continue
		}
		o := outcome{v.Status, v.Severity}
		switch v.Status {
		case Pass, Warn:
			o.severity = ""
		case Fail:
			if deduction(r.Deductions, Fail, o.severity) < 0 {
				o.severity = Critical
			}
		default:
			continue
		}
		if all[category] == nil {
			all[category] = map[string]outcome{}
		}
		if old, ok := all[category][v.ID]; !ok || rank(o) > rank(old) {
			all[category][v.ID] = o
		}
	}
	return all
}

func rank(o outcome) int {
	switch {
	case o.status == Pass:
		return 0
	case o.status == Warn:
		return 1
	case o.severity == Minor:
		return 2
	case o.severity == Major:
		return 3
	}
	return 4
}

// category returns the points of a category, 0 to 100, and whether it was
// assessed at all.
func (r *Rubric) category(checks map[string]outcome) (int64, bool) {
	points := int64(100)
	for _, o := range checks {
		points -= int64(deduction(r.Deductions, o.status, o.severity))
	}
	return max(points, 0), len(checks) > 0
}

// deduction is what an outcome costs, -1 for an unknown severity.
func deduction(d Deductions, status Status, severity Severity) int {
	if status == Warn {
		return d.Warn
	}
	if status != Fail {
		return 0
	}
	switch severity {
	case Critical:
		return d.Critical
	case Major:
		return d.Major
	case Minor:
		return d.Minor
	}
	return -1
}

// capping lists the checks that bring a cap about, in alphabetical order.
func capping(c Cap, checks map[string]map[string]outcome) []string {
	var hit []string
	for _, category := range checks {
		for id, o := range category {
			if o.status == Fail && o.severity == c.Severity && matchesAny(c.Checks, id) {
				hit = append(hit, id)
			}
		}
	}
	slices.Sort(hit)
	return hit
}

// reachable is the lowest cap, in tenths, that a category nobody looked into
// could still bring about: the lower bound has to allow for it, or it would
// promise more than is known. A pattern belongs to the phase that its id
// begins with.
func (r *Rubric) reachable(missing []Category) int64 {
	lowest := int64(1000)
	for _, category := range missing {
		for _, c := range r.Caps {
			for _, pattern := range c.Checks {
				phase, _, _ := strings.Cut(pattern, ".")
				if phase == "*" || slices.Contains(category.Phases, phase) {
					lowest = min(lowest, mustTenths(c.Max))
				}
			}
		}
	}
	return lowest
}

func (r *Rubric) grade(total int64) string {
	for _, g := range r.Grades {
		if total >= mustTenths(g.From) {
			return g.Grade
		}
	}
	return r.Grades[len(r.Grades)-1].Grade
}

func matchesAny(patterns []string, id string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Matches(p, id) })
}

// Matches reports whether a check id matches a pattern: an id, a prefix that
// ends in ".*", or "*" for every id.
func Matches(pattern, id string) bool {
	if pattern == "*" {
		return true
	}
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok && strings.HasSuffix(prefix, ".") {
		return strings.HasPrefix(id, prefix)
	}
	return pattern == id
}

// ratioTenths is a/b in tenths, halves up.
func ratioTenths(a, b int64) int64 { return (20*a + b) / (2 * b) }

// mustTenths reads a number that validate has looked at.
func mustTenths(x float64) int64 {
	t, _ := tenths(x)
	return t
}
