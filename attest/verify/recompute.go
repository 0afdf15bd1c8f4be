package verify

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// recompute derives counts and score from the verdicts, under the rubric that
// the statement names, and holds them against what it claims.
func (r *Result) recompute(p *attest.Predicate) {
	var err error
	if want := attest.Count(p.Verdicts); p.Counts != want {
		err = fmt.Errorf("predicate.counts is %+v, but the verdicts give %+v", p.Counts, want)
	}
	r.judge(Counts, err, fmt.Sprintf("%d verdicts", len(p.Verdicts)))

	rub, err := rubric.Load(p.Instrument.Rubric)
	if err != nil {
		r.scoreFails(fmt.Errorf("cannot be recomputed: %w; verify with a version that knows it", err))
		return
	}
	verdicts := make([]rubric.Verdict, len(p.Verdicts))
	for i, v := range p.Verdicts {
		verdicts[i] = rubric.Verdict{ID: v.ID, Phase: v.Phase, Status: v.Status, Severity: v.Severity}
	}
	want, got := rub.Score(verdicts), p.Score
	switch {
	case want == nil && got == nil:
		for _, name := range []string{Score, Categories, Grade, Caps, Coverage, Bounds} {
			r.add(name, Pass, "nothing was assessed, so there is no score")
		}
	case want == nil:
		r.scoreFails(errors.New("predicate.score is given, but the verdicts assess nothing"))
	case got == nil:
		r.scoreFails(errors.New("predicate.score is missing, but the verdicts give one"))
	default:
		r.compare(got, want)
	}
}

func (r *Result) scoreFails(err error) {
	for _, name := range []string{Score, Categories, Grade, Caps, Coverage, Bounds} {
		r.add(name, Fail, err.Error())
	}
}

func (r *Result) compare(got, want *rubric.Score) {
	r.judge(Score, equal("total", number(got.Total), number(want.Total)), number(got.Total)+" under "+want.Rubric)
	r.judge(Categories, equal("by_category", categories(got), categories(want)), "")
	r.judge(Grade, equal("grade", got.Grade, want.Grade), got.Grade)
	var caps error
	if !slices.Equal(got.Caps, want.Caps) {
		caps = fmt.Errorf("predicate.score.caps is %q, but the verdicts give %q", got.Caps, want.Caps)
	}
	r.judge(Caps, caps, "")
	r.judge(Coverage, equal("coverage", number(got.Coverage), number(want.Coverage)), number(got.Coverage))
	r.judge(Bounds, equal("bounds", bounds(got), bounds(want)), bounds(got))
}

func equal(name, got, want string) error {
	if got != want {
		return fmt.Errorf("predicate.score.%s is %s, but the verdicts give %s", name, got, want)
	}
	return nil
}

// number writes a float so that equal text is an equal number.
func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func bounds(s *rubric.Score) string { return number(s.Bounds[0]) + " to " + number(s.Bounds[1]) }

func categories(s *rubric.Score) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(s.ByCategory)) {
		value := "not assessed"
		if v := s.ByCategory[name]; v != nil {
			value = number(*v)
		}
		out = append(out, fmt.Sprintf("%q: %s", name, value))
	}
	return fmt.Sprint(out)
}
