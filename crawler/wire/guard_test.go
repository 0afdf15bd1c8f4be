package wire

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// The expected values are those of IANA's special-purpose address registries
// and of the RFCs beside them.
func TestPublicAddress(t *testing.T) {
	for address, public := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "100.63.255.255": true, "100.128.0.0": true, "172.15.255.255": true, "172.32.0.0": true,
		"192.167.255.255": true, "192.169.0.0": true, "169.253.255.255": true, "223.255.255.255": true, "198.20.0.0": true, "11.0.0.0": true,
		"2606:4700::1111": true, "2a00:1450:4001::1": true, "2001:4860:4860::8888": true, "::ffff:8.8.8.8": true,
		"64:ff9b::808:808": true, // NAT64 of 8.8.8.8

		"0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false, "10.255.255.255": false, "100.64.0.1": false, "100.127.255.255": false,
		"100.100.100.200": false, "127.0.0.1": false, "127.255.255.254": false, "169.254.169.254": false, "169.254.0.1": false,
		"172.16.0.1": false, "172.31.255.255": false, "192.0.0.192": false, "192.0.2.1": false, "192.88.99.1": false, "192.168.1.1": false,
		"198.18.0.1": false, "198.19.255.255": false, "198.51.100.1": false, "203.0.113.1": false, "224.0.0.1": false, "239.255.255.255": false,
		"240.0.0.1": false, "255.255.255.255": false, "168.63.129.16": false,
		"::": false, "::1": false, "::7f00:1": false, "::808:808": false, "::ffff:127.0.0.1": false, "::ffff:169.254.169.254": false, "::ffff:10.0.0.1": false,
		"::ffff:0:7f00:1": false,                              // SIIT, RFC 2765
		"64:ff9b::7f00:1": false, "64:ff9b::a9fe:a9fe": false, // NAT64 of 127.0.0.1 and 169.254.169.254
		"64:ff9b:1::1":  false,                          // RFC 8215
		"2002:7f00:1::": false, "2002:808:808::": false, // 6to4
		"2001:0:53aa:64c::1": false, "2001::1": false, // Teredo
		"100::1": false, "2001:db8::1": false, "3fff::1": false, "5f00::1": false, "fc00::1": false, "fd00:ec2::254": false,
		"fe80::1": false, "fe80::1%eth0": false, "::1%lo": false, "febf::1": false, "fec0::1": false, "ff02::1": false, "4000::1": false,
	} {
		err := publicAddress(netip.MustParseAddr(address))
		if (err == nil) != public || (err != nil && !errors.Is(err, ErrBlocked)) {
			t.Errorf("%s: %v, want public %v", address, err, public)
		}
	}
}

// Whatever form an IPv4 address takes, it is judged alike.
func FuzzPublicAddress(f *testing.F) {
	f.Add([]byte{127, 0, 0, 1})
	f.Add([]byte{8, 8, 8, 8})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) < 4 {
			return
		}
		plain := netip.AddrFrom4([4]byte(raw))
		std := net.IP(raw[:4])
		public := publicAddress(plain) == nil
		if public && (std.IsPrivate() || std.IsLoopback() || std.IsLinkLocalUnicast() || std.IsMulticast() || std.IsUnspecified()) {
			t.Fatalf("%s passes", plain)
		}
		mapped := netip.AddrFrom16(plain.As16())
		six := netip.MustParseAddr("64:ff9b::").As16()
		copy(six[12:], raw)
		if publicAddress(mapped) == nil != public || publicAddress(netip.AddrFrom16(six)) == nil != public {
			t.Fatalf("%s is judged differently in another form", plain)
		}
	})
}

