package registry

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// NewHandler returns a registry that serves a listing with the read half of
// the official API, under /v0.1 and /v0: the list with cursor, limit, search,
// version, updated_since and include_deleted; all versions of a server; one
// version, or "latest". It answers as the official registry was measured to.
//
// Entries are wrapped or flat; a flat one is served wrapped. Where no version
// of a name says whether it is latest, the highest active one is. Entries that
// cannot be served (no name, not an object) and repeated versions are dropped.
func NewHandler(entries []json.RawMessage) http.Handler {
	s := &server{}
	seen := map[string]bool{}
	for _, raw := range entries {
		e, err := parseEntry(raw)
		if key := e.Name + "\n" + e.Version; err == nil && !seen[key] {
			seen[key] = true
			s.records = append(s.records, record{Entry: e})
		}
	}
	slices.SortStableFunc(s.records, func(a, b record) int {
		return compareKeys(a.Name, a.Version, b.Name, b.Version)
	})
	s.markLatest()
	for i := range s.records {
		s.records[i].body = s.records[i].wrap()
	}
	mux := http.NewServeMux()
	for _, base := range []string{"/v0.1", "/v0"} {
		mux.HandleFunc("GET "+base+"/servers", s.list)
		mux.HandleFunc("GET "+base+"/servers/{name}/versions", s.versions)
		mux.HandleFunc("GET "+base+"/servers/{name}/versions/{version}", s.version)
	}
	return mux
}

// server holds records in the order of the API: name, then version, as text.
type server struct {
	records []record
}

type record struct {
	Entry
	body json.RawMessage // {"server":…,"_meta":…}
}

func compareKeys(nameA, versionA, nameB, versionB string) int {
	return cmp.Or(cmp.Compare(nameA, nameB), cmp.Compare(versionA, versionB))
}

func (s *server) markLatest() {
	byName := map[string][]*record{}
	for i := range s.records {
		byName[s.records[i].Name] = append(byName[s.records[i].Name], &s.records[i])
	}
	for _, versions := range byName {
		if slices.ContainsFunc(versions, func(r *record) bool { return r.flagged }) {
			continue
		}
		var highest *record
		for _, r := range versions {
			if r.Status == StatusActive && (highest == nil || CompareVersions(r.Version, highest.Version) > 0) {
				highest = r
			}
		}
		if highest != nil {
			highest.IsLatest = true
		}
	}
}

// wrap returns the record in the API's shape. An entry that has it already is
// served as it is.
func (r record) wrap() json.RawMessage {
	outer := asObject(r.Raw)
	inner, wrapped := outer["server"]
	if wrapped && r.flagged && outer.object("_meta").object(officialMeta) != nil {
		return r.Raw
	}
	if !wrapped {
		inner = r.Raw
	}
	official := map[string]any{"status": r.Status, "isLatest": r.IsLatest}
	if !r.PublishedAt.IsZero() {
		official["publishedAt"] = r.PublishedAt
	}
	if !r.UpdatedAt.IsZero() {
		official["updatedAt"] = r.UpdatedAt
	}
	meta := map[string]any{}
	if wrapped {
		for key, value := range outer.object("_meta") {
			meta[key] = value
		}
	}
	meta[officialMeta] = official
	// Marshalling strings, bools, times and JSON that was parsed cannot fail.
	body, _ := json.Marshal(map[string]any{"server": inner, "_meta": meta})
	return body
}

type listResponse struct {
	Servers  []json.RawMessage `json:"servers"`
	Metadata listMetadata      `json:"metadata"`
}

type listMetadata struct {
	NextCursor string `json:"nextCursor,omitempty"`
	Count      int    `json:"count"` // on this page
}

func (s *server) list(w http.ResponseWriter, r *http.Request) {
	f, refused := parseFilter(r.URL.Query())
	if refused != nil {
		refused.write(w)
		return
	}
	answer := listResponse{Servers: []json.RawMessage{}}
	for i := s.after(f.cursor); i < len(s.records) && len(answer.Servers) < f.limit; i++ {
		record := s.records[i]
		if !f.passes(record) {
			continue
		}
		answer.Servers = append(answer.Servers, record.body)
		// A page that is full has a cursor, also when it is the last.
		if len(answer.Servers) == f.limit {
			answer.Metadata.NextCursor = record.Name + ":" + record.Version
		}
	}
	answer.Metadata.Count = len(answer.Servers)
	writeJSON(w, http.StatusOK, "application/json", answer)
}

// after returns the index of the first record behind a cursor. A cursor
// without a version stands for the last version of its name.
func (s *server) after(cursor string) int {
	if cursor == "" {
		return 0
	}
	name, version, whole := strings.Cut(cursor, ":")
	i, _ := slices.BinarySearchFunc(s.records, struct{}{}, func(r record, _ struct{}) int {
		c := cmp.Compare(r.Name, name)
		if c == 0 && whole {
			c = cmp.Compare(r.Version, version)
		}
		if c <= 0 {
			return -1
		}
		return 1
	})
	return i
}

func (s *server) versions(w http.ResponseWriter, r *http.Request) {
	f, refused := parseFilter(r.URL.Query())
	if refused != nil {
		refused.write(w)
		return
	}
	answer := listResponse{Servers: []json.RawMessage{}}
	for _, record := range s.records {
		if record.Name == r.PathValue("name") && (f.deleted || record.Status != StatusDeleted) {
			answer.Servers = append(answer.Servers, record.body)
		}
	}
	if len(answer.Servers) == 0 {
		problem{http.StatusNotFound, "Server not found"}.write(w)
		return
	}
	answer.Metadata.Count = len(answer.Servers)
	writeJSON(w, http.StatusOK, "application/json", answer)
}

func (s *server) version(w http.ResponseWriter, r *http.Request) {
	f, refused := parseFilter(r.URL.Query())
	if refused != nil {
		refused.write(w)
		return
	}
	version := r.PathValue("version")
	for _, record := range s.records {
		if record.Name != r.PathValue("name") || (!f.deleted && record.Status == StatusDeleted) {
			continue
		}
		if record.Version == version || (version == "latest" && record.IsLatest) {
			writeJSON(w, http.StatusOK, "application/json", record.body)
			return
		}
	}
	problem{http.StatusNotFound, "Server not found"}.write(w)
}

// problem is an error answer by RFC 9457.
type problem struct {
	status int
	detail string
}

func (p problem) write(w http.ResponseWriter) {
	writeJSON(w, p.status, "application/problem+json", map[string]any{
		"title": http.StatusText(p.status), "status": p.status, "detail": p.detail,
	})
}

func writeJSON(w http.ResponseWriter, status int, contentType string, v any) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	// A failing write means that the client has gone.
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v)
}
