package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// ClockSkew is how far ahead of the verifier's clock a statement may be before
// it counts as coming from the future.
const ClockSkew = time.Minute

// Options are what the caller trusts and asks.
type Options struct {
	Keys []Key // any of them may have signed

	// AcceptUnsigned lets a result be verified although the signature was not
	// asked for, because Keys is empty. It never excuses a bad envelope.
	AcceptUnsigned bool

	Now time.Time // the verifier's clock; without it the times are not asked and nothing is verified

	// Gates; the zero value does not ask.
	Endpoint string        // the statement is about this URL, in any spelling
	MaxAge   time.Duration // since finished_at
	MinScore float64       // of 100
	Require  []string      // ids of checks that passed

	// Statements is a folder that holds statements/ when an edition does not
	// hold them itself.
	Statements string
}

// Input is one statement to judge. Without Statement the bundle's payload is
// judged; without Bundle only content can be.
type Input struct {
	Statement []byte
	Bundle    []byte
	Options
}

// Statement judges one statement by every criterion, in order, and does not
// stop at the first that fails.
func Statement(in Input) *Result {
	r := &Result{}
	raw := r.signed(in)
	if len(raw) > 0 {
		r.Digest = attest.Digest(raw)
	}
	r.types(raw, attest.PredicateType)

	s, err := attest.Parse(raw)
	if err != nil {
		r.unread(raw, err)
		return r.finish(in.AcceptUnsigned)
	}
	r.Statement = s
	r.judge(Subject, s.MatchSubject(), s.Predicate.Target.Endpoint)
	r.judge(Fields, s.ValidatePredicate(), "")
	r.recompute(&s.Predicate)
	r.times(s.Predicate.StartedAt, s.Predicate.FinishedAt, in.Now)
	r.gates(s, in.Options)
	return r.finish(in.AcceptUnsigned)
}

// signed judges the signature and returns the bytes to judge further: the
// statement's, or the payload when there is no statement beside the bundle.
func (r *Result) signed(in Input) []byte {
	if in.Bundle == nil {
		if len(in.Keys) > 0 {
			r.add(Signature, Fail, "no bundle is there, so nothing was signed by a key given")
		} else {
			r.add(Signature, NotAsked, "no bundle is there and no key was given")
		}
		return in.Statement
	}
	payload, err := Bundle(in.Bundle, in.Keys...)
	switch {
	case errors.Is(err, ErrNoKey):
		payload, _ = Payload(in.Bundle)
		r.add(Signature, NotAsked, "no key was given: name the signer's public key to have it verified")
	case err != nil:
		payload, _ = Payload(in.Bundle)
		r.add(Signature, Fail, err.Error())
	default:
		b, _, _ := open(in.Bundle)
		r.add(Signature, Pass, "by the key "+b.GetVerificationMaterial().GetPublicKey().GetHint())
	}
	if in.Statement == nil {
		return payload
	}
	var differs error
	if !bytes.Equal(in.Statement, payload) {
		differs = fmt.Errorf("the statement is not the one in the bundle: %s", where(in.Statement, payload))
	}
	r.judge(SameContent, differs, "")
	return in.Statement
}

func where(a, b []byte) string {
	if at := attest.Difference(a, b); at != "" {
		return at + " differs"
	}
	return "the same content in other bytes"
}

// types judges the two types on a lenient reading, so that a statement of
// another kind is called that, and not one with unknown fields.
func (r *Result) types(raw []byte, want string) {
	var head struct {
		Type          string `json:"_type"`
		PredicateType string `json:"predicateType"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		err = fmt.Errorf("not a JSON statement: %w", err)
		r.judge(StatementType, err, "")
		r.judge(PredicateType, err, "")
		return
	}
	r.judge(StatementType, same("_type", head.Type, attest.StatementType), "")
	r.judge(PredicateType, same("predicateType", head.PredicateType, want), "")
}

func same(name, got, want string) error {
	if got != want {
		return fmt.Errorf("%s is %q, not %q", name, got, want)
	}
	return nil
}

// unread fails the form, and leaves open what cannot be judged without it. The
// subject is still looked at, leniently: its criterion stands before the form.
func (r *Result) unread(raw []byte, cause error) {
	var lenient attest.Statement
	if err := json.Unmarshal(raw, &lenient); err != nil {
		r.add(Subject, NotAsked, "the statement could not be read")
	} else {
		r.judge(Subject, lenient.MatchSubject(), lenient.Predicate.Target.Endpoint)
	}
	r.add(Fields, Fail, cause.Error())
	for _, name := range []string{Counts, Score, Categories, Grade, Caps, Coverage, Bounds, Times} {
		r.add(name, NotAsked, "the statement could not be read")
	}
}

// times judges order and future.
func (r *Result) times(started, finished string, now time.Time) {
	start, err := attest.ParseTime(started)
	if err == nil {
		_, err = attest.ParseTime(finished)
	}
	if err != nil {
		r.add(Times, Fail, err.Error())
		return
	}
	end, _ := attest.ParseTime(finished)
	switch {
	case end.Before(start):
		r.add(Times, Fail, fmt.Sprintf("finished_at %s is before started_at %s", finished, started))
	case now.IsZero():
		r.add(Times, NotAsked, "no clock was given to hold them against")
	case end.After(now.Add(ClockSkew)):
		r.add(Times, Fail, fmt.Sprintf("finished_at %s is in the future: it is %s now", finished, attest.Time(now)))
	default:
		r.add(Times, Pass, started+" to "+finished)
	}
}

// gates judges what the caller asked on top.
func (r *Result) gates(s *attest.Statement, o Options) {
	p := &s.Predicate
	if o.Endpoint != "" {
		want, err := target.Canonical(o.Endpoint)
		if err == nil && want != p.Target.Endpoint {
			err = fmt.Errorf("the statement is about %q, not %q", p.Target.Endpoint, want)
		}
		r.judge(Endpoint, err, want)
	}
	if o.MaxAge > 0 {
		end, err := attest.ParseTime(p.FinishedAt)
		if err == nil && o.Now.Sub(end) > o.MaxAge {
			err = fmt.Errorf("it is %s old, over the bound of %s", o.Now.Sub(end).Round(time.Second), o.MaxAge)
		}
		r.judge(MaxAge, err, "")
	}
	if o.MinScore > 0 {
		var err error
		if p.Score == nil {
			err = errors.New("nothing was assessed, so there is no score")
		} else if p.Score.Total < o.MinScore {
			err = fmt.Errorf("the score is %.1f, under %.1f", p.Score.Total, o.MinScore)
		}
		r.judge(MinScore, err, "")
	}
	for _, id := range o.Require {
		r.judge(Required, required(p.Verdicts, id), id)
	}
}

// required demands at least one pass of a check and nothing worse.
func required(verdicts []attest.Verdict, id string) error {
	passed := false
	for _, v := range verdicts {
		switch {
		case v.ID != id:
		case v.Status == rubric.Pass:
			passed = true
		case v.Status == rubric.Fail || v.Status == rubric.Warn:
			return fmt.Errorf("%s: %s", id, v.Status)
		}
	}
	if !passed {
		return fmt.Errorf("%s: not passed, because it was not assessed", id)
	}
	return nil
}
