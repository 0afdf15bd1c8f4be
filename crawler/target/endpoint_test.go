package target

import (
	"errors"
	"net/url"
	"strings"
	"testing"
)

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"https://example.test", "https://example.test/"},
		{"HTTPS://Example.TEST:443/MCP", "https://example.test/MCP"},
		{"http://example.test:80/", "http://example.test/"},
		{"http://example.test:443/", "http://example.test:443/"},
		{"https://example.test:/mcp", "https://example.test/mcp"},
		{"https://example.test:0443/mcp", "https://example.test/mcp"},
		{"https://example.test./mcp", "https://example.test/mcp"},
		{"https://example.test/mcp#part", "https://example.test/mcp"},
		{"https://example.test/mcp/", "https://example.test/mcp/"},
		{"https://example.test/mcp?b=2&a=%2f1", "https://example.test/mcp?b=2&a=%2f1"},
		{"https://example.test?x=/../", "https://example.test/?x=/../"},
		{"https://example.test/mcp?", "https://example.test/mcp?"},
		{"https://bücher.example/mcp", "https://xn--bcher-kva.example/mcp"},
		{"https://b%C3%BCcher.example/mcp", "https://xn--bcher-kva.example/mcp"},
		{"https://XN--BCHER-KVA.example/mcp", "https://xn--bcher-kva.example/mcp"},
		{"https://example。test。/mcp", "https://example.test/mcp"},
		{"https://my_host.example/", "https://my_host.example/"},
		{"https://My_host.bücher.example./", "https://my_host.xn--bcher-kva.example/"},
		{"https://r3---sn-a.example/", "https://r3---sn-a.example/"},
		{"https://[2001:DB8:0::1]:443/", "https://[2001:db8::1]/"},
		{"https://[2001:db8:0:0:1:0:0:1]:8443/", "https://[2001:db8::1:0:0:1]:8443/"},
		{"https://192.0.2.1./", "https://192.0.2.1/"},
		{"https://１９２.0.2.1/", "https://192.0.2.1/"},
		// RFC 3986 section 5.4, the paths resolved against http://a/b/c/d
		{"http://a/b/c/./g", "http://a/b/c/g"},
		{"http://a/b/c/../../g", "http://a/g"},
		{"http://a/b/c/../../../g", "http://a/g"},
		{"http://a/./g", "http://a/g"},
		{"http://a/../g", "http://a/g"},
		{"http://a/b/c/g.", "http://a/b/c/g."},
		{"http://a/b/c/.g", "http://a/b/c/.g"},
		{"http://a/b/c/..g", "http://a/b/c/..g"},
		{"http://a/b/c/./../g", "http://a/b/g"},
		{"http://a/b/c/./g/.", "http://a/b/c/g/"},
		{"http://a/b/c/g/./h", "http://a/b/c/g/h"},
		{"http://a/b/c/g/../h", "http://a/b/c/h"},
		{"http://a/b/c/..", "http://a/b/"},
		{"http://a/..", "http://a/"},
		{"http://a/.", "http://a/"},
		// Empty segments are segments.
		{"http://a//b//c", "http://a//b//c"},
		{"http://a/b//../c", "http://a/b/c"},
		{"http://a/.//b", "http://a//b"},
		// Encodings stay as given, what needs one gets one.
		{"http://a/x%2Fy/../z", "http://a/z"},
		{"http://a/x%2fy", "http://a/x%2fy"},
		{"http://a/x%2Fy z", "http://a/x%2Fy%20z"},
		{"http://a/%2e%2e/b", "http://a/%2e%2e/b"},
		{"http://a/bü?ü=\"", "http://a/b%C3%BC?%C3%BC=\""},
		{"http://a/@scope/pkg:1;v=2", "http://a/@scope/pkg:1;v=2"},
		{"https://example.test/.well-known/mcp", "https://example.test/.well-known/mcp"},
	} {
		got, err := Canonical(c.in)
		if err != nil || got != c.want {
			t.Errorf("Canonical(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for _, c := range []struct{ in, why string }{
		{"", "scheme"},
		{"example.test", "scheme"},
		{"ftp://example.test/", "scheme"},
		{"https:example.test", "no host"},
		{"https:///mcp", "no host"},
		{"https://:443/", "no host"},
		{"https://example.test:0/", "port"},
		{"https://example.test:65536/", "port"},
		{"https://example.test:99999999999999999999/", "port"},
		{"https://example.test:-1/", "port"},
		{"https://*.example.test/", "wildcard"},
		{"https://{tenant}.example.test/", "not a URL"},
		{"https://a..example.test/", "valid name"},
		{"https://example.test../", "valid name"},
		{"https://./", "valid name"},
		{"https://" + strings.Repeat("a", 64) + ".test/", "valid name"},
		{"https://xn--a.test/", "valid name"},
		{"https://ex%61mple.test/", "not a URL"},
		{"https://2130706433/", "number"},
		{"https://0x7f.1/", "number"},
		{"https://127.1/", "number"},
		{"https://256.1.1.1/", "number"},
		{"https://[fe80::1%25eth0]/", "zone"},
		{"https://[192.0.2.1]/", ""},
		{"https://[example.test]/", ""},
		{"https://2001:db8::1/", ""},
		{"https://example.test\\@evil.test/", "not a URL"},
		{"https://example.test\n/", "not a URL"},
		{"https://example.test/%zz", "not a URL"},
		{"https://example.test/" + strings.Repeat("a", MaxURL), "bound"},
		{"https://example.test/" + strings.Repeat("\"", MaxURL/2), "bound"},
	} {
		got, err := Canonical(c.in)
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("Canonical(%q) = %q, %v; want an error with %q", c.in, got, err, c.why)
		}
	}
}

