package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// Doer sends a request; *http.Client is one.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Defaults of Options. The official registry held about 21,000 entries in
// April 2026 and serves at most 100 a page.
const (
	DefaultPageLimit    = 100
	DefaultMaxPages     = 5_000
	DefaultMaxEntries   = 500_000
	DefaultMaxPageBytes = 16 << 20
	DefaultMaxBytes     = 1 << 30 // of all pages together
	DefaultTimeout      = 30 * time.Second
)

// Options say what to list. Zero bounds are the defaults.
type Options struct {
	BaseURL    string   // of the registry, with or without the API's route
	Namespaces []string // as ParseNamespace reads them
	All        bool     // the whole registry, in place of Namespaces
	HTTP       Doer

	PageLimit    int           // entries asked for on a page, 1-100
	MaxPages     int           // requests that may be answered
	MaxEntries   int           // entries that may be read
	MaxPageBytes int64         // of one page
	MaxBytes     int64         // of all pages together
	Timeout      time.Duration // of one request
	UpdatedSince time.Time     // only entries updated later, when not zero

	// OptedOut reports whether the owner of a server asked to be left alone.
	// It is asked for each remote before anything else is, with the URL in
	// canonical form, or as listed where it has none; for an entry without
	// remotes the URL is empty.
	OptedOut func(name, url string) bool

	// Named reports whether the operator named a host, so that it may be local.
	Named func(host string) bool

	// SkipNeedsHeaders leaves out remotes whose listing requires headers. By
	// default they are targets like others, measured without the headers:
	// what a protected server shows to anyone is part of the census.
	SkipNeedsHeaders bool
}

// ErrCursor is wrapped by the error of a walk that a repeated cursor ended.
var ErrCursor = errors.New("cursor does not advance")

// List walks a registry and returns what it lists under the namespaces. An
// error once the walk has begun comes with the Slice of what was gathered.
func List(ctx context.Context, o Options) (*Slice, error) {
	w, err := newWalk(o)
	if err != nil {
		return nil, err
	}
	// The registry's search is a substring match of names without regard to
	// case: it saves pages, and what it lets through is filtered here.
	searches := []string{""}
	if !o.All {
		searches = nil
		for _, ns := range w.namespaces {
			searches = append(searches, ns.String())
		}
	}
	for i, search := range searches {
		if err = w.search(ctx, i, search); err != nil {
			err = fmt.Errorf("registry %s: %w", w.slice.Base, err)
			break
		}
	}
	w.slice.Complete = err == nil
	w.choose()
	return w.slice, err
}

// walk is the state of one List.
type walk struct {
	Options
	namespaces []Namespace
	slice      *Slice
	bytes      int64
	seen       map[string]seenAt // by name and version
	entries    []Entry           // inside the namespaces
	inCase     map[string]int    // entries by namespaces that differ in case only
}

type seenAt struct {
	search int // in which search it was first seen
	entry  int // index into walk.entries, -1 when outside
}

func newWalk(o Options) (*walk, error) {
	w := &walk{
		Options: o, seen: map[string]seenAt{}, inCase: map[string]int{},
		slice: &Slice{Skipped: map[Reason]int{}, SkippedRemotes: map[Reason]int{}},
	}
	if o.HTTP == nil {
		return nil, errors.New("registry: no HTTP client was given")
	}
	if o.All == (len(o.Namespaces) > 0) {
		return nil, errors.New("registry: give one or more namespaces, or ask for all, not both")
	}
	for _, text := range o.Namespaces {
		ns, err := ParseNamespace(text)
		if err != nil {
			return nil, err
		}
		w.namespaces = append(w.namespaces, ns)
	}
	if o.PageLimit < 0 || o.PageLimit > 100 {
		return nil, fmt.Errorf("registry: a page limit of %d is not between 1 and 100", o.PageLimit)
	}
	setDefault(&w.PageLimit, DefaultPageLimit)
	setDefault(&w.MaxPages, DefaultMaxPages)
	setDefault(&w.MaxEntries, DefaultMaxEntries)
	setDefault(&w.MaxPageBytes, DefaultMaxPageBytes)
	setDefault(&w.MaxBytes, DefaultMaxBytes)
	setDefault(&w.Timeout, DefaultTimeout)
	var err error
	w.slice.Base, err = baseURL(o.BaseURL)
	return w, err
}

func setDefault[T int | int64 | time.Duration](v *T, value T) {
	if *v <= 0 {
		*v = value
	}
}

