package registry

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// expectation is what a field case's file beside it says.
type expectation struct {
	QueryNamespace string   `json:"query_namespace"`
	Targets        []string `json:"targets"`
	TargetsExact   []string `json:"targets_exact"`
	Never          []string `json:"never"`
	Servers        []string `json:"servers"`
	ErrorContains  string   `json:"error_contains"`
	RequestsMax    int      `json:"requests_max"`
	HeadersAbsent  []string `json:"sent_headers_absent"`
	Skipped        json.RawMessage
}

func readField(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata/field/registry", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// listField serves the pages of a field case, the first one without a cursor
// and the last one for every further cursor, and lists them.
func listField(t *testing.T, first string, rest ...string) (*Slice, expectation, []*http.Request, error) {
	t.Helper()
	var expect expectation
	if err := json.Unmarshal(readField(t, first+".expect.json"), &expect); err != nil {
		t.Fatal(err)
	}
	pages := [][]byte{readField(t, first)}
	for _, name := range rest {
		pages = append(pages, readField(t, name))
	}
	var requests []*http.Request
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r)
		if r.URL.Path != "/v0/servers" {
			http.NotFound(w, r)
			return
		}
		page := pages[0]
		if r.URL.Query().Has("cursor") {
			page = pages[len(pages)-1]
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(page)
	}))
	defer srv.Close()
	namespace := expect.QueryNamespace
	if namespace == "" {
		namespace = "io.github.acme"
	}
	slice, err := List(t.Context(), Options{BaseURL: srv.URL, Namespaces: []string{namespace}, HTTP: srv.Client()})
	if slice == nil {
		t.Fatal(err)
	}
	checkSums(t, slice)
	return slice, expect, requests, err
}

// checkSums holds the two sums that Slice promises.
func checkSums(t *testing.T, s *Slice) {
	t.Helper()
	seen, remotes := s.Measured, len(s.Targets())
	for _, n := range s.Skipped {
		seen += n
	}
	for _, n := range s.SkippedRemotes {
		remotes += n
	}
	if seen != s.Seen || remotes != len(s.Remotes) {
		t.Errorf("seen %d, but measured and skipped are %d; %d remotes, but targets and skipped are %d",
			s.Seen, seen, len(s.Remotes), remotes)
	}
	if len(s.LeftOut)+s.Skipped[OtherNamespace] != s.Seen-s.Measured {
		t.Errorf("%d entries are explained, %d are left out", len(s.LeftOut)+s.Skipped[OtherNamespace], s.Seen-s.Measured)
	}
	for reason := range s.Skipped {
		if !slices.Contains(Reasons(), reason) {
			t.Errorf("%q is not one of the reasons", reason)
		}
	}
}

func targetURLs(s *Slice) []string {
	urls := []string{}
	for _, r := range s.Targets() {
		urls = append(urls, r.Endpoint.URL)
	}
	return urls
}

func TestFieldTargets(t *testing.T) {
	for _, files := range [][]string{
		{"wrapped_and_flat.json"}, {"versions_split_p1.json", "versions_split_p2.json"}, {"no_latest.json"},
		{"template_urls.json"}, {"remote_headers.json"}, {"case_names.json"}, {"loop_page1.json", "loop_page2.json"},
	} {
		t.Run(files[0], func(t *testing.T) {
			s, expect, requests, err := listField(t, files[0], files[1:]...)
			if (err != nil) != (expect.ErrorContains != "") || (err != nil && !strings.Contains(err.Error(), expect.ErrorContains)) {
				t.Errorf("error %v, want %q", err, expect.ErrorContains)
			}
			if s.Complete != (err == nil) {
				t.Errorf("complete is %v with %v", s.Complete, err)
			}
			want := append(slices.Clone(expect.Targets), expect.TargetsExact...)
			slices.Sort(want)
			got := targetURLs(s)
			slices.Sort(got)
			if expect.Servers == nil && !slices.Equal(got, want) {
				t.Errorf("targets %q, want %q", got, want)
			}
			if expect.Servers != nil && !slices.Equal(s.Names, expect.Servers) {
				t.Errorf("servers %q, want %q", s.Names, expect.Servers)
			}
			for _, never := range expect.Never {
				for _, r := range s.Remotes {
					if r.URL == never {
						t.Errorf("%s was kept", never)
					}
				}
			}
			if expect.RequestsMax > 0 && len(requests) > expect.RequestsMax {
				t.Errorf("%d requests, want at most %d", len(requests), expect.RequestsMax)
			}
			for _, r := range requests {
				for _, name := range expect.HeadersAbsent {
					if r.Header.Get(name) != "" {
						t.Errorf("the header %s was sent", name)
					}
				}
			}
		})
	}
}

