package target

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// canonicalHost returns a host in lower case, in punycode, without its one
// trailing dot; an address in its short form.
func canonicalHost(host string, bracketed bool) (string, error) {
	if host == "" {
		return "", errors.New("the URL names no host")
	}
	if bracketed || strings.Contains(host, ":") {
		return canonicalIPv6(host)
	}
	if strings.ContainsAny(host, "*{}") {
		return "", fmt.Errorf("host %q holds a wildcard or a template variable; name one host", host)
	}
	name, err := asciiName(host)
	if err != nil {
		return "", fmt.Errorf("host %q is not a valid name", host)
	}
	if !endsInNumber(name) {
		return name, nil
	}
	// No top-level domain is a number: such a host is an IPv4 address or a
	// spelling of one that only some resolvers take for an address, which
	// would be one host with two identities.
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return "", fmt.Errorf("host %q ends in a number but is not an address in dotted form (192.0.2.1)", host)
	}
	return addr.String(), nil
}

func canonicalIPv6(host string) (string, error) {
	addr, err := netip.ParseAddr(host)
	if err != nil || !addr.Is6() {
		return "", fmt.Errorf("host %q is not an IPv6 address", host)
	}
	if addr.Zone() != "" {
		return "", fmt.Errorf("host %q has a zone, which names an interface of one machine only", host)
	}
	return addr.String(), nil
}

// asciiName returns a host name in punycode and lower case without its one
// trailing dot. Some mappings end in a name that is not allowed itself; those
// are errors, so that a name has one stable form.
func asciiName(host string) (string, error) {
	if !utf8.ValidString(host) {
		return "", errors.New("not UTF-8")
	}
	name, err := mapName(host)
	if err != nil {
		return "", err
	}
	// Mapping turns other full stops into dots, so that only now one trailing
	// dot is certain to be seen.
	name = strings.TrimSuffix(name, ".")
	if len(name) > 253 {
		return "", errors.New("over 253 bytes")
	}
	for _, label := range strings.Split(name, ".") {
		if len(label) > 63 || !isPlainLabel(label) {
			return "", fmt.Errorf("label %q", label)
		}
	}
	if again, err := mapName(name); err != nil || again != name {
		return "", fmt.Errorf("%q is no stable form", name)
	}
	return name, nil
}

// mapName maps a name by UTS #46; label by label where the whole is outside
// IDNA but exists in DNS: with an underscore, or with hyphens in third and
// fourth place.
func mapName(host string) (string, error) {
	if mapped, err := idna.Lookup.ToASCII(host); err == nil {
		return mapped, nil
	}
	labels := strings.Split(host, ".")
	for i, label := range labels {
		var err error
		if labels[i], err = asciiLabel(label); err != nil {
			return "", err
		}
	}
	return strings.Join(labels, "."), nil
}

func asciiLabel(label string) (string, error) {
	if mapped, err := idna.Lookup.ToASCII(label); err == nil {
		return mapped, nil
	}
	plain := strings.ToLower(label)
	if isPlainLabel(plain) && !strings.HasPrefix(plain, "xn--") {
		return plain, nil
	}
	if plain == "" {
		return "", nil
	}
	return "", fmt.Errorf("label %q", label)
}

func isPlainLabel(label string) bool {
	return label != "" && strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// endsInNumber is the rule by which https://url.spec.whatwg.org/#ends-in-a-number-checker
// tells addresses from names.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	return strings.HasPrefix(last, "0x") && strings.Trim(last[2:], "0123456789abcdef") == ""
}
