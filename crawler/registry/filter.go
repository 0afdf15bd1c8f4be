package registry

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// filter is the query of the list route.
type filter struct {
	cursor  string
	limit   int
	search  string // lower case
	version string // "latest", a version, or empty
	since   time.Time
	deleted bool
}

const (
	defaultLimit = 30
	maxLimit     = 100
	minSearch    = 3 // bytes, after trimming
)

// parseFilter reads a query as the official registry does; parameters that it
// does not know are ignored.
func parseFilter(q url.Values) (filter, *problem) {
	f := filter{cursor: q.Get("cursor"), limit: defaultLimit, version: q.Get("version")}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxLimit {
			return f, &problem{http.StatusUnprocessableEntity, "limit must be a number from 1 to 100"}
		}
		f.limit = n
	}
	if q.Has("search") {
		f.search = strings.ToLower(strings.TrimSpace(q.Get("search")))
		if len(f.search) < minSearch {
			return f, &problem{http.StatusUnprocessableEntity, "search must be at least 3 characters long"}
		}
	}
	refusesDeleted := false
	if text := q.Get("include_deleted"); text != "" {
		var err error
		if f.deleted, err = strconv.ParseBool(text); err != nil {
			return f, &problem{http.StatusUnprocessableEntity, "include_deleted must be true or false"}
		}
		refusesDeleted = !f.deleted
	}
	if text := q.Get("updated_since"); text != "" {
		var err error
		if f.since, err = time.Parse(time.RFC3339, text); err != nil {
			return f, &problem{http.StatusBadRequest, "updated_since must be a time by RFC 3339"}
		}
		if refusesDeleted {
			return f, &problem{http.StatusBadRequest, "include_deleted cannot be false with updated_since"}
		}
		f.deleted = true
	}
	return f, nil
}

// passes judges a record; updated_since means strictly later.
func (f filter) passes(r record) bool {
	switch {
	case !f.deleted && r.Status == StatusDeleted,
		f.search != "" && !matches(r.Name, f.search),
		f.version == "latest" && !r.IsLatest,
		f.version != "" && f.version != "latest" && r.Version != f.version,
		!f.since.IsZero() && !r.UpdatedAt.After(f.since):
		return false
	}
	return true
}

// matches reports whether a name holds a search; one with a slash must match
// the end of the namespace.
func matches(name, search string) bool {
	name = strings.ToLower(name)
	if !strings.Contains(name, search) {
		return false
	}
	want, _, ok := strings.Cut(search, "/")
	namespace, _, _ := strings.Cut(name, "/")
	return !ok || strings.HasSuffix(namespace, want)
}
