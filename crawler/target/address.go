package target

import (
	"fmt"
	"net/netip"
)

// special are the ranges that are not globally reachable, or that carry another
// address which hides where they lead: what they reach depends on where one
// stands, not on whom one asks.
//
// https://www.iana.org/assignments/iana-ipv4-special-registry
// https://www.iana.org/assignments/iana-ipv6-special-registry
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"168.63.129.16/32", // a cloud's own services, seen from inside it
	"::/128", "::1/128", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16",
	"fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
)

var (
	// unicast holds every IPv6 address that is assigned for use on the Internet
	// (RFC 4291, section 2.4, and IANA's registry).
	unicast = netip.MustParsePrefix("2000::/3")

	// nat64 carries an IPv4 address in its last four bytes (RFC 6052). On a
	// network with IPv6 only, every public IPv4 host is reached through it, so
	// the address inside decides.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
)

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		out[i] = netip.MustParsePrefix(t)
	}
	return out
}

// NotPublic says why an address does not lead to the public Internet, "" when
// it does. An IPv4-mapped address is judged as the IPv4 address; a zone is
// ignored, since it would keep an address out of every range.
func NotPublic(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	for _, p := range special {
		if p.Contains(a) {
			return fmt.Sprintf("address %s is in the private or reserved range %s", a, p)
		}
	}
	switch {
	case nat64.Contains(a):
		raw := a.As16()
		if inner := netip.AddrFrom4([4]byte(raw[12:])); NotPublic(inner) != "" {
			return fmt.Sprintf("address %s carries the address %s", a, inner)
		}
	case a.Is6() && !unicast.Contains(a):
		return fmt.Sprintf("address %s is not in %s, the public range", a, unicast)
	}
	return ""
}
