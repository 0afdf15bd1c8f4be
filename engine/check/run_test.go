package check

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/crawler/wire"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// fixture is a server by its answers: results or errors by method, each a
// JSON value; what is missing gets -32601.
type fixture struct {
	results map[string]string // by method: the result
	pages   map[string]string // by method and cursor ("tools/list?p2"): the result
	errors  map[string]string // by method: the error object
	status  map[string]int    // by method: the HTTP status
	header  http.Header
	seen    []string
}

func (f *fixture) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	for name, values := range f.header {
		w.Header()[name] = values
	}
	if req.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, _ := io.ReadAll(io.LimitReader(req.Body, 1<<20))
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Cursor *string }
	}
	if err := json.Unmarshal(body, &m); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	f.seen = append(f.seen, m.Method)
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	status := http.StatusOK
	if s := f.status[m.Method]; s != 0 {
		status = s
	}
	w.Header().Set("Content-Type", "application/json")
	key := m.Method
	if m.Params.Cursor != nil {
		key += "?" + *m.Params.Cursor
	}
	result, ok := f.pages[key]
	if !ok {
		result, ok = f.results[m.Method]
	}
	switch {
	case ok:
		w.WriteHeader(status)
		io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":`+result+`}`)
	case f.errors[m.Method] != "":
		w.WriteHeader(status)
		io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"error":`+f.errors[m.Method]+`}`)
	case status != http.StatusOK:
		w.WriteHeader(status)
	default:
		io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"error":{"code":-32601,"message":"no such method"}}`)
	}
}

const goodTool = `{"name":"read_note","description":"Returns the text of one note by its id.","inputSchema":{"type":"object","properties":{"id":{"type":"string"}}},"annotations":{"readOnlyHint":true}}`

func initialize(version, caps string) string {
	return `{"protocolVersion":"` + version + `","capabilities":` + caps + `,"serverInfo":{"name":"fixture","version":"1.0"}}`
}

// legacy is an honest legacy server with the given tools.
func legacy(version, tools string) *fixture {
	return &fixture{results: map[string]string{
		"initialize": initialize(version, `{"tools":{}}`),
		"tools/list": `{"tools":[` + tools + `]}`,
	}}
}

// modern is an honest server of 2026-07-28 with the given tools.
func modern(tools string) *fixture {
	return &fixture{results: map[string]string{
		"server/discover": `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fixture","version":"1.0"}}}`,
		"tools/list":      `{"resultType":"complete","ttlMs":0,"cacheScope":"public","tools":[` + tools + `]}`,
	}, status: map[string]int{"initialize": 404}, errors: map[string]string{"initialize": `{"code":-32601,"message":"removed"}`}}
}

