package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/lustrum-mcp/lustrum/crawler/mcp"
	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/crawler/wire"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// Values of Report.Auth.
const (
	AuthOpen        = "open"        // answers without credentials
	AuthProtected   = "protected"   // 401 or 403, no OAuth metadata found
	AuthOAuth       = "oauth"       // 401 or 403, with protected-resource metadata
	AuthUnreachable = "unreachable" // no answer that tells
)

// run is the state of one check of one endpoint.
type run struct {
	opts     Options
	endpoint target.Endpoint
	url      *url.URL
	line     Line
	report   *Report

	conn   *wire.Connection
	client *mcp.Client
	probed *mcp.Probe
	first  *mcp.Probe // as Streamable HTTP, when the endpoint turned out to be HTTP+SSE
}

// phases maps each phase to its code, in the order of running.
var phases = []struct {
	name string
	run  func(*run, context.Context)
}{
	{PhaseNet, (*run).phaseNet},
	{PhaseDiscovery, (*run).phaseDiscovery},
	{PhaseHandshake, (*run).phaseHandshake},
	{PhaseCatalog, (*run).phaseCatalog},
}

// Run checks one endpoint. It always returns a report: what could not be done
// is in it as a skip, with the reason. The context ends the run early.
func Run(ctx context.Context, endpoint target.Endpoint, opts Options) *Report {
	r := &run{endpoint: endpoint, report: &Report{Endpoint: endpoint, Auth: AuthUnreachable}}
	if err := r.prepare(opts); err != nil {
		r.report.Blocked = &Blocked{Phase: PhaseNet, Reason: Quote(err.Error())}
		r.skipMissing("the run could not start: "+err.Error(), AnonymousPhases)
		r.finish()
		return r.report
	}
	r.report.StartedAt = r.opts.Now().UTC()
	ctx, cancel := context.WithTimeout(ctx, r.opts.Deadline)
	defer cancel()
	for _, p := range phases {
		if !slices.Contains(r.opts.Phases, p.name) {
			continue
		}
		if r.report.Blocked != nil {
			break
		}
		if err := ctx.Err(); err != nil {
			r.block(p.name, ended(err))
			break
		}
		r.report.Phases = append(r.report.Phases, p.name)
		p.run(r, ctx)
	}
	r.report.FinishedAt = r.opts.Now().UTC()
	r.finish()
	return r.report
}

func (r *run) prepare(opts Options) error {
	opts, err := opts.withDefaults()
	r.opts, r.line = opts, opts.Line
	r.report.Instrument = opts.Instrument
	if err != nil {
		return err
	}
	if r.line == nil {
		return errors.New("no line to the endpoint was given")
	}
	if len(r.opts.Phases) == 0 {
		r.opts.Phases = AnonymousPhases
	}
	for _, p := range r.opts.Phases {
		if !slices.Contains(AnonymousPhases, p) {
			return fmt.Errorf("phase %q is not one of %s", p, strings.Join(AnonymousPhases, ", "))
		}
	}
	r.url, err = url.Parse(r.endpoint.URL)
	if err != nil {
		return fmt.Errorf("endpoint %q: %w", r.endpoint.URL, err)
	}
	return nil
}

func ended(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "the deadline of the run passed"
	}
	return "the run was stopped"
}

// block records that no later phase can run.
func (r *run) block(phase, reason string) {
	if r.report.Blocked == nil {
		r.report.Blocked = &Blocked{Phase: phase, Reason: Quote(reason)}
	}
}

// finish makes the report whole: every check of the catalogue has a finding,
// in the catalogue's order, and the score is what the findings give.
func (r *run) finish() {
	rep := r.report
	if b := rep.Blocked; b != nil {
		r.skipMissing(fmt.Sprintf("not run: %s was blocked: %s", b.Phase, b.Reason), r.opts.Phases)
	}
	r.skipMissing("the phase was left out of this run", nil)
	order := map[string]int{}
	for i, m := range builtin().Checks {
		order[m.ID] = i
	}
	slices.SortStableFunc(rep.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(order[a.ID], order[b.ID]), cmp.Compare(a.Subject, b.Subject))
	})
	if r.line != nil {
		rep.Exchanges = r.line.Exchanges()
		rep.Hosts = r.line.Blocked()
		slices.Sort(rep.Hosts)
	}
	if r.opts.Rubric != nil {
		rep.Score = r.opts.Rubric.Score(rep.Verdicts())
	}
}

// skipMissing adds a skip for each check that has no finding yet and whose
// phase is among the given ones; nil stands for all.
func (r *run) skipMissing(reason string, among []string) {
	have := map[string]bool{}
	for _, f := range r.report.Findings {
		have[f.ID] = true
	}
	for _, m := range builtin().Checks {
		phase := m.Phase
		if phase == PhaseAuth {
			phase = PhaseCatalog // where it is seen
		}
		if !have[m.ID] && (among == nil || slices.Contains(among, phase)) {
			r.skip(m.ID, reason)
		}
	}
}

// Verdicts are the findings as a rubric counts them. A check on trial is left
// out.
func (rep *Report) Verdicts() []rubric.Verdict {
	var list []rubric.Verdict
	for _, f := range rep.Findings {
		if m, ok := Lookup(f.ID); ok && m.Trial {
			continue
		}
		list = append(list, rubric.Verdict{ID: f.ID, Phase: f.Phase, Status: f.Status, Severity: f.Severity})
	}
	return list
}

// Counts is how many findings have each status.
func (rep *Report) Counts() map[Status]int {
	n := map[Status]int{}
	for _, s := range allStatuses {
		n[s] = 0
	}
	for _, f := range rep.Findings {
		n[f.Status]++
	}
	return n
}
