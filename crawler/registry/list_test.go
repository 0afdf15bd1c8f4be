package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// doFunc is a Doer that answers without a network.
type doFunc func(*http.Request) (*http.Response, error)

func (f doFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

// handled answers with a handler.
func handled(h http.HandlerFunc) Doer {
	return doFunc(func(r *http.Request) (*http.Response, error) {
		rec := httptest.NewRecorder()
		h(rec, r)
		return rec.Result(), nil
	})
}

func answering(status int, body string, headers ...string) Doer {
	return handled(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	})
}

const base = "https://registry.example.test"

func entryJSON(name, version, rest string) string {
	return fmt.Sprintf(`{"server":{"name":%q,"version":%q%s},"_meta":{%q:{"status":"active","isLatest":true}}}`, name, version, rest, officialMeta)
}

func pageJSON(cursor string, entries ...string) string {
	return fmt.Sprintf(`{"servers":[%s],"metadata":{"nextCursor":%q}}`, strings.Join(entries, ","), cursor)
}

func TestListErrors(t *testing.T) {
	for _, c := range []struct {
		why  string
		doer Doer
		want []string
	}{
		{"html", answering(200, "<!doctype html><p>hello"), []string{"HTML", "base URL"}},
		{"garbage", answering(200, "\x00\x01garbage"), []string{"not a JSON object", "base URL"}},
		{"cut", answering(200, `{"servers":[{"ser`), []string{"not a JSON object", "base URL"}},
		{"empty", answering(200, ""), []string{"empty"}},
		{"other JSON", answering(200, `{"hello":1}`), []string{`"servers"`, "base URL"}},
		{"no list", answering(200, `{"servers":{}}`), []string{"not a list"}},
		{"bad cursor", answering(200, `{"servers":[],"metadata":{"nextCursor":7}}`), []string{"not a string"}},
		{"long cursor", answering(200, pageJSON(strings.Repeat("c", maxCursor+1))), []string{"bound"}},
		{"oversized", answering(200, strings.Repeat(" ", 5000)), []string{"over 4096 bytes", "fewer entries"}},
		{"429", answering(429, "slow down", "Retry-After", "120"), []string{"429", `Retry-After: "120"`, "wait"}},
		{"429 evil", answering(429, "", "Retry-After", "\x1b[31m"), []string{`"\x1b[31m"`}},
		{"401", answering(401, ""), []string{"401", "credentials"}},
		{"404", answering(404, ""), []string{"404", "base URL"}},
		{"500", answering(500, ""), []string{"500", "later"}},
		{"302", answering(302, "", "Location", "https://other.test/"), []string{"302", "redirects"}},
		{"unreachable", doFunc(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }),
			[]string{"cannot be reached", "connection refused", "network"}},
	} {
		s, err := List(t.Context(), Options{BaseURL: base, Namespaces: []string{"com.example"}, HTTP: c.doer, MaxPageBytes: 4096})
		if err == nil || s == nil || s.Complete {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		for _, want := range append(c.want, base) {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", c.why, err, want)
			}
		}
		if strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: %q is not one clean line", c.why, err)
		}
	}
}

func TestListOptions(t *testing.T) {
	ok := answering(200, `{"servers":[]}`)
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{BaseURL: base, Namespaces: []string{"com.example"}}, "HTTP client"},
		{Options{BaseURL: base, HTTP: ok}, "namespaces"},
		{Options{BaseURL: base, HTTP: ok, All: true, Namespaces: []string{"com.example"}}, "not both"},
		{Options{BaseURL: base, HTTP: ok, Namespaces: []string{"io.github"}}, "more than one publisher"},
		{Options{BaseURL: "", HTTP: ok, All: true}, "base URL"},
		{Options{BaseURL: "ftp://a.test", HTTP: ok, All: true}, "base URL"},
		{Options{BaseURL: "https://u:hunter2@a.test", HTTP: ok, All: true}, "***@a.test"},
		{Options{BaseURL: base + "?x=1", HTTP: ok, All: true}, "query"},
		{Options{BaseURL: base, HTTP: ok, All: true, PageLimit: 101}, "between 1 and 100"},
	} {
		if s, err := List(t.Context(), c.o); s != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, %v; want an error with %q", s, err, c.want)
		}
	}
	for _, spelling := range []string{base, base + "/", base + "/v0.1", base + "/v0/servers", base + "/v0.1/servers/"} {
		s, err := List(t.Context(), Options{BaseURL: spelling, HTTP: ok, All: true})
		if err != nil || s.Base != base || s.Route != "/v0.1/servers" || !s.Complete || len(s.Pages) != 1 {
			t.Errorf("%q: %+v, %v", spelling, s, err)
		}
	}
}

