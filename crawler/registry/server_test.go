package registry

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// demoListing is out of order, with a deleted version and a flat entry.
func demoListing() []json.RawMessage {
	entry := func(name, version, status, updated string, latest bool) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"server":{"name":%q,"description":"<d>","version":%q},"_meta":{%q:{"status":%q,"isLatest":%v,"updatedAt":%q}}}`,
			name, version, officialMeta, status, latest, updated))
	}
	return []json.RawMessage{
		entry("com.example/two", "1.2.0", "active", "2026-01-02T00:00:00Z", false),
		entry("com.example/two", "1.10.0", "active", "2026-01-03T00:00:00Z", true),
		entry("com.example/two", "0.1.0", "deleted", "2026-01-04T00:00:00Z", false),
		entry("com.example/One", "1.0.0", "active", "2026-01-01T00:00:00Z", true),
		entry("com.example/two", "1.2.0", "active", "2026-01-05T00:00:00Z", false), // again
		json.RawMessage(`{"name":"io.github.acme/flat","version":"0.9.0","_meta":{"io.modelcontextprotocol.registry/publisher-provided":{"a":1}}}`),
		json.RawMessage(`{"name":"io.github.acme/flat","version":"0.10.0"}`),
		json.RawMessage(`null`), json.RawMessage(`{}`),
	}
}

func ask(h http.Handler, path string) (int, string, string) {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
	return rec.Code, rec.Header().Get("Content-Type"), rec.Body.String()
}

// names returns "name version" of each entry of an answer, a "*" behind what
// is latest, and the cursor.
func names(t *testing.T, body string) (list []string, cursor string) {
	t.Helper()
	var answer struct {
		Servers []struct {
			Server struct{ Name, Version string }
			Meta   map[string]struct {
				Status   string
				IsLatest *bool
			} `json:"_meta"`
		}
		Metadata struct {
			NextCursor string
			Count      *int
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	for _, s := range answer.Servers {
		text := s.Server.Name + " " + s.Server.Version
		official := s.Meta[officialMeta]
		if official.Status == "" || official.IsLatest == nil {
			t.Errorf("%s has no official facts", text)
		} else if *official.IsLatest {
			text += " *"
		}
		list = append(list, text)
	}
	if answer.Metadata.Count == nil || *answer.Metadata.Count != len(list) || answer.Servers == nil {
		t.Errorf("the count is wrong in %s", body)
	}
	return list, answer.Metadata.NextCursor
}

// What the official registry was measured to answer.
func TestServerList(t *testing.T) {
	h := NewHandler(demoListing())
	for _, c := range []struct {
		query, cursor string
		want          []string
	}{
		{"", "", []string{"com.example/One 1.0.0 *", "com.example/two 1.10.0 *", "com.example/two 1.2.0", "io.github.acme/flat 0.10.0 *", "io.github.acme/flat 0.9.0"}},
		{"limit=2", "com.example/two:1.10.0", []string{"com.example/One 1.0.0 *", "com.example/two 1.10.0 *"}},
		{"limit=2&cursor=com.example%2Ftwo:1.10.0", "io.github.acme/flat:0.10.0", []string{"com.example/two 1.2.0", "io.github.acme/flat 0.10.0 *"}},
		{"limit=1&cursor=io.github.acme%2Fflat:0.10.0", "io.github.acme/flat:0.9.0", []string{"io.github.acme/flat 0.9.0"}},
		{"limit=1&cursor=io.github.acme%2Fflat:0.9.0", "", nil},
		{"cursor=zzz", "", nil},
		{"cursor=com.example/two", "", []string{"io.github.acme/flat 0.10.0 *", "io.github.acme/flat 0.9.0"}},
		{"cursor=com.example/two:1.1", "", []string{"com.example/two 1.10.0 *", "com.example/two 1.2.0", "io.github.acme/flat 0.10.0 *", "io.github.acme/flat 0.9.0"}[0:4]},
		{"search=EXAMPLE/o", "", []string{"com.example/One 1.0.0 *"}},
		{"search=one", "", []string{"com.example/One 1.0.0 *"}},
		{"search=om.example/", "", []string{"com.example/One 1.0.0 *", "com.example/two 1.10.0 *", "com.example/two 1.2.0"}},
		{"search=%25%25%25", "", nil},
		{"version=latest", "", []string{"com.example/One 1.0.0 *", "com.example/two 1.10.0 *", "io.github.acme/flat 0.10.0 *"}},
		{"version=1.2.0", "", []string{"com.example/two 1.2.0"}},
		{"include_deleted=true&search=example/two", "", []string{"com.example/two 0.1.0", "com.example/two 1.10.0 *", "com.example/two 1.2.0"}},
		{"updated_since=2026-01-02T00:00:00Z", "", []string{"com.example/two 0.1.0", "com.example/two 1.10.0 *"}},
		{"unknown=1&search=one", "", []string{"com.example/One 1.0.0 *"}},
	} {
		for _, route := range routes {
			status, kind, body := ask(h, route+"?"+c.query)
			if status != 200 || kind != "application/json" {
				t.Errorf("%s?%s: %d %s", route, c.query, status, kind)
				continue
			}
			if got, cursor := names(t, body); !slices.Equal(got, c.want) || cursor != c.cursor {
				t.Errorf("%s?%s: %q cursor %q, want %q cursor %q", route, c.query, got, cursor, c.want, c.cursor)
			}
		}
	}
}

func TestServerRefuses(t *testing.T) {
	h := NewHandler(demoListing())
	for path, want := range map[string]int{
		"/v0.1/servers?limit=0":                 422,
		"/v0.1/servers?limit=101":               422,
		"/v0.1/servers?limit=x":                 422,
		"/v0.1/servers?search=ab":               422,
		"/v0.1/servers?search=%20ab%20":         422,
		"/v0.1/servers?include_deleted=maybe":   422,
		"/v0.1/servers?updated_since=yesterday": 400,
		"/v0.1/servers?updated_since=2026-01-02T00:00:00Z&include_deleted=false":          400,
		"/v0.1/servers/com.example%2Fnone/versions":                                       404,
		"/v0.1/servers/com.example%2Ftwo/versions/9.9.9":                                  404,
		"/v0.1/servers/com.example%2Ftwo/versions/0.1.0":                                  404,
		"/v0.1/servers/com.example%2Ftwo":                                                 404,
		"/v2/servers":                                                                     404,
		"/v0.1/servers/com.example%2Ftwo/versions/0.1.0?include_deleted=true":             200,
		"/v0.1/servers/" + url.PathEscape("com.example/two") + "/versions/latest?cursor=": 200,
	} {
		status, kind, body := ask(h, path)
		if status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
		if want != 200 && strings.HasPrefix(path, "/v0.1/servers?") && (kind != "application/problem+json" || !strings.Contains(body, fmt.Sprintf(`"status":%d`, want))) {
			t.Errorf("%s: %s %s", path, kind, body)
		}
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/v0.1/servers", strings.NewReader("{}")))
	if rec.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", rec.Code)
	}
}

func TestServerVersions(t *testing.T) {
	h := NewHandler(demoListing())
	_, _, body := ask(h, "/v0.1/servers/com.example%2Ftwo/versions")
	if got, _ := names(t, body); !slices.Equal(got, []string{"com.example/two 1.10.0 *", "com.example/two 1.2.0"}) {
		t.Errorf("versions %q", got)
	}
	for path, want := range map[string]string{
		"/v0.1/servers/com.example%2Ftwo/versions/latest":   "1.10.0",
		"/v0/servers/com.example%2Ftwo/versions/1.2.0":      "1.2.0",
		"/v0/servers/io.github.acme%2Fflat/versions/latest": "0.10.0",
	} {
		_, _, body := ask(h, path)
		var one struct{ Server struct{ Version string } }
		if err := json.Unmarshal([]byte(body), &one); err != nil || one.Server.Version != want {
			t.Errorf("%s: %s, want %s", path, body, want)
		}
	}
	// The publisher's own facts stay inside the server.
	_, _, body = ask(h, "/v0.1/servers/io.github.acme%2Fflat/versions/0.9.0")
	if want := `{"_meta":{"io.modelcontextprotocol.registry/official":{"isLatest":false,"status":"active"}},"server":{"name":"io.github.acme/flat","version":"0.9.0","_meta":{"io.modelcontextprotocol.registry/publisher-provided":{"a":1}}}}`; strings.TrimSpace(body) != want {
		t.Errorf("got %s, want %s", body, want)
	}
}

func TestServerIsEmpty(t *testing.T) {
	_, _, body := ask(NewHandler(nil), "/v0.1/servers")
	if strings.TrimSpace(body) != `{"servers":[],"metadata":{"count":0}}` {
		t.Error(body)
	}
}