// Nothing leaves the scope: a listener on loopback that nobody named sees no
// connection, whichever way leads to it.
func TestNothingReachesLoopback(t *testing.T) {
	silent := listen(t, answers(ok))
	port := ":" + silent.port()
	for _, host := range []string{"127.0.0.1", "localhost", "LOCALHOST.", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "[::]", "[::1]",
		"[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001",
		"127.0.0.1.", "[::1%25lo]", "[fe80::1%25lo]", "127。0。0。1", "①27.0.0.1"} {
		d, err := NewDoor(Options{Resolve: []string{silent.at("other.test:80")}})
		if err != nil {
			t.Fatal(err)
		}
		l, err := d.Open("http://"+host+port+"/mcp", false)
		if err != nil {
			continue // refused sooner still
		}
		_, err = l.Do(newRequest(t, "GET", "http://"+host+port+"/mcp", ""))
		var e *Error
		if !errors.Is(err, ErrBlocked) || !errors.As(err, &e) || e.N != 0 {
			t.Errorf("%s: %v", host, err)
		}
		if c := l.Connect(t.Context()); !c.Blocked || c.N != 0 {
			t.Errorf("%s: connection %+v", host, c)
		}
		if len(l.Exchanges()) != 0 || len(l.Blocked()) != 1 {
			t.Errorf("%s: %d exchanges, blocked %q", host, len(l.Exchanges()), l.Blocked())
		}
		l.Close()
	}

	// By redirect, by metadata, by a request to another port.
	leads := "HTTP/1.1 307 T\r\nLocation: " + silent.url("/mcp") + "\r\nContent-Length: 0\r\n\r\n"
	target := listen(t, answers(leads))
	l := open(t, Options{Resolve: []string{target.at("mcp.test:80")}}, "http://mcp.test/mcp", false)
	resp, _, err := fetch(t, l, newRequest(t, "POST", "http://mcp.test/mcp", "{}"))
	if err != nil || resp.StatusCode != 307 {
		t.Errorf("redirect: %v, %v", resp, err)
	}
	if err := l.Allow(silent.url("/")); !errors.Is(err, ErrBlocked) {
		t.Errorf("http authorization server: %v", err)
	}
	if err := l.Allow("https://127.0.0.1" + port); err != nil {
		t.Error(err) // in scope, and refused when dialled
	}
	for _, url := range []string{"https://127.0.0.1" + port + "/x", silent.url("/mcp"), "http://mcp.test" + port + "/"} {
		if _, err := l.Do(newRequest(t, "GET", url, "")); !errors.Is(err, ErrBlocked) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if want := []string{"127.0.0.1" + port, "mcp.test" + port}; !slices.Equal(l.Blocked(), want) {
		t.Errorf("blocked %q, want %q", l.Blocked(), want)
	}
	if len(l.Exchanges()) != 1 {
		t.Errorf("%d exchanges, want the redirect alone", len(l.Exchanges()))
	}
	if _, conns := silent.seen(); conns != 0 {
		t.Errorf("%d connections to a host that nobody named", conns)
	}
}

// The operator's word opens the way: by name, or by --resolve for just that
// host and port.
func TestNamedReachesLoopback(t *testing.T) {
	p := listen(t, answers(ok))
	for _, c := range []struct {
		url, resolve string
		named        bool
	}{
		{p.url("/mcp"), "", true},
		{"http://localhost:" + p.port() + "/", "", true},
		{"http://mcp.test/", p.at("mcp.test:80"), false},
		{"http://mcp.test./", p.at("MCP.test:80"), false},
		{"http://b\u00fccher.test/", p.at("xn--bcher-kva.test:80"), false},
		{"http://8.8.8.8/", p.at("8.8.8.8:80"), false},
	} {
		o := Options{}
		if c.resolve != "" {
			o.Resolve = []string{c.resolve}
		}
		l := open(t, o, c.url, c.named)
		if _, body, err := fetch(t, l, newRequest(t, "GET", c.url, "")); err != nil || body != "ok" {
			t.Errorf("%s: %q, %v", c.url, body, err)
		}
	}
}

// A target on loopback that the operator named may have its authorization
// server there too; one elsewhere may not.
func TestAllow(t *testing.T) {
	as := listen(t, answers(ok))
	p := listen(t, answers(ok))
	near := open(t, Options{}, p.url("/mcp"), true)
	if err := near.Allow(as.url("/")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := fetch(t, near, newRequest(t, "GET", as.url("/x"), "")); err != nil {
		t.Error(err)
	}
	far := open(t, Options{}, "https://mcp.test/mcp", true)
	for _, url := range []string{as.url("/"), "http://as.test", "ftp://as.test", "as.test", "https://", "https://0x7f.1/", "https://as.test/\x7f?token=hidden", "http://as.test/?token=hidden"} {
		if err := far.Allow(url); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%q: %v", url, err)
		}
	}
	many := 0
	for i := range 50 {
		if far.Allow("https://as"+string(rune('a'+i/26))+string(rune('a'+i%26))+".test") == nil {
			many++
		}
	}
	if many != maxAllowed {
		t.Errorf("%d hosts allowed, want %d", many, maxAllowed)
	}
}
