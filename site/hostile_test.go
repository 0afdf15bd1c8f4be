package site

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestHostileTextIsInert(t *testing.T) {
	in := fixture(t)
	for name, content := range files(t, build(t, in)) {
		for _, r := range content {
			if r != '\n' && (r < 0x20 || r == 0x7f || r == 0x202e || r == 0x200b || r >= 0xe0000 && r <= 0xe007f) {
				t.Errorf("%s holds the raw character U+%04X", name, r)
				break
			}
		}
		if strings.Contains(content, "<script>alert") || strings.HasSuffix(name, ".html") && strings.Contains(content, `" onmouseover`) {
			t.Errorf("%s holds live markup of a server", name)
		}
		if strings.HasSuffix(name, ".html") && len(content) > 100_000 {
			t.Errorf("%s has %d bytes: a long name was not bounded", name, len(content))
		}
	}
	dir := build(t, in)
	list := textOf(parse(t, read(t, dir, "servers.html")))
	for _, want := range []string{
		scriptName,
		"<U+001B>[2J<U+001B>]0;owned<U+0007>wiped",
		"invoice<U+202E>fdp.exe",
		strings.Repeat("A", 120) + "… (1,048,576 characters)",
	} {
		if !strings.Contains(list, want) {
			t.Errorf("the list does not show %.60q", want)
		}
	}
	rtl := read(t, dir, "servers/"+idOf(t, in, "https://rtl.example.com/mcp")+".html")
	if !strings.Contains(textOf(parse(t, rtl)), "clean<U+E0041><U+E0042><U+200B>text") {
		t.Error("a tool's invisible characters are not shown as code points")
	}
	if !strings.Contains(rtl, "javascript:alert(4)") || strings.Contains(rtl, `href="javascript`) {
		t.Error("a repository of a foreign scheme must stand as text and not as a link")
	}
	// The JSON record has the name whole, with what is invisible as escapes.
	raw := read(t, dir, "servers/"+idOf(t, in, "https://rtl.example.com/mcp")+".json")
	if !strings.Contains(raw, `invoice\u202efdp.exe`) || !strings.Contains(raw, `clean\udb40\udc41\udb40\udc42\u200btext`) {
		t.Error("invisible characters stand raw in the record")
	}
	var rec record
	if err := json.Unmarshal([]byte(raw), &rec); err != nil || rec.Server.Name != rtlName || rec.Catalogue.Tools[0].Name != tagName {
		t.Errorf("the record does not read back: %v", err)
	}
}

// TestSilentOnWhatIsNotInTheEdition gives risks and violations of a server
// that has no public record.
func TestSilentOnWhatIsNotInTheEdition(t *testing.T) {
	for name, content := range files(t, build(t, fixture(t))) {
		if strings.Contains(content, "held-back") || strings.Contains(content, strings.Repeat("h", 26)) {
			t.Errorf("%s names a server without a record", name)
		}
	}
}

func TestRefusesWhatWouldBreakThePages(t *testing.T) {
	for want, spoil := range map[string]func(*Input){
		"no edition":              func(in *Input) { in.Edition = nil },
		"is not a date":           func(in *Input) { in.Edition.ID = "../../etc" },
		"not 26 characters":       func(in *Input) { in.Edition.Records[0].ID = "../../../../../etc/passwd.." },
		"stands twice":            func(in *Input) { in.Edition.Records[1].ID = in.Edition.Records[0].ID },
		"not a SHA-256":           func(in *Input) { in.Edition.Records[0].Digest = "../x" },
		"has no statement":        func(in *Input) { in.Edition.Records[0].Statement = nil },
		"not made of a-z":         func(in *Input) { in.Figures.Figures[0].Name = "../x" },
		"figures are of edition":  func(in *Input) { in.Figures.Edition = "2026-11-01" },
		"-1 endpoints are not in": func(in *Input) { in.Edition.NotInEdition = -1 },
	} {
		in := fixture(t)
		spoil(&in)
		dir := t.TempDir()
		err := Build(dir, in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%q: something was written", want)
		}
	}
}

func TestLeavesFilesAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Build(dir, fixture(t)); err == nil {
		t.Error("an existing page is no error")
	}
	if read(t, dir, "index.html") != "mine" {
		t.Error("an existing page was overwritten")
	}
}

func TestLinksAreHTTPOnly(t *testing.T) {
	for raw, want := range map[string]string{
		"https://a.example/mcp?x=1": "https://a.example/mcp?x=1",
		"http://127.0.0.1:8080/":    "http://127.0.0.1:8080/",
		"javascript:alert(1)":       "", "JaVaScRiPt://a.example/%0aalert(1)": "", "data:text/html,x": "", "//a.example/": "",
		"https://user:pass@a.example/": "", " https://a.example/": "", "https://a.example/\u202e": "", "https:///path": "", "": "",
		"https://a.example/" + strings.Repeat("x", 3000): "",
	} {
		if got := link(raw); got != want {
			t.Errorf("link(%.40q) = %q, want %q", raw, got, want)
		}
	}
}

func FuzzShow(f *testing.F) {
	for _, s := range []string{scriptName, escName, rtlName, tagName, "\xff\xfe", "é"} {
		f.Add(s, 10)
	}
	raw := regexp.MustCompile(`[\x00-\x1f\x7f\x{202a}-\x{202e}\x{2066}-\x{2069}\x{e0000}-\x{e007f}]`)
	f.Fuzz(func(t *testing.T, s string, bound int) {
		bound = min(max(bound, 1), 500)
		got := show(s, bound)
		if raw.MatchString(got) {
			t.Errorf("show(%q) = %q holds something invisible", s, got)
		}
		if len(got) > bound*16+40 {
			t.Errorf("show of %d bytes with bound %d gives %d bytes", len(s), bound, len(got))
		}
		if l := link(s); l != "" && !strings.HasPrefix(l, "http://") && !strings.HasPrefix(l, "https://") {
			t.Errorf("link(%q) = %q", s, l)
		}
	})
}

func TestEncodeIsPrintable(t *testing.T) {
	raw, err := encode(map[string]string{"a": "x\u0085\u202e\U000e0001\x7fé<"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "{\n  \"a\": \"x\\u0085\\u202e\\udb40\\udc01\\u007fé\\u003c\"\n}\n"; !bytes.Equal(raw, []byte(want)) {
		t.Errorf("got %q, want %q", raw, want)
	}
}
