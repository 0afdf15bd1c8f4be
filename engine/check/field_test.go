package check

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

func fieldFile(t testing.TB, parts ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"testdata", "field"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func withList(version, list string) *fixture {
	return &fixture{results: map[string]string{
		"initialize": initialize(version, `{"tools":{}}`), "tools/list": list,
	}}
}

func subjects(rep *Report, id string, status Status) []string {
	var list []string
	for _, f := range find(rep, id) {
		if f.Status == status {
			list = append(list, f.Subject)
		}
	}
	slices.Sort(list)
	return list
}

func sorted(list ...string) []string { slices.Sort(list); return list }

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestFieldSchemas(t *testing.T) {
	list := string(fieldFile(t, "catalog", "schemas.json"))
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		f := withList(version, list)
		if version == "2026-07-28" {
			f = modern("")
			f.results["tools/list"] = list
		}
		rep := runAgainst(t, f, "/mcp")
		if len(rep.Tools) != 14 {
			t.Errorf("%d tools, want 14", len(rep.Tools))
		}
		wantOutcomes(t, rep, map[string]string{"catalog.tools.list": "fail major", "catalog.tools.input_schema": "fail major"})
		same(t, "fail", subjects(rep, "catalog.tools.input_schema", rubric.Fail),
			sorted("missing", "only_schema_uri", "bool_true", "array_root", "required_null", "dangling", "remote_ref", "ref_root"))
		same(t, "warn", subjects(rep, "catalog.tools.input_schema", rubric.Warn), sorted("draft3_required"))
		output := map[string]string{"2025-11-25": "warn", "2026-07-28": "pass"}[version]
		wantOutcomes(t, rep, map[string]string{"catalog.tools.output_schema": output})
		for _, f := range find(rep, "catalog.tools.input_schema") {
			if f.Subject == "remote_ref" && !strings.Contains(f.Observed, "not fetched") {
				t.Errorf("remote_ref: %s", f.Observed)
			}
		}
		for _, x := range rep.Exchanges {
			if strings.Contains(x.URL, "169.254") {
				t.Errorf("fetched %s", x.URL)
			}
		}
	}
}

// root_oneof passes, with a note about clients that refuse it.
func TestCombinedRootSchema(t *testing.T) {
	rep := runAgainst(t, legacy("2025-11-25", `{"name":"root_oneof","description":"A tool that does one thing well.","inputSchema":{"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}]}}`), "/mcp")
	f := find(rep, "catalog.tools.input_schema")
	if len(f) != 1 || f[0].Status != rubric.Pass || !strings.Contains(f[0].Observed, "oneOf") {
		t.Errorf("%+v", f)
	}
}

func TestFieldNames(t *testing.T) {
	list := string(fieldFile(t, "catalog", "names.json"))
	rep := runAgainst(t, withList("2025-11-25", list), "/mcp")
	same(t, "unique", subjects(rep, "catalog.tools.unique", rubric.Fail), []string{"dup"})
	long := strings.Repeat("a", 129)
	same(t, "names", subjects(rep, "catalog.tools.names", rubric.Warn),
		sorted("user-profile/update", "New Tool", long, "tools[8]", "検索", "x,y"))
	if len(rep.Tools) != 12 {
		t.Errorf("%d tools, want 12", len(rep.Tools))
	}
	// A slash was allowed before 2025-11-25.
	rep = runAgainst(t, withList("2025-06-18", list), "/mcp")
	same(t, "names before 2025-11-25", subjects(rep, "catalog.tools.names", rubric.Warn), sorted("New Tool", long, "tools[8]", "検索", "x,y"))
}

func TestFieldNullFields(t *testing.T) {
	rep := runAgainst(t, withList("2025-11-25", string(fieldFile(t, "catalog", "null_fields.json"))), "/mcp")
	wantOutcomes(t, rep, map[string]string{
		"catalog.pagination": "warn", "catalog.tools.descriptions": "fail major", "catalog.tools.annotations": "warn",
		"catalog.tools.output_schema": "info",
		// treated as destructive: major, and on loopback one step lower
		"auth.unauthenticated_tools": "fail minor",
	})
	if len(rep.Tools) != 1 || rep.Tools[0].Annotations.Destructive != nil {
		t.Errorf("tools %+v", rep.Tools)
	}
}