func TestUserInfoIsRefused(t *testing.T) {
	for _, in := range []string{
		"https://user:hunter2@example.test/", "https://hunter2@example.test/", "https://@example.test/",
		"https://user:hunter2@example.test:99999/", "https://user:hun ter2@example.test/", "https://user:hunter2@/",
	} {
		_, err := Canonical(in)
		if err == nil {
			t.Errorf("Canonical(%q) gave no error", in)
		} else if strings.Contains(err.Error(), "ter2") {
			t.Errorf("Canonical(%q): the error repeats the password: %v", in, err)
		}
	}
	if _, err := Canonical("https://user:hunter2@example.test/"); !errors.Is(err, ErrUserInfo) {
		t.Errorf("got %v, want ErrUserInfo", err)
	}
}

// The ids were computed with sha256sum, xxd and base32 over
// "streamable-http\nhttps://example.test/mcp" and the same with sse.
func TestID(t *testing.T) {
	for _, c := range []struct{ transport, raw, id string }{
		{StreamableHTTP, "https://EXAMPLE.test:443/mcp#x", "ryhvvz677t32vagpzdaqhkwsne"},
		{SSE, "https://example.test/mcp", "mrucau6rpbict6grkcdwkdrd34"},
	} {
		e, err := New(c.transport, c.raw)
		if err != nil || e.ID() != c.id {
			t.Errorf("%s %s: id %q, %v; want %q", c.transport, c.raw, e.ID(), err, c.id)
		}
		if e.Host() != "example.test" {
			t.Errorf("host %q", e.Host())
		}
	}
	if _, err := New(Stdio, "https://example.test/mcp"); err == nil {
		t.Error("stdio was taken for a remote transport")
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		"https://example.test", "HTTP://EXAMPLE.test:80/a/../b//./c?x=%2F#y", "https://[2001:db8::1]:8443/",
		"https://bücher.example/%2F", "https://user:pw@example.test/", "https://a_b.r3---x.example./",
		"https://xn--bcher-kva.example/..", "https://example。test/ü", "https://a/\"{x}[y]\\", "https://ⅷ.example/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		once, err := Canonical(raw)
		if err != nil {
			return
		}
		twice, err := Canonical(once)
		if err != nil || twice != once {
			t.Fatalf("Canonical(%q) = %q, and of that %q, %v", raw, once, twice, err)
		}
		if strings.Trim(once, visible) != "" || len(once) > MaxURL {
			t.Fatalf("Canonical(%q) = %q is not short printable ASCII", raw, once)
		}
		u, err := url.Parse(once)
		if err != nil || u.String() != once {
			t.Fatalf("net/url would send %q for %q, %v", u, once, err)
		}
	})
}

var visible = func() string {
	var b strings.Builder
	for c := byte(0x21); c < 0x7f; c++ {
		b.WriteByte(c)
	}
	return b.String()
}()
