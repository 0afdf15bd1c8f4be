package pipeline

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lustrum-mcp/lustrum/crawler/registry"
	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/dataset"
	"github.com/lustrum-mcp/lustrum/graph"
	"github.com/lustrum-mcp/lustrum/policies/disclosure"
	"golang.org/x/net/publicsuffix"
)

// source is the listing as the graph takes it.
func source(c Config, slice *registry.Slice) graph.Source {
	names := slices.Clone(c.Namespaces)
	slices.Sort(names)
	ref := c.Registry
	if len(names) > 0 {
		ref += " " + strings.Join(names, " ")
	}
	src := graph.Source{Kind: "registry", Ref: ref, Complete: slice.Complete}
	entries := byName(slice)
	for _, r := range slice.Remotes {
		e := entries[r.Name]
		l := graph.Listing{Name: r.Name, Version: r.Version, Namespace: e.Namespace(), Status: e.Status, Repository: e.Repository}
		if r.Endpoint.URL != "" {
			l.Transport, l.Endpoint = r.Endpoint.Transport, r.Endpoint.URL
		}
		src.Listings = append(src.Listings, l)
	}
	return src
}

// decide turns the run's statements into an edition: what may be public, and
// one number for the rest.
func decide(c Config, slice *registry.Slice, statements []graph.Statement, s *Summary) (*dataset.Edition, error) {
	seed, err := secretSeed(filepath.Join(c.Data, "private", "seed"))
	if err != nil {
		return nil, err
	}
	var records []dataset.Record
	var candidates []disclosure.Record
	for _, st := range statements {
		t := st.Statement.Predicate.Target
		e, err := target.New(t.Transport, t.Endpoint)
		if err != nil {
			return nil, fmt.Errorf("statement %s: %w", st.Digest, err)
		}
		records = append(records, dataset.Record{
			ID: e.ID(), Host: e.Host(), Operator: operator(e.Host()), Digest: st.Digest, Statement: st.Statement,
		})
		candidates = append(candidates, disclosure.Record{ID: e.ID(), Statement: st.Statement})
	}
	decision, err := disclosure.Decide(candidates, seed, c.Audience)
	if err != nil {
		return nil, err
	}
	s.Warnings = append(s.Warnings, decision.Warnings...)
	public := map[string]bool{}
	for _, id := range decision.Public {
		public[id] = true
	}
	e := &dataset.Edition{
		ID: c.Edition, Registry: c.Registry, Namespaces: slices.Sorted(slices.Values(c.Namespaces)), Audience: c.Audience,
		Method: Method, Operator: c.Operator, Contact: c.Contact,
	}
	for _, r := range records {
		if public[r.ID] {
			e.Records = append(e.Records, r)
		}
	}
	e.NotInEdition = len(records) - len(e.Records)
	e.Listings = listings(slice)
	s.InEdition, s.NotIn = len(e.Records), e.NotInEdition
	return e, nil
}

// byName finds the chosen entry of each name.
func byName(slice *registry.Slice) map[string]registry.Entry {
	out := map[string]registry.Entry{}
	for _, e := range slice.Entries {
		out[e.Name] = e
	}
	return out
}

// listings are the rows of the listing: the remotes of chosen entries, and the
// entries that were left out before their remotes were looked at.
func listings(slice *registry.Slice) []dataset.Listing {
	entries := byName(slice)
	var out []dataset.Listing
	for _, r := range slice.Remotes {
		e := entries[r.Name]
		l := dataset.Listing{
			Name: r.Name, Version: r.Version, Namespace: e.Namespace(), Status: e.Status, Transport: r.Transport, URL: r.URL,
			Reason: string(r.Reason), Repository: e.Repository, Title: e.Title, Description: e.Description,
		}
		if r.Reason == registry.Duplicate {
			// It lists an endpoint that is in the census, by way of another name.
			l.Reason = ""
		}
		if r.Endpoint.URL != "" {
			l.EndpointID = r.Endpoint.ID()
		}
		out = append(out, l)
	}
	for _, l := range slice.LeftOut {
		if e, chosen := entries[l.Name]; l.Name == "" || (chosen && e.Version == l.Version) {
			continue
		}
		ns, _, _ := strings.Cut(l.Name, "/")
		out = append(out, dataset.Listing{Name: l.Name, Version: l.Version, Namespace: ns, Status: status(l.Reason), Reason: string(l.Reason)})
	}
	slices.SortFunc(out, func(a, b dataset.Listing) int {
		return strings.Compare(a.Name+"\x00"+a.Version+"\x00"+a.URL+"\x00"+a.Transport, b.Name+"\x00"+b.Version+"\x00"+b.URL+"\x00"+b.Transport)
	})
	return out
}

// status is what a reason says of an entry's status in the registry.
func status(r registry.Reason) string {
	switch r {
	case registry.Deleted, registry.Deprecated:
		return string(r)
	case registry.OlderVersion:
		return "active"
	}
	return ""
}

// operator is the registrable domain of a host (public suffix list with its
// private section), the host itself when it has none.
func operator(host string) string {
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil || net.ParseIP(host) != nil {
		return host
	}
	return domain
}

// secretSeed draws the cover. It is made once and never leaves the data
// directory: who knew it could tell cover from what is held back.
func secretSeed(path string) ([]byte, error) {
	seed, err := os.ReadFile(path)
	if err == nil {
		if len(seed) != 32 {
			return nil, fmt.Errorf("the secret seed %q is damaged: restore it from a backup, or delete it to draw a new cover", path)
		}
		return seed, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the secret seed: %w", err)
	}
	seed = make([]byte, 32)
	rand.Read(seed) //nolint:errcheck // never fails
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the private directory: %w", err)
	}
	return seed, writeFile(path, seed, 0o600)
}
