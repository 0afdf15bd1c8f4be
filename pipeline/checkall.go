package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/attest/sign"
	"github.com/lustrum-mcp/lustrum/attest/store"
	"github.com/lustrum-mcp/lustrum/attest/verify"
	"github.com/lustrum-mcp/lustrum/crawler/mcp"
	"github.com/lustrum-mcp/lustrum/crawler/registry"
	"github.com/lustrum-mcp/lustrum/crawler/wire"
	"github.com/lustrum-mcp/lustrum/engine/check"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
	"github.com/lustrum-mcp/lustrum/graph"
	"golang.org/x/sync/errgroup"
)

// checkAll checks every endpoint that this edition has no statement of, and
// returns the statements of all of them in the order of endpoint ids.
func checkAll(ctx context.Context, c Config, st *store.Store, key *sign.Key, slice *registry.Slice, s *Summary) ([]graph.Statement, error) {
	j, err := openJournal(filepath.Join(c.Data, "runs", c.slice(), c.Edition+".ndjson"))
	if err != nil {
		return nil, err
	}
	defer j.close() //nolint:errcheck // every line is synced when it is written
	jobs := targets(slice)
	s.Endpoints = len(jobs)
	var pending []job
	for _, t := range jobs {
		// A statement that somebody took away is made again.
		digest, done := j.done[t.Endpoint.ID()]
		if done {
			_, _, err := st.Get(digest)
			done = !errors.Is(err, store.ErrNotFound)
		}
		if !done {
			pending = append(pending, t)
		}
	}
	s.Known = len(jobs) - len(pending)
	if err := checkPending(ctx, c, st, key, j, pending, s); err != nil {
		return nil, err
	}
	public, err := verify.ParseKey(key.PublicPEM())
	if err != nil {
		return nil, err
	}
	var out []graph.Statement
	for _, t := range jobs {
		statement, err := signedBy(public, st, j.done[t.Endpoint.ID()], t)
		if err != nil {
			return nil, err
		}
		out = append(out, graph.Statement{Digest: j.done[t.Endpoint.ID()], Statement: statement})
	}
	return out, nil
}

// signedBy reads a statement of an endpoint and holds its bundle against the
// key: nothing is published that a reader could not verify.
func signedBy(key verify.Key, st *store.Store, digest string, t job) (*attest.Statement, error) {
	raw, bundle, err := st.Get(digest)
	if err != nil {
		return nil, err
	}
	path, _, err := st.Path(digest)
	if err != nil {
		return nil, err
	}
	advice := fmt.Sprintf("remove %q and its bundle, and run again to check %s anew", path, t.Endpoint.URL)
	payload, err := verify.Bundle(bundle, key)
	if err != nil {
		return nil, fmt.Errorf("the bundle of statement %s does not verify: %w: %s", digest, err, advice)
	}
	if !bytes.Equal(payload, raw) {
		return nil, fmt.Errorf("the bundle of statement %s is of another statement: %s", digest, advice)
	}
	s, err := attest.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("statement %s: %w: %s", digest, err, advice)
	}
	if p := s.Predicate.Target; p.Endpoint != t.Endpoint.URL || p.Transport != t.Endpoint.Transport {
		return nil, fmt.Errorf("the run's journal says that statement %s is about %s, and it is about %s: delete the journal in the data directory's runs folder to check this edition again", digest, t.Endpoint.URL, p.Endpoint)
	}
	return s, nil
}

func checkPending(ctx context.Context, c Config, st *store.Store, key *sign.Key, j *journal, pending []job, s *Summary) error {
	door, err := c.door()
	if err != nil {
		return err
	}
	judge, err := newJudge(c)
	if err != nil {
		return err
	}
	started := c.Now()
	p := &progress{c: c}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.Concurrency)
	for _, t := range spread(pending) {
		group.Go(func() error {
			release, err := door.Acquire(ctx, t.Endpoint.Host())
			if err != nil {
				return err
			}
			defer release()
			report, err := judge.look(ctx, door, t)
			if err != nil {
				return fmt.Errorf("check %q: %w", t.Endpoint.URL, err)
			}
			mu.Lock()
			defer mu.Unlock()
			digest, err := keep(c, st, key, t, report)
			if err != nil {
				return fmt.Errorf("keep the result of %q: %w", t.Endpoint.URL, err)
			}
			if err := j.add(t.Endpoint.ID(), digest); err != nil {
				return err
			}
			s.Checked++
			p.say(s.Checked, len(pending), started)
			return nil
		})
	}
	return group.Wait()
}

// spread orders jobs so that the endpoints of one host stand as far apart as
// they can: a host is asked one check at a time, and a queue of its endpoints
// would keep every worker waiting for it.
func spread(jobs []job) []job {
	var hosts []string
	byHost := map[string][]job{}
	for _, t := range jobs {
		h := t.Endpoint.Host()
		if byHost[h] == nil {
			hosts = append(hosts, h)
		}
		byHost[h] = append(byHost[h], t)
	}
	out := make([]job, 0, len(jobs))
	for round := 0; len(out) < len(jobs); round++ {
		for _, h := range hosts {
			if round < len(byHost[h]) {
				out = append(out, byHost[h][round])
			}
		}
	}
	return out
}

// judge runs the engine over endpoints with the settings of one run.
type judge struct {
	c      Config
	rubric *rubric.Rubric
}

func newJudge(c Config) (*judge, error) {
	r, err := rubric.Load(Rubric)
	if err != nil {
		return nil, err
	}
	return &judge{c: c, rubric: r}, nil
}

// look checks one endpoint. One that does not answer is looked at a second
// time over new connections before it is called unreachable.
func (u *judge) look(ctx context.Context, door *wire.Door, t job) (*check.Report, error) {
	report, err := u.once(ctx, door, t)
	if err != nil || report.Auth != "unreachable" || ctx.Err() != nil {
		return report, errors.Join(err, ctx.Err())
	}
	report, err = u.once(ctx, door, t)
	return report, errors.Join(err, ctx.Err())
}

func (u *judge) once(ctx context.Context, door *wire.Door, t job) (*check.Report, error) {
	line, err := door.Open(t.Endpoint.URL, u.c.Named)
	if err != nil {
		return nil, err
	}
	defer line.Close()
	return check.Run(ctx, t.Endpoint, check.Options{
		Line:       line,
		Phases:     Phases,
		Named:      u.c.Named,
		Now:        u.c.Now,
		Client:     mcp.Implementation{Name: "lustrum", Version: u.c.Version},
		Instrument: check.Instrument{Name: "lustrum", Version: u.c.Version, Commit: u.c.Commit, Method: Method},
		Rubric:     u.rubric,
		Deadline:   u.c.Deadline,
	}), nil
}

// keep signs a report and stores statement and evidence; the statement's
// digest is returned when both are on disk.
func keep(c Config, st *store.Store, key *sign.Key, t job, report *check.Report) (string, error) {
	var recording bytes.Buffer
	if err := wire.WriteRecording(&recording, report.Exchanges); err != nil {
		return "", err
	}
	digest, size, err := st.PutEvidence(&recording)
	if err != nil {
		return "", err
	}
	vantage := attest.Vantage{Label: c.Operator, UserAgent: c.userAgent()}
	raw, err := statement(report, t.listed, vantage, c.PerHost, attest.Evidence{SHA256: digest, Size: size}).Encode()
	if err != nil {
		return "", err
	}
	bundle, err := key.Sign(raw)
	if err != nil {
		return "", err
	}
	id, _, err := st.Put(raw, bundle)
	return id, err
}
