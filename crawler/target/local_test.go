package target

import "testing"

func TestIsLocal(t *testing.T) {
	for _, host := range []string{
		"localhost", "LOCALHOST.", "api.localhost", "localhost.localdomain", "printer.local", "intranet",
		"metadata.google.internal", "nas.home.arpa", "router.lan",
		"127.0.0.1", "127.0.0.2", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
		"100.64.0.1", "100.100.100.200", "0.0.0.0", "192.0.2.1", "198.18.0.1", "224.0.0.1", "255.255.255.255",
		"168.63.129.16",
		"2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1", "017700000001", "0", "0x7f.0.0.0x1", "3232235777",
		"0xa9fea9fe", "１２７.0.0.1", "127。0。0。1", "127.0.0.1.",
		"::1", "[::1]", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "fec0::1",
		"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "::127.0.0.1",
		"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:a9fe:a9fe::1",
		"2001:0:0:0:0:0:80ff:fffe", // Teredo with client 127.0.0.1 inverted
	} {
		if !IsLocal(host) {
			t.Errorf("%q is taken for public", host)
		}
	}
	for _, host := range []string{
		"example.test", "mcp.example.com", "localhost.example.com", "1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1",
		"134744072", // 8.8.8.8
		"2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "127.0.0.1.example.com",
		"xn--bcher-kva.example", "169.254.169.254.nip.io",
	} {
		if IsLocal(host) {
			t.Errorf("%q is taken for local", host)
		}
	}
}

// Every range as RFC 6890 and the security pages of MCP name it, and the
// spellings of https://url.spec.whatwg.org/#concept-ipv4-parser.
func TestEverySpellingOfAPrivateHost(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "10.1.2.3": true, "172.16.0.1": true, "172.31.255.255": true, "192.168.1.1": true, "169.254.169.254": true,
		"100.64.0.1": true, "0.0.0.0": true, "0.1.2.3": true, "::1": true, "::": true, "fc00::1": true, "fd12::1": true, "fe80::1": true, "fe80::1%eth0": true,
		"::ffff:10.0.0.1": true, "64:ff9b::a9fe:a9fe": true, "2002:7f00:1::": true, "2002:808:808::1": true, "::127.0.0.1": true,
		"2130706433": true, "0x7f000001": true, "0x7f.1": true, "127.1": true, "0177.0.0.1": true, "0xA9.0xFE.43518": true, "10.1": true,
		"localhost": true, "LOCALHOST.": true, "db.localhost": true, "metadata.google.internal": true, "printer.local.": true,
		"172.15.0.1": false, "172.32.0.1": false, "100.63.0.1": false, "8.8.8.8": false, "134744072": false, "64:ff9b::808:808": false,
		"2606:4700::1": false, "as.test": false, "internal.as.test": false, "local": true, "": false, "1.2.3.4.5": false, "256.1": false, "127.0.0.256": false,
	} {
		if got := IsLocal(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}
