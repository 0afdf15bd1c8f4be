package registry

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

func TestReadListing(t *testing.T) {
	for _, text := range []string{
		`[{"name":"a/b"},{"name":"c/d"}]`,
		`{"servers":[{"name":"a/b"},{"name":"c/d"}],"metadata":{}}`,
		"{\"name\":\"a/b\"}\n{\"name\":\"c/d\"}\n",
		"\ufeff{\"name\":\"a/b\"}\r\n\r\n{\"name\":\"c/d\"}",
		`{"servers":[{"name":"a/b"}]}` + "\n" + `{"servers":[{"name":"c/d"}]}`,
	} {
		for _, form := range []string{text, zipped(text)} {
			got, err := ReadListing(iotest.OneByteReader(strings.NewReader(form)))
			if err != nil || len(got) != 2 || string(got[0]) != `{"name":"a/b"}` || string(got[1]) != `{"name":"c/d"}` {
				t.Errorf("%q: %q, %v", text, got, err)
			}
		}
	}
	for text, why := range map[string]string{
		"":                                 "no entry",
		"[]":                               "no entry",
		`{"servers":null}`:                 "no entry",
		`{"servers":{}}`:                   "not a list",
		"7":                                "neither",
		"null":                             "neither",
		"{\"name\":\"a/b\"}\nhello":        "value 2",
		`[{"name":"a/b"}`:                  "value 1",
		zipped(`{"name":"a/b"}`)[:20]:      "unexpected EOF",
		zipped(`{"name":"a/b"}`) + "extra": "unexpected EOF",
		"\x1f\x8b\x00":                     "gzip",
	} {
		if got, err := ReadListing(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %q, %v; want an error with %q", text, got, err, why)
		}
	}
}

func TestBoundedReader(t *testing.T) {
	read := func(left int64) (int, error) {
		var b bytes.Buffer
		n, err := b.ReadFrom(&boundedReader{r: strings.NewReader("12345"), left: left})
		return int(n), err
	}
	if n, err := read(5); n != 5 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := read(4); n != 4 || err == nil {
		t.Errorf("%d, %v", n, err)
	}
}

