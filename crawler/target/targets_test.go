package target

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestFieldHosts(t *testing.T) {
	f, err := os.Open("testdata/field/urls/hosts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	n := 0
	for lines.Scan() {
		n++
		var c struct {
			In, Host, Scheme, Why string
			Port                  int
			OK                    bool
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		got, err := ParseTarget(c.In)
		if (err == nil) != c.OK {
			t.Errorf("%q: ok is %v (%v), want %v: %s", c.In, err == nil, err, c.OK, c.Why)
			continue
		}
		if c.OK && (got.Host != c.Host || got.Port != c.Port || got.Scheme != c.Scheme) {
			t.Errorf("%q: %+v, want %+v", c.In, got, c)
		}
	}
	if n != 16 {
		t.Errorf("%d cases read, the file has 16", n)
	}
}

func TestFieldTargets(t *testing.T) {
	content, err := os.ReadFile("testdata/field/urls/targets.txt")
	if err != nil {
		t.Fatal(err)
	}
	var expect struct {
		ErrorContains string `json:"error_contains"`
	}
	text, err := os.ReadFile("testdata/field/urls/targets.txt.expect.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &expect); err != nil {
		t.Fatal(err)
	}
	targets, err := ReadTargets("targets.txt", strings.NewReader(string(content)))
	if err == nil || targets != nil || !strings.Contains(err.Error(), expect.ErrorContains) || !strings.Contains(err.Error(), "range") {
		t.Errorf("got %v, %v; want an error with %q and the cause", targets, err, expect.ErrorContains)
	}

	// Without its last line the file names three origins; lines 3 to 6 are one.
	whole := strings.Split(string(content), "\r\n")
	targets, err = ReadTargets("targets.txt", strings.NewReader(strings.Join(whole[:8], "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	want := []Target{
		{Scheme: "https", Host: "example.test", Port: 443, Paths: []string{"/", "/mcp"},
			Sources: []string{"targets.txt:3", "targets.txt:4", "targets.txt:5", "targets.txt:6"}},
		{Scheme: "https", Host: "2001:db8::1", Port: 443, Sources: []string{"targets.txt:7"}},
		{Scheme: "https", Host: "2001:db8::1", Port: 8443, Paths: []string{"/mcp"}, Sources: []string{"targets.txt:8"}},
	}
	if diff := cmp.Diff(want, targets); diff != "" {
		t.Error(diff)
	}
	for i, origin := range []string{"https://example.test", "https://[2001:db8::1]", "https://[2001:db8::1]:8443"} {
		if got := targets[i].Origin(); got != origin {
			t.Errorf("origin %q, want %q", got, origin)
		}
	}
	if got, err := targets[2].URL("/mcp?x=1"); err != nil || got != "https://[2001:db8::1]:8443/mcp?x=1" {
		t.Errorf("URL: %q, %v", got, err)
	}
	if got, err := targets[0].URL("@evil.test/"); err == nil {
		t.Errorf("a path without a slash made %q", got)
	}
}

func TestParseTargetRefuses(t *testing.T) {
	for _, c := range []struct{ in, why string }{
		{"", "empty"},
		{"10.0.0.0/24", "range"},
		{"https://10.0.0.0/24", "range"},
		{"[2001:db8::]/32", "range"},
		{"10.0.0.1-10.0.0.9", "range"},
		{"10.0.0.1-9", "range"},
		{"10.0.0.*", "wildcard"},
		{"https://*.example.test/mcp", "wildcard"},
		{"https://{tenant}.example.test/", "template"},
		{"https://example.test/{tenant}/mcp", "template"},
		{"ws://example.test/mcp", "scheme"},
		{"file:///etc/passwd", "scheme"},
		{"javascript:alert(1)", "not a URL"},
		{"example.test/mcp", "https://"},
		{"example.test:0", "port"},
		{"example.test:99999", "port"},
		{"example.test:http", "not a URL"},
		{"2001:db8::1:zz", "brackets"},
		{"a.test b.test", "one target"},
		{"a.test,b.test", "valid name"},
		{"2130706433", "number"},
		{"fe80::1%eth0", ""},
		{"ex\xffample.test", "UTF-8"},
		{strings.Repeat("a", 3*MaxURL), "bound"},
	} {
		if got, err := ParseTarget(c.in); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("ParseTarget(%.60q) = %+v, %v; want an error with %q", c.in, got, err, c.why)
		}
	}
}

func TestUserInfoNeverDecidesTheHost(t *testing.T) {
	for in, host := range map[string]string{
		"https://user:hunter2@example.test/mcp": "example.test",
		"user:hunter2@example.test":             "example.test",
		"user:hunter2@[2001:db8::1]:8443":       "2001:db8::1",
		"https://example.test@evil.test/":       "evil.test",
		"https://a@b@evil.test/":                "evil.test",
	} {
		got, err := ParseTarget(in)
		if in == "https://a@b@evil.test/" && err != nil {
			continue // refusing a second "@" is right too
		}
		if err != nil || got.Host != host || !got.UserInfo {
			t.Errorf("ParseTarget(%q) = %+v, %v; want host %q", in, got, err, host)
		}
		if u, _ := got.URL("/"); strings.Contains(u, "@") {
			t.Errorf("%q keeps the user information: %q", in, u)
		}
	}
	for _, in := range []string{
		"https://user:hunter2@example.test:0/", "user:hunter2@*.example.test", "ftp://user:hunter2@example.test",
		"https://user:x/hunter2@example.test:1/", "user:hunter2@10.0.0.0/24", "https://u:hun?hunter2@e.test/",
	} {
		if _, err := ParseTarget(in); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("ParseTarget(%q): %v; want an error that masks the password", in, err)
		}
	}
}

func TestMask(t *testing.T) {
	for in, want := range map[string]string{
		"https://user:pw@example.test/mcp":   "https://***@example.test/mcp",
		"https://example.test/@scope/pkg":    "https://example.test/@scope/pkg",
		"https://u:p@example.test/@scope":    "https://***@example.test/@scope",
		"user:pw@example.test":               "***@example.test",
		"example.test":                       "example.test",
		"https://user:p/w@example.test:443/": "https://***@example.test:443/",
	} {
		if got := Mask(in); got != want {
			t.Errorf("Mask(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestReadTargets(t *testing.T) {
	got, err := ReadTargets("t", strings.NewReader("# c\n\n  a.test # mine\nhttps://a.test/mcp#part\nhttp://a.test\nhttps://a.test/mcp\nhttps://a.test?x=1\n"))
	want := []Target{
		{Scheme: "https", Host: "a.test", Port: 443, Paths: []string{"/mcp", "/?x=1"}, Sources: []string{"t:3", "t:4", "t:6", "t:7"}},
		{Scheme: "http", Host: "a.test", Port: 80, Sources: []string{"t:5"}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}

	for _, c := range []struct{ in, why string }{
		{"a.test\nftp://b.test\n", "t:2: "},
		{"a.test\n" + strings.Repeat("b", 20_000), "t:2: "},
		{strings.Repeat("# filler filler filler filler\n", MaxTargetsFile/30+1), "split it"},
	} {
		if got, err := ReadTargets("t", strings.NewReader(c.in)); err == nil || got != nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("got %v, %v; want an error with %q", got, err, c.why)
		}
	}
	if _, err := ReadTargets("t", iotest.ErrReader(os.ErrClosed)); err == nil || !strings.HasPrefix(err.Error(), "t: ") {
		t.Errorf("a failing read: %v", err)
	}
}

func FuzzReadTargets(f *testing.F) {
	content, err := os.ReadFile("testdata/field/urls/targets.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(content))
	f.Add("user:pw@h.test\nhttps://h.test/a*b?c#d\n[::1]:80 # x")
	f.Fuzz(func(t *testing.T, text string) {
		targets, err := ReadTargets("fuzz", strings.NewReader(text))
		if err != nil {
			if targets != nil || !strings.HasPrefix(err.Error(), "fuzz:") {
				t.Fatalf("%v with %v", targets, err)
			}
			return
		}
		for _, target := range targets {
			for _, path := range append([]string{"/"}, target.Paths...) {
				u, err := target.URL(path)
				if err != nil {
					// Only the bound on length may stand in the way.
					if !strings.Contains(err.Error(), "bound") {
						t.Fatalf("%+v: %v", target, err)
					}
					continue
				}
				again, err := ParseTarget(u)
				if path != "/24" && err == nil && (again.Host != target.Host || again.Port != target.Port) {
					t.Fatalf("%+v is read again as %+v", target, again)
				}
			}
		}
	})
}