func TestFieldSkipped(t *testing.T) {
	s, expect, _, _ := listField(t, "wrapped_and_flat.json")
	var n int
	if err := json.Unmarshal(expect.Skipped, &n); err != nil || s.Skipped[Malformed] != n || len(s.LeftOut) != n {
		t.Errorf("%d malformed, %d left out, want %d (%v)", s.Skipped[Malformed], len(s.LeftOut), n, err)
	}

	s, expect, _, _ = listField(t, "template_urls.json")
	var skipped []struct{ Name, Reason string }
	if err := json.Unmarshal(expect.Skipped, &skipped); err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for _, l := range s.LeftOut {
		reasons[l.Name] = l.Why()
		if l.Reason != TemplateURL {
			t.Errorf("%s: reason %q", l.Name, l.Reason)
		}
	}
	for _, want := range skipped {
		if reasons[want.Name] != want.Reason {
			t.Errorf("%s: %q, want %q", want.Name, reasons[want.Name], want.Reason)
		}
	}
	if len(reasons) != len(skipped) {
		t.Errorf("%d are left out, want %d", len(reasons), len(skipped))
	}
}

func TestFieldNotes(t *testing.T) {
	s, _, _, _ := listField(t, "no_latest.json")
	if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "no active version is marked latest") || !strings.Contains(s.Notes[0], `"0.0.60"`) {
		t.Errorf("notes %q", s.Notes)
	}
	if s.Skipped[Deleted] != 1 || s.Skipped[OlderVersion] != 1 {
		t.Errorf("skipped %v", s.Skipped)
	}

	s, _, _, _ = listField(t, "case_names.json")
	if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "io.github.Acme ") || !strings.Contains(s.Notes[0], "case only") {
		t.Errorf("notes %q", s.Notes)
	}
	if s.Skipped[OtherNamespace] != 3 {
		t.Errorf("skipped %v", s.Skipped)
	}
}

func TestFieldHeaders(t *testing.T) {
	s, _, _, _ := listField(t, "remote_headers.json")
	r := s.Targets()[0]
	if !slices.Equal(r.NeedsHeaders, []string{"Authorization"}) || !slices.Equal(r.Headers, []string{"Authorization", "X-Mode"}) {
		t.Errorf("headers %q, needed %q", r.Headers, r.NeedsHeaders)
	}
}

func TestFieldLoop(t *testing.T) {
	s, _, _, err := listField(t, "loop_page1.json", "loop_page2.json")
	if !errors.Is(err, ErrCursor) || !strings.Contains(err.Error(), "io.github.acme/one:1.0.0") {
		t.Errorf("the error does not name the cursor: %v", err)
	}
	if len(s.Pages) != 2 || len(s.Targets()) != 1 || s.Skipped[Repeated] != 1 {
		t.Errorf("%d pages, %d targets, skipped %v", len(s.Pages), len(s.Targets()), s.Skipped)
	}
	// The digest is that of sha256sum over the file.
	const want = "a3e3016838ebe78fe4e4aa209525851261d0cb5d880b0977c600158128f6cb60"
	if page := s.Pages[0]; page.SHA256 != want || page.Size != 455 || !strings.Contains(page.URL, "/v0/servers?") {
		t.Errorf("page %s, %d bytes, %s", page.URL, page.Size, page.SHA256)
	}
}
