package wire

import (
	"fmt"
	"net/netip"
)

// private are the ranges that a host which nobody named may not lead to: what
// they reach depends on where the census runs, not on whom it asks
// (IANA special-purpose registries, RFC 6890 and its successors).
var private = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"::/128", "::1/128", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
)

// embedding are IPv6 ranges that carry an IPv4 address, with the byte where it
// starts. Whoever may not reach the IPv4 address may not reach these.
var embedding = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, // NAT64, RFC 6052
	{netip.MustParsePrefix("2002::/16"), 2},     // 6to4, RFC 3056
	{netip.MustParsePrefix("::/96"), 12},        // IPv4-compatible, RFC 4291
}

// local64 is NAT64 for local use (RFC 8215), whose layout is the operator's
// own: nothing can be said of where it leads.
var local64 = netip.MustParsePrefix("64:ff9b:1::/48")

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		out[i] = netip.MustParsePrefix(t)
	}
	return out
}

// publicAddress returns an error when an address is one that only a named host
// may lead to.
func publicAddress(a netip.Addr) error {
	a = a.Unmap()
	for _, p := range private {
		if p.Contains(a) {
			return fmt.Errorf("address %s is in the private or reserved range %s: %w", a, p, ErrBlocked)
		}
	}
	if local64.Contains(a) {
		return fmt.Errorf("address %s is in the private range %s: %w", a, local64, ErrBlocked)
	}
	if a.Is6() {
		raw := a.As16()
		for _, e := range embedding {
			if e.prefix.Contains(a) {
				inner := netip.AddrFrom4([4]byte(raw[e.at : e.at+4]))
				if err := publicAddress(inner); err != nil {
					return fmt.Errorf("address %s carries the address %s: %w", a, inner, ErrBlocked)
				}
			}
		}
	}
	return nil
}
