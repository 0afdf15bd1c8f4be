package target

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Transports an endpoint can speak, in the registry's spelling.
const (
	StreamableHTTP = "streamable-http"
	SSE            = "sse"
	Stdio          = "stdio"
)

// MaxURL bounds the length of an endpoint URL, in bytes.
const MaxURL = 2048

// ErrUserInfo is returned for a URL that carries credentials.
var ErrUserInfo = errors.New("the URL carries credentials (user information), which is refused")

// Endpoint is one place where a server can be reached: the identity that
// statements, the graph and the census share. Make one with New.
type Endpoint struct {
	Transport string // StreamableHTTP or SSE
	URL       string // canonical, see Canonical
}

// New returns the endpoint for a transport and a URL in any spelling.
func New(transport, raw string) (Endpoint, error) {
	if transport != StreamableHTTP && transport != SSE {
		return Endpoint{}, fmt.Errorf("transport %q is not a remote one (%s or %s)", transport, StreamableHTTP, SSE)
	}
	canonical, err := Canonical(raw)
	if err != nil {
		return Endpoint{}, err
	}
	return Endpoint{Transport: transport, URL: canonical}, nil
}

// Digest is SHA-256 over transport, a line feed and the canonical URL.
func (e Endpoint) Digest() [sha256.Size]byte {
	return sha256.Sum256([]byte(e.Transport + "\n" + e.URL))
}

var idEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// ID is the first 16 bytes of Digest in lower-case base32: 26 characters.
func (e Endpoint) ID() string {
	sum := e.Digest()
	return idEncoding.EncodeToString(sum[:16])
}

// Host is the host without port and brackets, in canonical form.
func (e Endpoint) Host() string {
	u, err := url.Parse(e.URL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Canonical returns the one spelling of an http(s) URL that lustrum compares
// and signs: scheme and host in lower case, IDN in punycode, one trailing dot
// of the host dropped, IPv6 in its short form, default port dropped, dot
// segments resolved, empty path as "/", fragment dropped, query and trailing
// slash kept.
func Canonical(raw string) (string, error) {
	u, err := parse(raw)
	if err != nil {
		return "", err
	}
	if u.User != nil {
		return "", ErrUserInfo
	}
	return u.String(), nil
}

// parse reads and normalises a URL; user information stays for the caller to
// judge.
func parse(raw string) (*url.URL, error) {
	if len(raw) > MaxURL {
		return nil, fmt.Errorf("the URL is %d bytes long, over the bound of %d", len(raw), MaxURL)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("not a URL: %w", errors.Unwrap(err))
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("scheme %q is neither http nor https", u.Scheme)
	}
	host, err := canonicalHost(u.Hostname())
	if err != nil {
		return nil, err
	}
	port, err := canonicalPort(u.Port(), u.Scheme)
	if err != nil {
		return nil, err
	}
	u.Host = joinHost(host, port)
	u.Fragment, u.RawFragment = "", ""
	u.Path, u.RawPath = cleanPath(u)
	u.ForceQuery = false
	return u, nil
}

func canonicalHost(host string) (string, error) {
	if host == "" {
		return "", errors.New("the URL names no host")
	}
	if strings.ContainsAny(host, "*{}") {
		return "", fmt.Errorf("host %q holds a wildcard or a template variable", host)
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return "", fmt.Errorf("host %q has a zone, which names an interface of one machine only", host)
		}
		return addr.String(), nil
	}
	if strings.Contains(host, ":") {
		return "", fmt.Errorf("host %q is not an IPv6 address", host)
	}
	ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil || ascii == "" {
		// Names with an underscore are outside IDNA but exist in DNS.
		if plain := strings.ToLower(strings.TrimSuffix(host, ".")); isPlainHost(plain) {
			return plain, nil
		}
		return "", fmt.Errorf("host %q is not a valid name", host)
	}
	return ascii, nil
}

func isPlainHost(host string) bool {
	if host == "" || len(host) > 253 {
		return false
	}
	for _, label := range strings.Split(host, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
	}
	return strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

func canonicalPort(port, scheme string) (string, error) {
	if port == "" {
		return "", nil
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < 1 || n > 65535 {
		return "", fmt.Errorf("port %q is not between 1 and 65535", port)
	}
	if (scheme == "https" && n == 443) || (scheme == "http" && n == 80) {
		return "", nil
	}
	return strconv.Itoa(n), nil
}

func joinHost(host, port string) string {
	if port != "" {
		return net.JoinHostPort(host, port)
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// cleanPath resolves dot segments on the escaped path, so that an escaped
// slash stays what it is.
func cleanPath(u *url.URL) (decoded, raw string) {
	escaped := u.EscapedPath()
	if escaped == "" {
		return "/", ""
	}
	cleaned := escaped
	if strings.Contains(escaped, "/.") {
		cleaned = path.Clean(escaped)
		last := escaped[strings.LastIndexByte(escaped, '/')+1:]
		if (last == "" || last == "." || last == "..") && cleaned != "/" {
			cleaned += "/"
		}
	}
	plain, err := url.PathUnescape(cleaned)
	if err != nil {
		return u.Path, u.RawPath
	}
	return plain, cleaned
}