// baseURL drops the API's route from a registry's URL.
func baseURL(raw string) (string, error) {
	canonical, err := target.Canonical(raw)
	if err != nil {
		return "", fmt.Errorf("registry %q: %w; give its base URL, such as https://registry.example.com", target.Mask(raw), err)
	}
	if strings.Contains(canonical, "?") {
		return "", fmt.Errorf("registry %q: the URL has a query; give its base URL, such as https://registry.example.com", target.Mask(raw))
	}
	base := strings.TrimRight(canonical, "/")
	for _, route := range routes {
		base = strings.TrimSuffix(base, route)
		base = strings.TrimSuffix(base, strings.TrimSuffix(route, "/servers"))
	}
	return strings.TrimRight(base, "/"), nil
}

// The list route, newest first; both give the same answers.
var routes = []string{"/v0.1/servers", "/v0/servers"}

// search walks the pages of one search to their end.
func (w *walk) search(ctx context.Context, n int, search string) error {
	cursors := map[string]bool{}
	cursor := ""
	for {
		body, at, err := w.get(ctx, search, cursor)
		var status *statusError
		if errors.As(err, &status) && status.refusesQuery() && search != "" && cursor == "" {
			// A registry may know no search, or not one of this length.
			search = ""
			continue
		}
		if err != nil {
			return err
		}
		p, err := parsePage(body)
		if err != nil && p.servers == nil {
			return fmt.Errorf("GET %s: %w; check that this is the base URL of an MCP registry", at, err)
		}
		w.keep(at, body)
		if full := w.add(n, p); full != nil {
			return full
		}
		switch {
		case err != nil:
			return fmt.Errorf("GET %s: %w; report it to the registry", at, err)
		case p.cursor == "":
			return nil
		case cursors[p.cursor]:
			return fmt.Errorf("%w: page %d repeats the cursor %q; what came before is kept, report it to the registry",
				ErrCursor, len(w.slice.Pages), clip(p.cursor))
		}
		cursor = p.cursor
		cursors[cursor] = true
	}
}

func (w *walk) keep(at string, body []byte) {
	sum := sha256.Sum256(body)
	w.slice.Pages = append(w.slice.Pages, Page{URL: at, SHA256: hex.EncodeToString(sum[:]), Size: len(body), Body: body})
}

// add sorts the entries of a page into those of the namespaces and others.
func (w *walk) add(search int, p page) error {
	for i, raw := range p.servers {
		if w.slice.Seen == w.MaxEntries {
			return fmt.Errorf("more than %d entries; raise the bound or name a smaller slice", w.MaxEntries)
		}
		at := len(w.slice.Pages) - 1
		e, err := parseEntry(raw)
		if err != nil {
			w.slice.Seen++
			w.skip(LeftOut{Reason: Malformed, Detail: "malformed entry: " + err.Error(), Page: at, Index: i})
			continue
		}
		e.Page = at
		e.index = i
		key := e.Name + "\n" + e.Version
		first, again := w.seen[key]
		switch {
		case again && first.search != search:
			// Searches overlap; the entry was counted in an earlier one.
		case again:
			w.slice.Seen++
			w.skip(LeftOut{Name: e.Name, Version: e.Version, Reason: Repeated, Page: at, Index: i})
			// The registry may have changed the entry during the walk.
			if first.entry >= 0 && e.UpdatedAt.After(w.entries[first.entry].UpdatedAt) {
				w.entries[first.entry] = e
			}
		case !w.inside(e.Name):
			w.slice.Seen++
			w.seen[key] = seenAt{search, -1}
			w.slice.Skipped[OtherNamespace]++
		default:
			w.slice.Seen++
			w.seen[key] = seenAt{search, len(w.entries)}
			w.entries = append(w.entries, e)
		}
	}
	return nil
}

func (w *walk) skip(l LeftOut) {
	w.slice.Skipped[l.Reason]++
	w.slice.LeftOut = append(w.slice.LeftOut, l)
}

func (w *walk) inside(name string) bool {
	if w.All {
		return true
	}
	for _, ns := range w.namespaces {
		if ns.Contains(name) {
			return true
		}
	}
	for _, ns := range w.namespaces {
		if ns.differsInCase(name) {
			other, _, _ := strings.Cut(name, "/")
			w.inCase[other]++
			break
		}
	}
	return false
}

// query is the list route's query; deleted entries are asked for so that they
// can be counted.
func (w *walk) query(search, cursor string) string {
	q := url.Values{"limit": {strconv.Itoa(w.PageLimit)}, "include_deleted": {"true"}}
	if len(search) >= 3 { // shorter ones are refused
		q.Set("search", search)
	}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	if !w.UpdatedSince.IsZero() {
		q.Set("updated_since", w.UpdatedSince.UTC().Format(time.RFC3339Nano))
	}
	return q.Encode()
}