func toolNames(rep *Report) []string {
	var names []string
	for _, tool := range rep.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestFieldCursors(t *testing.T) {
	var empty struct{ Serve map[string]json.RawMessage }
	if err := json.Unmarshal(fieldFile(t, "catalog", "cursor_empty.json"), &empty); err != nil {
		t.Fatal(err)
	}
	f := withList("2025-11-25", string(empty.Serve["no cursor"]))
	f.pages = map[string]string{"tools/list?": string(empty.Serve["cursor empty"])}
	rep := runAgainst(t, f, "/mcp")
	same(t, "tools", toolNames(rep), []string{"a", "b"})
	wantOutcomes(t, rep, map[string]string{"catalog.pagination": "pass", "catalog.tools.list": "pass"})

	var stuck struct{ Page json.RawMessage }
	if err := json.Unmarshal(fieldFile(t, "catalog", "cursor_same.json"), &stuck); err != nil {
		t.Fatal(err)
	}
	f = withList("2025-11-25", string(stuck.Page))
	rep = runAgainst(t, f, "/mcp")
	same(t, "tools", toolNames(rep), []string{"a", "b"})
	wantOutcomes(t, rep, map[string]string{"catalog.pagination": "fail major", "catalog.tools.unique": "pass"})
	asked := 0
	for _, m := range f.seen {
		if m == "tools/list" {
			asked++
		}
	}
	if asked > 3 {
		t.Errorf("%d requests for a list that does not advance, more than 3", asked)
	}
	if f := find(rep, "catalog.pagination"); !strings.Contains(f[0].Observed, "pagination does not advance") {
		t.Errorf("%+v", f)
	}
}

// version/cases.jsonl, one server a line; what a line says in words is made
// here.
func TestFieldVersions(t *testing.T) {
	lines := bufio.NewScanner(strings.NewReader(string(fieldFile(t, "version", "cases.jsonl"))))
	n := 0
	for lines.Scan() {
		n++
	}
	tool := `{"tools":[` + goodTool + `]}`
	ok := func(version string) map[string]string {
		return map[string]string{"initialize": initialize(version, `{"tools":{}}`), "tools/list": tool}
	}
	for _, c := range []struct {
		name   string
		server http.Handler
		want   map[string]string
		era    string
		quote  string // in handshake.initialize
	}{
		{"initialize answers 2025-11-05", &fixture{results: ok("2025-11-05")},
			map[string]string{"handshake.protocol_version": "warn", "catalog.tools.list": "pass"}, "legacy", ""},
		{"initialize is refused with a list", &fixture{status: map[string]int{"initialize": 400, "server/discover": 400},
			errors: map[string]string{"initialize": `{"code":-32602,"message":"unsupported","data":{"supported":["2024-06-18"]}}`}},
			map[string]string{"handshake.initialize": "fail critical", "catalog.tools.list": "skip"}, "none", "2024-06-18"},
		{"header on initialize", refuseHeader{&fixture{results: ok("2025-11-25")}},
			map[string]string{"handshake.initialize": "pass", "catalog.tools.list": "pass"}, "legacy", ""},
		{"discover -32601 with 200", &fixture{results: ok("2025-11-25")}, map[string]string{"handshake.era": "info"}, "legacy", ""},
		{"discover -32602 with 200", &fixture{results: ok("2025-11-25"), errors: map[string]string{"server/discover": `{"code":-32602,"message":"bad"}`}},
			map[string]string{"handshake.era": "info"}, "legacy", ""},
		{"discover 400", &fixture{results: ok("2025-11-25"), status: map[string]int{"server/discover": 400}},
			map[string]string{"handshake.era": "info"}, "legacy", ""},
		{"discover 404", &fixture{results: ok("2025-11-25"), status: map[string]int{"server/discover": 404}},
			map[string]string{"handshake.era": "info"}, "legacy", ""},
		{"discover -32022", &fixture{results: map[string]string{"tools/list": tool}, status: map[string]int{"server/discover": 400},
			errors: map[string]string{"server/discover": `{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}`}},
			map[string]string{"handshake.era": "info", "handshake.discover": "fail major", "catalog.tools.list": "pass"}, "modern", ""},
		{"a revision it does not list", &fixture{results: map[string]string{
			"initialize":      initialize("2025-03-26", `{"tools":{}}`),
			"server/discover": `{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{}},"ttlMs":1,"cacheScope":"private"}`,
			"tools/list":      tool}},
			map[string]string{"handshake.protocol_version": "fail major", "handshake.discover": "fail minor"}, "dual", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := runAgainst(t, c.server, "/mcp")
			wantOutcomes(t, rep, c.want)
			if rep.Server.Era != c.era {
				t.Errorf("era %q, want %q", rep.Server.Era, c.era)
			}
			if f := find(rep, "handshake.initialize"); c.quote != "" && !strings.Contains(f[0].Observed, c.quote) {
				t.Errorf("%q is not quoted in %q", c.quote, f[0].Observed)
			}
			if len(rep.Exchanges) > 12 {
				t.Errorf("%d requests", len(rep.Exchanges))
			}
		})
	}
	if n != 10 {
		t.Errorf("%d lines in version/cases.jsonl: the cases above were written for 10, one of them for stdio", n)
	}
}

