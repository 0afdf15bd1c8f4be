package wire

import (
	"math"
	"net/netip"
	"strings"
	"testing"
)

func TestParseResolve(t *testing.T) {
	for given, want := range map[string][2]string{
		"mcp.test:443:192.0.2.7":             {"mcp.test:443", "192.0.2.7:443"},
		"MCP.Test.:443:192.0.2.7:8443":       {"mcp.test:443", "192.0.2.7:8443"},
		"mcp.test:443:[2001:db8::7]":         {"mcp.test:443", "[2001:db8::7]:443"},
		"mcp.test:443:[2001:db8::7]:8443":    {"mcp.test:443", "[2001:db8::7]:8443"},
		"mcp.test:443:2001:db8::7":           {"mcp.test:443", "[2001:db8::7]:443"},
		"[2001:DB8:0::7]:443:127.0.0.1":      {"[2001:db8::7]:443", "127.0.0.1:443"},
		"b\u00fccher.test:80:127.0.0.1:8080": {"xn--bcher-kva.test:80", "127.0.0.1:8080"},
	} {
		from, to, err := parseResolve(given)
		if err != nil || from != want[0] || to != netip.MustParseAddrPort(want[1]) {
			t.Errorf("%q: %s, %s, %v; want %q", given, from, to, err, want)
		}
	}
	for _, given := range []string{"", "mcp.test", "mcp.test:443", "mcp.test:443:", "mcp.test:443:localhost", "mcp.test:0:127.0.0.1", "mcp.test:65536:127.0.0.1",
		":443:127.0.0.1", "mcp.test:443:127.0.0.1:0", "mcp.test:443:127.0.0.1:99999", "mcp.test:443:127.1", "mcp.test:443:[127.0.0.1]", "mcp.test:443:[::1", "mcp.test:443:::1]",
		"mcp.test:443:fe80::1%eth0", "*:443:127.0.0.1", "*.test:443:127.0.0.1", "[::1:443:127.0.0.1", "mcp.test:443:127.0.0.1,127.0.0.2", "+mcp.test:443:127.0.0.1",
		"-mcp.test:443", "mcp.test:+443:127.0.0.1", "mcp.test: 443:127.0.0.1", "mcp/test:443:127.0.0.1", "0x7f.1:443:127.0.0.1", "user@mcp.test:443:127.0.0.1"} {
		if from, to, err := parseResolve(given); err == nil {
			t.Errorf("%q is read as %s, %s", given, from, to)
		} else if _, err := NewDoor(Options{Resolve: []string{given}}); err == nil {
			t.Errorf("a door takes %q", given)
		}
	}
}

func FuzzParseResolve(f *testing.F) {
	f.Add("mcp.test:443:[2001:db8::7]:8443")
	f.Add("[::1]:80:127.0.0.1")
	f.Fuzz(func(t *testing.T, s string) {
		from, to, err := parseResolve(s)
		if err != nil {
			return
		}
		if again, same, err := parseResolve(from + ":" + to.String()); err != nil || again != from || same != to {
			t.Fatalf("%q is %s to %s, and that is %s to %s (%v)", s, from, to, again, same, err)
		}
	})
}

func TestNewDoorRefuses(t *testing.T) {
	for name, o := range map[string]Options{
		"a negative rate":    {PerHost: -1},
		"no number":          {Overall: math.NaN()},
		"an infinite rate":   {Overall: math.Inf(1)},
		"a rate below use":   {PerHost: 1e-300},
		"two lines of agent": {UserAgent: "a\r\nX: y"},
		"two ways":           {Resolve: []string{"a.test:80:127.0.0.1", "A.test:80:127.0.0.2"}},
	} {
		if _, err := NewDoor(o); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if _, err := NewDoor(Options{Resolve: []string{"a.test:80:127.0.0.1", "A.test.:80:127.0.0.1:80"}}); err != nil {
		t.Error("the same twice:", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	d, err := NewDoor(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"", "mcp.test", "ftp://mcp.test/", "https:///mcp", "https://*.test/", "http://2130706433/", "http://[fe80::1%25eth0]/", "https://mcp.test:0/", "https://mcp.test:99999/", "http://mcp.test/%zz?token=hush"} {
		if _, err := d.Open(url, true); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v", url, err)
		}
	}
}