func TestListBounds(t *testing.T) {
	n := 0
	endless := handled(func(w http.ResponseWriter, _ *http.Request) {
		n++
		fmt.Fprint(w, pageJSON(fmt.Sprint("c", n), entryJSON(fmt.Sprint("com.example/n", n), "1", "")))
	})
	for _, c := range []struct {
		o           Options
		want        string
		pages, seen int
	}{
		{Options{MaxPages: 3}, "more than 3 pages", 3, 3},
		{Options{MaxEntries: 2}, "more than 2 entries", 3, 2},
		{Options{MaxBytes: 600}, "more than 600 bytes", 3, 3},
	} {
		n = 0
		c.o.BaseURL, c.o.All, c.o.HTTP = base, true, endless
		s, err := List(t.Context(), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(s.Pages) != c.pages || s.Seen != c.seen {
			t.Errorf("%s: %v with %d pages and %d entries", c.want, err, len(s.Pages), s.Seen)
		}
		checkSums(t, s)
	}
}

func TestListStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	waits := doFunc(func(r *http.Request) (*http.Response, error) {
		if _, ok := r.Context().Deadline(); !ok {
			t.Error("a request has no deadline")
		}
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	if _, err := List(ctx, Options{BaseURL: base, All: true, HTTP: waits}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := List(t.Context(), Options{BaseURL: base, All: true, HTTP: waits, Timeout: time.Nanosecond}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestListQueries(t *testing.T) {
	var asked []string
	doer := handled(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RequestURI())
		switch {
		case r.URL.Query().Has("search"):
			w.WriteHeader(http.StatusUnprocessableEntity)
		case r.URL.Query().Has("cursor"):
			fmt.Fprint(w, `{"servers":[],"metadata":{"nextCursor":"","count":0}}`)
		default:
			fmt.Fprint(w, `{"servers":null,"next_cursor":"a b&c"}`)
		}
	})
	since := time.Date(2026, 1, 11, 12, 0, 0, 0, time.FixedZone("", 3600))
	s, err := List(t.Context(), Options{BaseURL: base, Namespaces: []string{"com.example"}, HTTP: doer, PageLimit: 7, UpdatedSince: since})
	if err != nil || len(s.Pages) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	want := []string{
		"/v0.1/servers?include_deleted=true&limit=7&search=com.example&updated_since=2026-01-11T11%3A00%3A00Z",
		"/v0.1/servers?include_deleted=true&limit=7&updated_since=2026-01-11T11%3A00%3A00Z",
		"/v0.1/servers?cursor=a+b%26c&include_deleted=true&limit=7&updated_since=2026-01-11T11%3A00%3A00Z",
	}
	if !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

// Two namespaces whose searches overlap count an entry once.
func TestOverlappingSearches(t *testing.T) {
	listing := []json.RawMessage{
		json.RawMessage(entryJSON("io.github.acme/one", "1", "")),
		json.RawMessage(entryJSON("io.github.acme-two/one", "1", "")),
		json.RawMessage(entryJSON("io.github.acme-three/one", "1", "")),
	}
	s, err := List(t.Context(), Options{BaseURL: base, Namespaces: []string{"io.github.acme", "io.github.acme-two"},
		HTTP: handled(NewHandler(listing).ServeHTTP)})
	if err != nil || s.Seen != 3 || len(s.Names) != 2 || s.Skipped[OtherNamespace] != 1 || s.Skipped[Repeated] != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	checkSums(t, s)
}

func TestRepeatedEntryTakesTheLaterOne(t *testing.T) {
	at := func(day, host string) string {
		return fmt.Sprintf(`{"server":{"name":"com.example/a","version":"1","remotes":[{"type":"sse","url":"https://%s.test/"}]},`+
			`"_meta":{%q:{"status":"active","isLatest":true,"updatedAt":"2026-01-%sT00:00:00Z"}}}`, host, officialMeta, day)
	}
	s, err := List(t.Context(), Options{BaseURL: base, All: true,
		HTTP: answering(200, pageJSON("", at("01", "a"), at("03", "c"), at("02", "b")))})
	if err != nil || !slices.Equal(targetURLs(s), []string{"https://c.test/"}) || s.Skipped[Repeated] != 2 {
		t.Errorf("%q, %v, %v", targetURLs(s), s.Skipped, err)
	}
	checkSums(t, s)
}

func TestStatuses(t *testing.T) {
	version := func(name, version, status string, latest bool) string {
		return fmt.Sprintf(`{"server":{"name":"com.example/%s","version":%q,"remotes":[{"type":"sse","url":"https://%s.test/%s"}]},`+
			`"_meta":{%q:{"status":%q,"isLatest":%v}}}`, name, version, name, version, officialMeta, status, latest)
	}
	s, err := List(t.Context(), Options{BaseURL: base, All: true, HTTP: answering(200, pageJSON("",
		version("a", "1.9.0", "active", false), version("a", "1.10.0", "active", false), version("a", "2.0.0-rc.1", "deprecated", true),
		version("b", "3.0.0", "active", false), version("b", "1.0.0", "active", true), // the flag wins
		version("c", "1.0.0", "deleted", true), version("c", "0.9.0", "frozen", false),
		version("d", "1.0.0", "active", true), version("d", "2.0.0", "active", true)))})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := targetURLs(s), []string{"https://a.test/1.10.0", "https://b.test/1.0.0", "https://d.test/2.0.0"}; !slices.Equal(got, want) {
		t.Errorf("targets %q, want %q", got, want)
	}
	for reason, n := range map[Reason]int{OlderVersion: 3, Deprecated: 1, Deleted: 1, NotActive: 1} {
		if s.Skipped[reason] != n {
			t.Errorf("%s: %d, want %d", reason, s.Skipped[reason], n)
		}
	}
	if len(s.Notes) != 2 {
		t.Errorf("notes %q", s.Notes)
	}
	checkSums(t, s)
}

func TestListedURLsAreNotContacted(t *testing.T) {
	hosts := map[string]bool{}
	inner := NewHandler([]json.RawMessage{json.RawMessage(entryJSON("com.example/a", "1", `,"remotes":[{"type":"sse","url":"https://a.test/"}]`))})
	_, err := List(t.Context(), Options{BaseURL: base, All: true, HTTP: handled(func(w http.ResponseWriter, r *http.Request) {
		hosts[r.URL.Host] = true
		inner.ServeHTTP(w, r)
	})})
	u, _ := url.Parse(base)
	if err != nil || len(hosts) != 1 || !hosts[u.Host] {
		t.Errorf("%v were contacted, %v", hosts, err)
	}
}