// refuseHeader answers 400 to an initialize that carries the version header,
// which is due only after it.
type refuseHeader struct{ *fixture }

func (h refuseHeader) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := readAll(req)
	if err == nil && strings.Contains(string(body), `"initialize"`) && req.Header.Get("Mcp-Protocol-Version") != "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h.fixture.ServeHTTP(w, req)
}

// behaviour/cases.json: what concerns listing without credentials.
func TestFieldBehaviour(t *testing.T) {
	t.Run("no_session", func(t *testing.T) {
		rep := runAgainst(t, legacy("2025-11-25", goodTool), "/mcp")
		wantOutcomes(t, rep, map[string]string{"handshake.session": "info", "catalog.tools.list": "pass"})
	})
	t.Run("undeclared", func(t *testing.T) {
		rep := runAgainst(t, legacy("2025-11-25", goodTool), "/mcp")
		wantOutcomes(t, rep, map[string]string{"catalog.prompts.list": "skip"})
	})
	t.Run("reset", func(t *testing.T) {
		rep := runAgainst(t, resetOn{legacy("2025-11-25", goodTool), "tools/list"}, "/mcp")
		wantOutcomes(t, rep, map[string]string{"catalog.tools.list": "skip", "catalog.empty": "skip", "handshake.initialize": "pass", "auth.unauthenticated_tools": "skip"})
	})
	t.Run("sse_line_2mb", func(t *testing.T) {
		big := fmt.Sprintf(`{"name":"read_big","description":%q,"inputSchema":{"type":"object"}}`, strings.Repeat("word ", 400_000))
		rep := runAgainst(t, legacy("2025-11-25", big), "/mcp")
		// More text than is read is no pass.
		wantOutcomes(t, rep, map[string]string{"catalog.tools.list": "pass", "catalog.text.instructions": "skip"})
	})
	t.Run("throttled", func(t *testing.T) {
		rep := runAgainst(t, &fixture{status: map[string]int{"initialize": 429, "server/discover": 429}, header: http.Header{"Retry-After": {"2"}}}, "/mcp")
		wantOutcomes(t, rep, map[string]string{"discovery.first_contact": "skip", "handshake.era": "skip", "handshake.initialize": "skip", "catalog.tools.list": "skip"})
		if rep.Blocked == nil || rep.Blocked.Phase != PhaseHandshake {
			t.Errorf("blocked %+v", rep.Blocked)
		}
	})
	t.Run("throttled list", func(t *testing.T) {
		f := legacy("2025-11-25", goodTool)
		delete(f.results, "tools/list")
		f.status = map[string]int{"tools/list": 429}
		rep := runAgainst(t, f, "/mcp")
		wantOutcomes(t, rep, map[string]string{"catalog.tools.list": "skip", "catalog.empty": "skip", "auth.unauthenticated_tools": "skip"})
	})
}

type resetOn struct {
	*fixture
	method string
}

func (h resetOn) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := readAll(req)
	if err == nil && strings.Contains(string(body), `"`+h.method+`"`) {
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(http.StatusOK)
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	h.fixture.ServeHTTP(w, req)
}