// dataFile opens a file of real data, or skips.
func dataFile(t testing.TB, name string) *os.File {
	t.Helper()
	dir := os.Getenv("LUSTRUM_TEST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("no real data: set LUSTRUM_TEST_DATA to a folder that holds %s", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// The slice of one real publisher through the embedded registry, held against
// a plain scan of the file.
func TestRealSlice(t *testing.T) {
	const prefix = "ai.smithery/"
	type row struct {
		Server struct {
			Name, Version string
			Remotes       []struct{ Type, URL string }
		}
		Meta map[string]struct {
			Status   string
			IsLatest bool
		} `json:"_meta"`
	}
	z, err := gzip.NewReader(dataFile(t, "registry-2026-01-11.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	total, inside, older := 0, 0, 0
	var latest []string
	urls := map[string]bool{}
	remotes := 0
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		total++
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(r.Server.Name, prefix) {
			continue
		}
		inside++
		official := r.Meta[officialMeta]
		if official.Status != "active" {
			t.Fatalf("%s is %s: the scan knows active entries only", r.Server.Name, official.Status)
		}
		if !official.IsLatest {
			older++
			continue
		}
		latest = append(latest, r.Server.Name)
		for _, remote := range r.Server.Remotes {
			remotes++
			urls[remote.Type+" "+remote.URL] = true
		}
	}
	slices.Sort(latest)
	if total != 2354 || inside != 283 {
		t.Fatalf("the scan found %d entries, %d of the slice; 2354 and 283 are known", total, inside)
	}

	listing, err := ReadListing(dataFile(t, "registry-2026-01-11.jsonl.gz"))
	if err != nil || len(listing) != total {
		t.Fatalf("%d entries, %v", len(listing), err)
	}
	handler := handled(NewHandler(listing).ServeHTTP)
	s, err := List(t.Context(), Options{BaseURL: base, Namespaces: []string{"ai.smithery"}, HTTP: handler})
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, s)
	if !slices.Equal(s.Names, latest) {
		t.Errorf("%d names, want %d", len(s.Names), len(latest))
	}
	if s.Seen-s.Skipped[OtherNamespace] != inside || s.Skipped[OlderVersion] != older || len(s.Remotes) != remotes {
		t.Errorf("%d entries, %d older, %d remotes; want %d, %d, %d",
			s.Seen-s.Skipped[OtherNamespace], s.Skipped[OlderVersion], len(s.Remotes), inside, older, remotes)
	}
	if len(s.Targets()) != len(urls) || len(s.Targets())+s.SkippedRemotes[Duplicate] != remotes {
		t.Errorf("%d targets, %v; want %d", len(s.Targets()), s.SkippedRemotes, len(urls))
	}
	for _, r := range s.Targets() {
		if !urls[r.Transport+" "+r.URL] {
			t.Errorf("%s %s is not listed", r.Transport, r.URL)
		}
	}

	// The whole registry page by page gives every entry once.
	s, err = List(t.Context(), Options{BaseURL: base, All: true, HTTP: handler})
	if err != nil || s.Seen != total || len(s.Pages) != 24 {
		t.Errorf("%d entries on %d pages, %v; want %d on 24", s.Seen, len(s.Pages), err, total)
	}
	checkSums(t, s)
	t.Logf("all: %d names, %d targets, entries left out %v, remotes left out %v", len(s.Names), len(s.Targets()), s.Skipped, s.SkippedRemotes)
}

// Every distinct remote of the whole registry is a target or has its reason.
// The counts are those of grep over the file: 10,542 lines, 171 with a brace.
func TestRealRemotes(t *testing.T) {
	z, err := gzip.NewReader(dataFile(t, "remotes-2026-07-28.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	var listing []json.RawMessage
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r struct{ URL, Type string }
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		url, _ := json.Marshal(r.URL)
		listing = append(listing, json.RawMessage(entryJSON(fmt.Sprintf("com.example/n%05d", len(listing)), "1",
			fmt.Sprintf(`,"remotes":[{"type":%q,"url":%s}]`, r.Type, url))))
	}
	s, err := List(t.Context(), Options{BaseURL: base, All: true, HTTP: handled(NewHandler(listing).ServeHTTP)})
	if err != nil || s.Seen != 10542 || s.Skipped[TemplateURL] != 171 {
		t.Fatalf("%d entries, left out %v, %v", s.Seen, s.Skipped, err)
	}
	checkSums(t, s)
	for _, r := range s.Remotes {
		if name := s.Entries[r.Entry].Name; name != r.Name {
			t.Fatalf("remote of %s points to %s", r.Name, name)
		}
		if again, err := target.Canonical(r.Endpoint.URL); r.Reason == "" && (err != nil || again != r.Endpoint.URL) {
			t.Errorf("%q is canonical, and then %q, %v", r.Endpoint.URL, again, err)
		}
	}
	// Two spellings of one URL are one endpoint.
	if s.Skipped[Duplicate] != 1 || len(s.Targets()) != 10370 {
		t.Errorf("%d targets, left out %v", len(s.Targets()), s.Skipped)
	}
}

func FuzzList(f *testing.F) {
	paths, err := filepath.Glob("testdata/field/registry/*.json")
	if err != nil || len(paths) == 0 {
		f.Fatal(err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := List(t.Context(), Options{BaseURL: base, All: true, HTTP: answering(200, string(body)), MaxPages: 3})
		if s == nil {
			t.Fatal(err)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Fatalf("%q is not one line", err)
		}
		checkSums(t, s)
		for _, r := range s.Remotes {
			if (r.Reason == "" || r.Reason == Duplicate) != (r.Endpoint.URL != "") {
				t.Fatalf("%+v", r)
			}
		}
		for _, e := range s.Entries {
			if !validName(e.Name) {
				t.Fatalf("%q is a server", e.Name)
			}
		}
		// What can be read can be served, and is the same slice.
		p, err := parsePage(body)
		if err != nil || p.cursor != "" || s.Skipped[Repeated] > 0 {
			return
		}
		again, err := List(t.Context(), Options{BaseURL: base, All: true, HTTP: handled(NewHandler(p.servers).ServeHTTP)})
		if err != nil || !slices.Equal(again.Names, s.Names) || !slices.Equal(targetURLs(again), targetURLs(s)) {
			t.Fatalf("served again: %v, %q, want %q", err, again.Names, s.Names)
		}
	})
}

func FuzzReadListing(f *testing.F) {
	f.Add([]byte(`[{"name":"a/b"}]`))
	f.Add([]byte(zipped("{\"servers\":[null]}\n{}")))
	f.Fuzz(func(t *testing.T, content []byte) {
		entries, err := ReadListing(bytes.NewReader(content))
		if (err == nil) != (len(entries) > 0) {
			t.Fatalf("%d entries with %v", len(entries), err)
		}
		NewHandler(entries)
	})
}
