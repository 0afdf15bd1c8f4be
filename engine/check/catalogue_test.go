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

// What English says of a name, not what the lists do: a name is guilty only
// when it says that something which stays is changed.
func TestVerbs(t *testing.T) {
	for name, want := range map[string]string{
		"delete_everything": "delete everything", "delete_account": "delete account", "remove_file": "remove file", "create_issue": "create issue",
		"update_record": "update record", "send_email": "send email", "drop_table": "drop table", "transfer_funds": "transfer funds",
		"deleteFile": "delete file", "DeleteFile": "delete file", "send-email": "send email", "github_delete_repo": "delete repo", "delete": "delete",
		"updateHTMLPage": "update page", "users_delete": "delete users", "get_or_create_user": "create user", "find_and_delete_user": "delete user",
		"add_to_cart": "add cart", "remove_user_from_group": "remove user", "create_task_v2": "create task", "zia_bulk_delete_app_connectors": "delete connectors",
		"post_create_comment": "post comment", "delete_preview_error_page": "delete page", "run_shell_command": "run command", "kill_process": "kill process",
		"delete_search_index": "delete index", "cancel_order": "cancel order", "delete_comments": "delete comments", "delete_image": "delete image", "delete_report": "delete report", "update_template": "update template", "add_entities": "add entities",

		"add": "", "set_union": "", "merge_json": "", "replace_text": "", "order_status": "", "book_search": "", "edit_distance": "", "start_date": "",
		"delete_preview": "", "run_query": "", "execute_sql": "", "create": "", "run": "", "remove_duplicates": "", "drop_shadow": "", "truncate_text": "",
		"list_posts": "", "get_deleted_items": "", "search_and_replace": "", "read_note": "", "workflow_run_status": "", "post_details": "",
		"getUpdates": "", "settings": "", "addresses": "", "check_update": "", "": "", "検索": "", "remove_file_extension": "", "delete_whitespace": "",
		"create_summary": "", "create_chart": "", "remove_background": "", "update_text": "", "sort_and_merge": "", "store_locator": "", "book_recommendations": "",
		"stop_words": "", "bus_stop_times": "", "push_pull_legs": "", "place_details": "", "trade_history": "", "close_price": "", "set_theory": "",
		"insert_sort": "", "move_generator": "", "send_time_estimate": "", "stock_order_book": "", "update_check": "", "install_guide": "", "upload_limits": "", "deploy_history": "",
	} {
		if got := changesThings(name); got != want {
			t.Errorf("changesThings(%q) = %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"delete_file": "delete file", "remove_user": "remove user", "execute_command": "execute command", "run_shell": "run shell", "shell": "shell",
		"drop_table": "drop table", "eval_javascript": "eval javascript", "transfer_funds": "transfer funds", "kill_process": "kill process",
		"format_disk": "format disk", "runCode": "run code", "delete_everything": "delete everything", "db_wipe": "wipe db", "execute_sql": "execute sql",
		"python_exec": "exec python",

		"run_report": "", "list_deleted": "", "get_shell_history": "", "send_email": "", "create_note": "", "run_query": "", "format_code": "",
		"truncate_text": "", "remove_duplicates": "", "drop_shadow": "", "kill_rate": "", "run_code_review": "", "drop_rate": "", "format_sql": "",
		"shell_sort": "", "withdraw_limit": "", "overwrite_check": "", "kill_switch_status": "", "refund_policy": "", "remove_stopwords": "",
		"terminal_velocity": "", "delete_simulation": "", "evaluate_code_quality": "", "run_analysis": "",
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
