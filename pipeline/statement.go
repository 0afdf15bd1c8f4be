package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/engine/check"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// statement turns a report into what is signed: verdicts and digests, and of
// the server's own words its names only.
func statement(r *check.Report, listed []attest.Listing, vantage attest.Vantage, rps float64, evidence attest.Evidence) *attest.Statement {
	sum := r.Endpoint.Digest()
	p := attest.Predicate{
		Target: attest.Target{
			Transport: r.Endpoint.Transport,
			Endpoint:  r.Endpoint.URL,
			ListedAs:  listed,
			Server: attest.Server{
				Name: r.Server.Name, Version: r.Server.Version,
				ProtocolVersions: r.Server.ProtocolVersions, Era: r.Server.Era, Unverified: true,
			},
		},
		Instrument: attest.Instrument(r.Instrument),
		StartedAt:  r.StartedAt.UTC().Format(attest.TimeFormat),
		FinishedAt: r.FinishedAt.UTC().Format(attest.TimeFormat),
		Vantage:    vantage,
		Plan:       attest.Plan{Phases: r.Phases, Policy: "read-only", RPS: rps, Credentials: "none"},
		Score:      r.Score,
		Auth:       attest.Auth{State: r.Auth, Issuers: slices.Clone(r.Issuers)},
		Evidence:   evidence,
	}
	for _, f := range r.Findings {
		p.Verdicts = append(p.Verdicts, verdict(f))
	}
	p.Counts = attest.Count(p.Verdicts)
	if r.Catalogue != "" {
		p.Catalogue = &attest.Catalogue{Digest: r.Catalogue, Resources: r.Resources, Prompts: r.Prompts}
		for _, t := range r.Tools {
			p.Catalogue.Tools = append(p.Catalogue.Tools, attest.Tool{
				Name: t.Name, Definition: t.DefinitionDigest, Description: t.DescriptionDigest,
				Annotations: attest.Annotations(t.Annotations),
			})
		}
	}
	if r.Blocked != nil {
		p.Blocked = &attest.Blocked{Phase: r.Blocked.Phase, Reason: r.Blocked.Reason}
	}
	return &attest.Statement{
		Type:          attest.StatementType,
		Subject:       []attest.Subject{{Name: r.Endpoint.URL, Digest: map[string]string{"sha256": hex.EncodeToString(sum[:])}}},
		PredicateType: attest.PredicateType,
		Predicate:     p,
	}
}

func verdict(f check.Finding) attest.Verdict {
	v := attest.Verdict{ID: f.ID, Phase: f.Phase, Status: f.Status, Severity: f.Severity, Evidence: f.Evidence, Subject: f.Subject}
	if f.Status == rubric.Fail {
		sum := sha256.Sum256([]byte(f.Observed))
		v.Observed = hex.EncodeToString(sum[:])
	}
	return v
}

// sortListings puts listings in the one order that statements carry them in.
func sortListings(listed []attest.Listing) {
	slices.SortFunc(listed, func(a, b attest.Listing) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(a.Version, b.Version)
	})
}
