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
	"168.63.129.16/32", // a cloud's own services, seen from inside it
	"::/128", "::1/128", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
)

// unicast holds every IPv6 address that is assigned for use on the internet
// (RFC 4291, section 2.4, and IANA's registry).
var unicast = netip.MustParsePrefix("2000::/3")

// nat64 carries an IPv4 address in its last four bytes (RFC 6052). On a network
// with IPv6 only, every public IPv4 host is reached through it, so the address
// inside decides.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

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
	// A zone would keep an address out of every prefix.
	a = a.Unmap().WithZone("")
	for _, p := range private {
		if p.Contains(a) {
			return fmt.Errorf("address %s is in the private or reserved range %s: %w", a, p, ErrBlocked)
		}
	}
	switch {
	case local64.Contains(a):
		return fmt.Errorf("address %s is in the private range %s: %w", a, local64, ErrBlocked)
	case nat64.Contains(a):
		raw := a.As16()
		if inner := netip.AddrFrom4([4]byte(raw[12:])); publicAddress(inner) != nil {
			return fmt.Errorf("address %s carries the address %s: %w", a, inner, ErrBlocked)
		}
	case a.Is6() && !unicast.Contains(a):
		return fmt.Errorf("address %s is not in %s, the public range: %w", a, unicast, ErrBlocked)
	}
	return nil
}
