package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/attest/sign"
	"github.com/lustrum-mcp/lustrum/attest/store"
	"github.com/lustrum-mcp/lustrum/crawler/registry"
	"github.com/lustrum-mcp/lustrum/graph"
)

// Summary is what a run did, for the line and the table at its end.
type Summary struct {
	Edition    string
	Seen       int                     // entries on the registry's pages
	Entries    int                     // chosen ones of the slice: one version of each name
	Endpoints  int                     // distinct endpoints that may be checked
	LeftOut    map[registry.Reason]int // entries left out, by reason
	Notes      []string                // about the listing, for the operator
	Checked    int                     // endpoints checked by this run
	Known      int                     // endpoints that this edition had checked before
	Outcomes   map[string]int          // endpoints by how they answered
	Graph      graph.Applied
	InEdition  int // public records
	NotIn      int // endpoints of the slice that are not in the edition
	Violations int
	Release    string // path of the published folder
	Changed    bool   // false: the published bytes were these already
	Warnings   []string
}

// Run takes one census. It returns an error when it could not finish; what it
// had done by then is kept, and the next run goes on from there.
func Run(ctx context.Context, c Config) (*Summary, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if c.Data == "" || c.Out == "" {
		return nil, errors.New("a run needs a data directory and an output folder: give --data DIR and --out DIR")
	}
	release, err := lock(c.Data)
	if err != nil {
		return nil, err
	}
	defer release()
	releaseOut, err := prepareOut(c.Out)
	if err != nil {
		return nil, err
	}
	defer releaseOut()
	st, err := store.Open(c.Data)
	if err != nil {
		return nil, err
	}
	key, err := signingKey(c.Data, st)
	if err != nil {
		return nil, err
	}
	if err := refuseOther(c, key); err != nil {
		return nil, err
	}
	slice, err := list(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := keepPages(c.Data, slice); err != nil {
		return nil, err
	}
	for _, t := range targets(slice) {
		if !c.staysHome(t.Endpoint.URL) && c.Contact == "" {
			return nil, fmt.Errorf("%q is not on this machine and this run names no contact: give --contact URL-or-address, which goes into the User-Agent and onto the site", t.Endpoint.URL)
		}
	}

	s := &Summary{Edition: c.Edition, Seen: slice.Seen, Entries: entriesOf(slice), LeftOut: slice.Skipped, Notes: slice.Notes, Outcomes: map[string]int{}}
	statements, err := checkAll(ctx, c, st, key, slice, s)
	if err != nil {
		return s, err
	}
	return s, conclude(ctx, c, st, key, slice, statements, s)
}

// signingKey loads the key of a data directory, and makes it on first use. A
// directory that has statements had a key: to make another one quietly would
// leave them signed by nobody.
func signingKey(data string, st *store.Store) (*sign.Key, error) {
	dir := filepath.Join(data, "keys")
	if _, err := os.Stat(filepath.Join(dir, sign.KeyFile)); errors.Is(err, fs.ErrNotExist) {
		digests, err := st.Digests()
		if err != nil {
			return nil, err
		}
		if len(digests) > 0 {
			return nil, fmt.Errorf("the signing key %q is gone, and %d statements are signed with it: restore it from a backup, or start anew with another --data", filepath.Join(dir, sign.KeyFile), len(digests))
		}
	}
	return sign.LoadOrMake(dir)
}

// conclude is the part of a run after the last check: graph, decision,
// publication.
func conclude(ctx context.Context, c Config, st *store.Store, key *sign.Key, slice *registry.Slice, statements []graph.Statement, s *Summary) error {
	src := source(c, slice)
	if err := keepSource(c, src); err != nil {
		return err
	}
	var err error
	if s.Graph, err = updateGraph(ctx, c.Data, st, statements, src); err != nil {
		return err
	}
	edition, err := decide(c, slice, statements, s)
	if err != nil {
		return err
	}
	return publish(ctx, c, st, key, edition, s)
}

// List reads the slice that a run would check, and contacts no endpoint.
func List(ctx context.Context, c Config) (*Summary, *registry.Slice, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, nil, err
	}
	slice, err := list(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	return &Summary{
		Edition: c.Edition, Seen: slice.Seen, Entries: entriesOf(slice), Endpoints: len(targets(slice)), LeftOut: slice.Skipped, Notes: slice.Notes,
	}, slice, nil
}

func list(ctx context.Context, c Config) (*registry.Slice, error) {
	door, err := c.door()
	if err != nil {
		return nil, err
	}
	line, err := door.Open(c.Registry, true)
	if err != nil {
		return nil, fmt.Errorf("registry %q: %w", c.Registry, err)
	}
	defer line.Close()
	slice, err := registry.List(ctx, registry.Options{
		BaseURL: c.Registry, Namespaces: c.Namespaces, All: c.All, HTTP: line,
		Named: func(string) bool { return c.Named },
	})
	if err != nil {
		return nil, err
	}
	return slice, nil
}

// entriesOf counts the entries of a slice, however they ended.
func entriesOf(slice *registry.Slice) int {
	n := slice.Measured
	for reason, count := range slice.Skipped {
		if reason != registry.OtherNamespace {
			n += count
		}
	}
	return n
}

// job is one endpoint to check and everything that lists it.
type job struct {
	registry.Remote
	listed []attest.Listing
}

// targets are the distinct endpoints of a slice in the order of their ids.
func targets(slice *registry.Slice) []job {
	byID := map[string]*job{}
	for _, r := range slice.Remotes {
		if r.Endpoint.URL == "" {
			continue
		}
		id := r.Endpoint.ID()
		if byID[id] == nil {
			byID[id] = &job{Remote: r}
		}
		byID[id].listed = append(byID[id].listed, attest.Listing{Registry: slice.Base, Name: r.Name, Version: r.Version})
	}
	jobs := make([]job, 0, len(byID))
	for _, j := range byID {
		sortListings(j.listed)
		jobs = append(jobs, *j)
	}
	slices.SortFunc(jobs, func(a, b job) int {
		if a.Endpoint.ID() < b.Endpoint.ID() {
			return -1
		}
		return 1
	})
	return jobs
}
