package target

import (
	"net/netip"
	"strconv"
	"strings"
)

// IsLocal reports whether a host, judged by its spelling alone, is a name or
// address that does not lead to the public Internet: an address that the IANA
// special-purpose registries do not call globally reachable, in any spelling
// that a resolver may take for one (decimal, hexadecimal, octal, shortened,
// IPv4-mapped, NAT64, 6to4, Teredo), a metadata service, localhost and its kin,
// or a name of one label. Nothing is resolved: an address behind a public name
// is judged when it is dialled.
//
// https://www.iana.org/assignments/iana-ipv4-special-registry
// https://www.iana.org/assignments/iana-ipv6-special-registry
func IsLocal(host string) bool {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if addr, err := netip.ParseAddr(host); err == nil {
		return NotPublic(addr) != ""
	}
	// A host that is no name may still be a spelling of an address.
	name, err := asciiName(host)
	if err != nil {
		return false
	}
	if addr, ok := looseIPv4(name); ok {
		return NotPublic(addr) != ""
	}
	if !strings.Contains(name, ".") {
		return true
	}
	for _, suffix := range localSuffixes {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// Names under these are kept for one machine or one network: RFC 6761, RFC
// 6762, RFC 8375 and, for internal, ICANN board resolution 2024.07.29.06.
// Cloud metadata services (metadata.google.internal) are among them.
var localSuffixes = []string{".localhost", ".localdomain", ".local", ".internal", ".home.arpa", ".lan"}

// looseIPv4 reads the spellings of inet_aton: one to four numbers in decimal,
// octal (leading 0) or hexadecimal (leading 0x), the last one filling what is
// left.
func looseIPv4(host string) (netip.Addr, bool) {
	fields := strings.Split(host, ".")
	if len(fields) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, field := range fields {
		bits := 8
		if i == len(fields)-1 {
			bits = 8 * (5 - len(fields))
		}
		n, ok := looseNumber(field, bits)
		if !ok {
			return netip.Addr{}, false
		}
		value = value<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

func looseNumber(field string, bits int) (uint64, bool) {
	base := 10
	switch {
	case strings.HasPrefix(field, "0x"):
		field, base = field[2:], 16
		if field == "" {
			return 0, true
		}
	case len(field) > 1 && field[0] == '0':
		field, base = field[1:], 8
	}
	n, err := strconv.ParseUint(field, base, bits)
	return n, err == nil
}