// line opens a recorded line to a server on loopback.
func openLine(t testing.TB, url string) *wire.Line {
	t.Helper()
	door, err := wire.NewDoor(wire.Options{})
	if err != nil {
		t.Fatal(err)
	}
	line, err := door.Open(url, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(line.Close)
	return line
}

func runAgainst(t testing.TB, h http.Handler, path string) *Report {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return runURL(t, target.StreamableHTTP, server.URL+path)
}

func runURL(t testing.TB, transport, url string) *Report {
	t.Helper()
	endpoint, err := target.New(transport, url)
	if err != nil {
		t.Fatal(err)
	}
	rep := Run(context.Background(), endpoint, Options{Line: openLine(t, endpoint.URL), Named: true})
	wellFormed(t, rep)
	return rep
}

var citation = regexp.MustCompile(`^req#([1-9][0-9]*)(?:-([1-9][0-9]*))?$`)

// wellFormed holds every report to what a report promises.
func wellFormed(t testing.TB, rep *Report) {
	t.Helper()
	order := map[string]int{}
	for i, m := range Catalogue() {
		order[m.ID] = i
	}
	seen := map[string]bool{}
	lastID, lastSubject := -1, ""
	for _, f := range rep.Findings {
		seen[f.ID] = true
		prove(f)
		meta, ok := Lookup(f.ID)
		if !ok {
			t.Errorf("%s is not in the catalogue", f.ID)
			continue
		}
		if i := order[f.ID]; i < lastID || i == lastID && f.Subject < lastSubject {
			t.Errorf("%s %q is out of order", f.ID, f.Subject)
		} else {
			lastID, lastSubject = i, f.Subject
		}
		if _, ok := meta.Outcomes[f.Status]; !ok && !strings.HasPrefix(f.Observed, "and ") {
			t.Errorf("%s: the catalogue does not allow %s (%s)", f.ID, f.Status, f.Observed)
		}
		judged := f.Status == rubric.Pass || f.Status == rubric.Warn || f.Status == rubric.Fail
		if judged && !citation.MatchString(f.Evidence) {
			t.Errorf("%s is %s with evidence %q", f.ID, f.Status, f.Evidence)
		}
		if m := citation.FindStringSubmatch(f.Evidence); m != nil {
			for _, n := range m[1:] {
				if n != "" && !slices.ContainsFunc(rep.Exchanges, func(x wire.Exchange) bool { return json.Number(n).String() == itoa(x.N) }) {
					t.Errorf("%s cites %s, which is not recorded", f.ID, f.Evidence)
				}
			}
		}
		if (f.Severity != "") != (f.Status == rubric.Fail) {
			t.Errorf("%s: status %s with severity %q", f.ID, f.Status, f.Severity)
		}
		if (f.Advice != "") != (f.Status == rubric.Fail || f.Status == rubric.Warn) {
			t.Errorf("%s: status %s with advice %q", f.ID, f.Status, f.Advice)
		}
		if f.Observed == "" || len([]rune(f.Observed)) > MaxObserved {
			t.Errorf("%s: observed %q", f.ID, f.Observed)
		}
		if strings.ContainsFunc(f.Observed+f.Subject, func(r rune) bool { return r < 0x20 || r == 0x7F }) {
			t.Errorf("%s: observed holds control characters: %q", f.ID, f.Observed)
		}
	}
	for _, m := range Catalogue() {
		if !seen[m.ID] {
			t.Errorf("%s has no finding", m.ID)
		}
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func find(rep *Report, id string) []Finding {
	var list []Finding
	for _, f := range rep.Findings {
		if f.ID == id {
			list = append(list, f)
		}
	}
	return list
}

// outcome is the worst status of a check, with its severity: "fail critical".
func outcome(rep *Report, id string) string {
	rank := map[string]int{"skip": 0, "info": 1, "pass": 2, "warn": 3, "fail minor": 4, "fail major": 5, "fail critical": 6}
	worst := ""
	for _, f := range find(rep, id) {
		s := strings.TrimSpace(string(f.Status) + " " + string(f.Severity))
		if worst == "" || rank[s] > rank[worst] {
			worst = s
		}
	}
	return worst
}

func wantOutcomes(t *testing.T, rep *Report, want map[string]string) {
	t.Helper()
	for id, w := range want {
		if got := outcome(rep, id); got != w {
			t.Errorf("%s = %q, want %q: %+v", id, got, w, find(rep, id))
		}
	}
}

func dump(t testing.TB, rep *Report) {
	for _, f := range rep.Findings {
		t.Logf("%-32s %-5s %-8s %-9s %s | %s", f.ID, f.Status, f.Severity, f.Evidence, f.Subject, f.Observed)
	}
}

func TestLegacyServer(t *testing.T) {
	f := legacy("2025-11-25", goodTool)
	rep := runAgainst(t, f, "/mcp")
	dump(t, rep)
	wantOutcomes(t, rep, map[string]string{
		"net.scheme": "info", "net.dns": "pass", "net.tcp": "pass", "net.tls": "skip",
		"discovery.first_contact": "info", "discovery.challenge": "skip",
		"auth.unauthenticated_tools": "info",
		"handshake.era":              "info", "handshake.initialize": "pass", "handshake.protocol_version": "pass",
		"handshake.server_info": "pass", "handshake.capabilities": "pass", "handshake.discover": "skip",
		"handshake.session":  "info",
		"catalog.tools.list": "pass", "catalog.resources.list": "skip", "catalog.prompts.list": "skip",
		"catalog.pagination": "pass", "catalog.tools.unique": "pass", "catalog.tools.names": "pass",
		"catalog.tools.descriptions": "pass", "catalog.tools.input_schema": "pass", "catalog.tools.annotations": "pass",
		"catalog.tools.annotation_honesty": "pass", "catalog.tools.output_schema": "info", "catalog.empty": "pass",
		"catalog.text.hidden": "pass", "catalog.text.instructions": "pass", "catalog.names.confusable": "pass",
	})
	if rep.Auth != AuthOpen || len(rep.Tools) != 1 || rep.Catalogue == "" || rep.Server.Name != "fixture" || rep.Server.Era != "legacy" {
		t.Errorf("report: auth %s, %d tools, catalogue %q, server %+v", rep.Auth, len(rep.Tools), rep.Catalogue, rep.Server)
	}
	if len(rep.Exchanges) > 12 {
		t.Errorf("%d requests, more than 12: %v", len(rep.Exchanges), f.seen)
	}
	for _, m := range f.seen {
		if m == "tools/call" {
			t.Error("a tool was called")
		}
	}
}

func TestModernServer(t *testing.T) {
	rep := runAgainst(t, modern(goodTool), "/mcp")
	dump(t, rep)
	wantOutcomes(t, rep, map[string]string{
		"handshake.era": "info", "handshake.initialize": "pass", "handshake.protocol_version": "pass",
		"handshake.server_info": "pass", "handshake.discover": "pass", "handshake.session": "skip",
		"catalog.tools.list": "pass", "auth.unauthenticated_tools": "info",
	})
	if rep.Server.Era != "modern" {
		t.Errorf("server %+v", rep.Server)
	}
}

// readAll reads a request's body and puts it back.
func readAll(req *http.Request) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(req.Body, 1<<20))
	req.Body = io.NopCloser(strings.NewReader(string(body)))
	return body, err
}
