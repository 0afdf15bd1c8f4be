package pipeline

import (
	"crypto/rand"
	"encoding/json"
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
	ref := c.Registry
	if len(c.Namespaces) > 0 {
		ref += " " + strings.Join(c.sortedNamespaces(), " ")
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
	if err := keepHeld(c, decision, statements); err != nil {
		return nil, err
	}
	public := map[string]bool{}
	for _, id := range decision.Public {
		public[id] = true
	}
	e := &dataset.Edition{
		ID: c.Edition, Registry: c.Registry, Namespaces: c.sortedNamespaces(), Audience: c.Audience,
		Method: Method, Operator: c.Operator, Contact: c.Contact,
	}
	for _, r := range records {
		if public[r.ID] {
			e.Records = append(e.Records, r)
			s.Outcomes[dataset.Outcome(r.Statement)]++
		}
	}
	e.NotInEdition = len(records) - len(e.Records)
	e.Listings = slices.DeleteFunc(listings(slice), func(l dataset.Listing) bool {
		// A listing without its record would name what the edition leaves out.
		return l.EndpointID != "" && !public[l.EndpointID]
	})
	s.InEdition, s.NotIn = len(e.Records), e.NotInEdition
	return e, nil
}

// Held is an endpoint that an edition holds back, and the rules that do. It is
// for the operator alone, who tells the owner.
type Held struct {
	ID       string   `json:"id"`
	Endpoint string   `json:"endpoint"`
	Rules    []string `json:"rules"`
}

func heldFile(data, slice, edition string) string {
	return filepath.Join(data, "private", "held", slice+"-"+edition+".json")
}

// keepHeld writes what is held back into the private folder, which nothing
// publishes from.
func keepHeld(c Config, decision *disclosure.Decision, statements []graph.Statement) error {
	held := []Held{}
	for _, st := range statements {
		t := st.Statement.Predicate.Target
		e, err := target.New(t.Transport, t.Endpoint)
		if err != nil {
			return fmt.Errorf("statement %s: %w", st.Digest, err)
		}
		if rules := decision.Held[e.ID()]; len(rules) > 0 {
			held = append(held, Held{ID: e.ID(), Endpoint: t.Endpoint, Rules: rules})
		}
	}
	raw, err := json.MarshalIndent(held, "", "  ")
	if err != nil {
		return err
	}
	if err := writeFile(heldFile(c.Data, c.slice(), c.Edition), append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("keep what is held back: %w", err)
	}
	return nil
}

// ListHeld reads what the editions of a data directory hold back, by edition.
func ListHeld(data string) (map[string][]Held, error) {
	paths, err := filepath.Glob(heldFile(data, "*", "*"))
	if err != nil {
		return nil, err
	}
	out := map[string][]Held{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read what is held back: %w", err)
		}
		var held []Held
		if err := json.Unmarshal(raw, &held); err != nil {
			return nil, fmt.Errorf("read what is held back: %q: %w: run the edition again to write it anew", path, err)
		}
		_, edition, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".json"), "-")
		out[edition] = append(out[edition], held...)
	}
	return out, nil
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
