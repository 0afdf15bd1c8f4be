package check

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

func TestCatalogueLoads(t *testing.T) {
	c, err := parseCatalogue(catalogueYAML)
	if err != nil {
		t.Fatal(err)
	}
	if c.ID != "2026.12" || CatalogueID() != c.ID {
		t.Errorf("id %q", c.ID)
	}
	if len(Catalogue()) < 40 {
		t.Errorf("%d checks", len(Catalogue()))
	}
	for _, r := range rubric.IDs() {
		rub, err := rubric.Load(r)
		if err != nil {
			t.Fatal(err)
		}
		phases := map[string]bool{}
		for _, cat := range rub.Categories {
			for _, p := range cat.Phases {
				phases[p] = true
			}
		}
		for _, m := range c.Checks {
			if !phases[m.Phase] {
				t.Errorf("rubric %s does not count phase %s of %s", r, m.Phase, m.ID)
			}
		}
	}
	if _, err := parseVerbs(verbsYAML); err != nil {
		t.Error(err)
	}
	if _, ok := Lookup("net.tls"); !ok {
		t.Error("net.tls is not in the catalogue")
	}
	if _, ok := Lookup("net.nothing"); ok {
		t.Error("a check that does not exist was found")
	}
}

func TestCatalogueRefuses(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown key", "    phase: net\n", "    phase: net\n    weight: 3\n", "not found"},
		{"defined twice", "id: net.dns", "id: net.scheme", "twice"},
		{"other phase", "    phase: net\n", "    phase: catalog\n", "beginning of the id"},
		{"made-up revision", "[2026-07-28]", "[2026-07-29]", "never published"},
		{"made-up transport", "transports: [streamable-http, sse]", "transports: [carrier-pigeon]", "transport"},
		{"made-up outcome", "      pass: the scheme is https", "      perfect: the scheme is https", "no status"},
		{"reference", "https://www.rfc-editor.org/rfc/rfc1034", "rfc1034", "not an https URL"},
		{"no advice", "advice: Publish an A or AAAA record for the host, or withdraw the listing.", `advice: ""`, "no advice"},
		{"two documents", "checks:\n", "checks: []\n---\nchecks:\n", "more than one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(string(catalogueYAML), c.old, c.new, 1)
			if text == string(catalogueYAML) {
				t.Fatal("the replacement changed nothing")
			}
			if _, err := parseCatalogue([]byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestVerbs(t *testing.T) {
	for name, want := range map[string]string{
		"delete_file": "delete", "deleteFile": "delete", "DeleteFile": "delete", "send-email": "send", "run": "run",
		"github_delete_repo": "delete", "create": "create", "updateHTMLPage": "update",
		"list_posts": "", "get_deleted_items": "", "search_and_replace": "", "read_note": "", "workflow_run_status": "",
		"post_details": "post", "getUpdates": "", "settings": "", "addresses": "", "check_update": "", "": "", "検索": "",
	} {
		if got := changesThings(name); got != want {
			t.Errorf("changesThings(%q) = %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"delete_file": "delete", "remove_user": "remove", "execute_command": "execute command", "run_shell": "run shell", "shell": "shell",
		"run_report": "", "list_deleted": "", "get_shell_history": "", "send_email": "", "create_note": "", "drop_table": "drop",
		"eval_javascript": "eval javascript", "run_query": "",
	} {
		if got := plainlyDestructive(name); got != want {
			t.Errorf("plainlyDestructive(%q) = %q, want %q", name, got, want)
		}
	}
}

// Honest servers that annotate their tools must hardly ever be called liars.
func TestHonestAnnotations(t *testing.T) {
	dir := os.Getenv("LUSTRUM_TEST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	file, err := os.Open(filepath.Join(dir, "tools-docker.jsonl.gz"))
	if err != nil {
		t.Skipf("real data is not here (set LUSTRUM_TEST_DATA to its folder): %v", err)
	}
	defer file.Close()
	zr, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(zr)
	lines.Buffer(nil, 8<<20)
	tools, readOnly, liars, schemas := 0, 0, 0, 0
	for lines.Scan() {
		var row struct{ Tool json.RawMessage }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		entry := readTool(tools, row.Tool)
		tools++
		if is(entry.Annotations.ReadOnly, true) {
			readOnly++
			if word := changesThings(entry.Name); word != "" {
				liars++
				t.Logf("%s: %s", entry.Name, word)
			}
		}
		if raw := entry.members["inputSchema"]; !absent(raw) {
			if fault := judgeSchema(raw, true); fault != nil {
				schemas++
				t.Logf("%s: %s", entry.Name, fault.text)
			}
		}
	}
	t.Logf("%d tools, %d declared read-only, %d of them named after a change, %d schemas with a fault", tools, readOnly, liars, schemas)
	if liars*50 > max(readOnly, 1) {
		t.Errorf("%d of %d honest read-only tools are accused", liars, readOnly)
	}
}
