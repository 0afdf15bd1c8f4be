package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// Statuses of an entry, in the registry's spelling.
const (
	StatusActive     = "active"
	StatusDeprecated = "deprecated"
	StatusDeleted    = "deleted"
)

// officialMeta is the key of the registry's own facts about an entry.
const officialMeta = "io.modelcontextprotocol.registry/official"

// Bounds of one entry.
const (
	maxVersion = 255
	maxRemotes = 100
	maxText    = 4096
)

// Entry is one version of one server as a registry lists it. All text is the
// publisher's: escape it where it leaves.
type Entry struct {
	Name, Version      string
	Title, Description string
	Repository         string // URL
	Website            string // URL
	Status             string // StatusActive and so on; active when not said
	IsLatest           bool   // the registry's flag
	Packages           int
	PublishedAt        time.Time // zero when not said
	UpdatedAt          time.Time // zero when not said
	Page               int       // index into Slice.Pages
	Raw                json.RawMessage

	index   int // on its page
	remotes []listedRemote
	flagged bool // the entry says whether it is latest
}

type listedRemote struct {
	transport string
	url       string
	headers   []header
	bad       string // why it could not be read
}

type header struct {
	name     string
	required bool
}

// Namespace is the part of the name before its slash.
func (e Entry) Namespace() string {
	ns, _, _ := strings.Cut(e.Name, "/")
	return ns
}

// parseEntry reads an entry, wrapped ({server,_meta}) or flat, field by field:
// a field of the wrong kind is as one left out, except a name.
func parseEntry(raw json.RawMessage) (Entry, error) {
	var outer map[string]json.RawMessage
	if err := json.Unmarshal(raw, &outer); err != nil {
		return Entry{}, errors.New("it is not a JSON object")
	}
	if outer == nil {
		return Entry{}, errors.New("it is null")
	}
	if len(outer) == 0 {
		return Entry{}, errors.New("it is empty")
	}
	server := object(outer)
	if inner, ok := outer["server"]; ok {
		if server = asObject(inner); server == nil {
			return Entry{}, errors.New("its server is not a JSON object")
		}
	}
	e := Entry{Raw: bytes.Clone(raw)}
	e.Name = server.text("name")
	if e.Name == "" {
		return Entry{}, errors.New("it has no name")
	}
	if !validName(e.Name) {
		return Entry{}, fmt.Errorf("its name %q is not of the form namespace/name", clip(e.Name))
	}
	e.readVersion(server)
	if len(e.Version) > maxVersion {
		return Entry{}, fmt.Errorf("its version is %d bytes long, over the bound of %d", len(e.Version), maxVersion)
	}
	e.Title = clipText(server.text("title"))
	e.Description = clipText(server.text("description"))
	e.Website = clipText(server.text("websiteUrl", "website_url"))
	e.Repository = clipText(server.object("repository").text("url"))
	e.Packages = len(server.list("packages"))
	e.readMeta(object(outer), server)
	for i, item := range server.list("remotes") {
		if i == maxRemotes {
			e.remotes = append(e.remotes, listedRemote{bad: fmt.Sprintf("more than %d remotes", maxRemotes)})
			break
		}
		e.remotes = append(e.remotes, parseRemote(item))
	}
	return e, nil
}

// readVersion reads the version; entries of before July 2025 keep it in
// version_detail.
func (e *Entry) readVersion(server object) {
	e.Version = server.text("version")
	if detail := server.object("version_detail"); e.Version == "" && detail != nil {
		e.Version = detail.text("version")
		e.IsLatest, e.flagged = detail.boolean("is_latest")
	}
}

// readMeta reads the registry's own facts. Older registries kept them under
// another key, in snake case, or beside the server's fields.
func (e *Entry) readMeta(outer, server object) {
	places := []object{
		outer.object("_meta").object(officialMeta),
		outer.object("x-io.modelcontextprotocol.registry"),
		server.object("_meta").object(officialMeta),
		server,
	}
	for _, place := range places {
		if e.Status == "" {
			e.Status = strings.ToLower(clip(place.text("status")))
		}
		if !e.flagged {
			e.IsLatest, e.flagged = place.boolean("isLatest", "is_latest")
		}
		if e.PublishedAt.IsZero() {
			e.PublishedAt = place.time("publishedAt", "published_at")
		}
		if e.UpdatedAt.IsZero() {
			e.UpdatedAt = place.time("updatedAt", "updated_at")
		}
	}
	if e.Status == "" {
		e.Status = StatusActive
	}
}

func parseRemote(raw json.RawMessage) listedRemote {
	fields := asObject(raw)
	if fields == nil {
		return listedRemote{bad: "the remote is not a JSON object"}
	}
	r := listedRemote{transport: transportOf(fields.text("type", "transport_type")), url: fields.text("url")}
	for _, item := range fields.list("headers") {
		h := asObject(item)
		// Without a name there is nothing to need.
		if name := h.text("name"); name != "" && len(r.headers) < maxRemotes {
			required, _ := h.boolean("isRequired", "is_required")
			r.headers = append(r.headers, header{name: clip(name), required: required})
		}
	}
	return r
}

// transportOf maps the older spellings of a transport to the current one.
func transportOf(name string) string {
	switch strings.ToLower(strings.ReplaceAll(name, "_", "-")) {
	case "streamable-http", "streamablehttp", "streamable", "http":
		return target.StreamableHTTP
	case "sse":
		return target.SSE
	}
	return clip(name)
}

// object is a JSON object read field by field; absent and ill-typed fields are
// zero. Keys are matched exactly, unlike in encoding/json.
type object map[string]json.RawMessage

func asObject(raw json.RawMessage) object {
	var o object
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

func (o object) object(key string) object { return asObject(o[key]) }

func (o object) list(key string) []json.RawMessage {
	var l []json.RawMessage
	if json.Unmarshal(o[key], &l) != nil {
		return nil
	}
	return l
}

func (o object) text(keys ...string) string {
	for _, key := range keys {
		var s string
		if json.Unmarshal(o[key], &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

func (o object) boolean(keys ...string) (value, said bool) {
	for _, key := range keys {
		var b *bool
		if json.Unmarshal(o[key], &b) == nil && b != nil {
			return *b, true
		}
	}
	return false, false
}

func (o object) time(keys ...string) time.Time {
	t, err := time.Parse(time.RFC3339, o.text(keys...))
	if err != nil {
		return time.Time{}
	}
	return t
}

// clip bounds a short text, in bytes, without cutting a character.
func clip(s string) string { return clipTo(s, 128) }

func clipText(s string) string { return clipTo(s, maxText) }

func clipTo(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
