package target

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Transports an endpoint can speak, in the registry's spelling.
const (
	StreamableHTTP = "streamable-http"
	SSE            = "sse"
	Stdio          = "stdio"
)

// MaxURL bounds the length of an endpoint URL, in bytes, as given and in
// canonical form.
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
// of the host dropped, IPv6 in its short form (RFC 5952), default and empty
// port dropped, dot segments resolved (RFC 3986 section 5.2.4), empty path as
// "/", fragment dropped, query and trailing slash kept.
//
// Percent-encodings stay as they were given, so "%2F" never becomes a slash,
// and empty path segments ("//") stay too. Characters that cannot stand in a
// URI are percent-encoded (RFC 3987 section 3.1), so the result is printable
// ASCII. Canonical of a canonical URL is that URL.
//
// A URL with user information gives ErrUserInfo.
func Canonical(raw string) (string, error) {
	p, err := parse(raw)
	if err != nil {
		return "", err
	}
	if p.userinfo {
		return "", ErrUserInfo
	}
	return p.String(), nil
}

// parts is a URL in canonical pieces.
type parts struct {
	scheme   string // http or https
	host     string // no brackets
	port     int    // 1-65535, the default one filled in
	path     string // escaped, starts with "/"
	query    string // with its "?", empty when there is none
	userinfo bool   // the URL carried user information, which is dropped
	bare     bool   // the path was empty
}

func (p parts) origin() string {
	host := p.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if p.port != defaultPort(p.scheme) {
		host = net.JoinHostPort(p.host, strconv.Itoa(p.port))
	}
	return p.scheme + "://" + host
}

func (p parts) String() string { return p.origin() + p.path + p.query }

// parse reads and normalises a URL; user information is dropped and left for
// the caller to judge. No error quotes more of the URL than its scheme, host
// and port, since the rest may hold secrets.
func parse(raw string) (parts, error) {
	if len(raw) > MaxURL {
		return parts{}, fmt.Errorf("the URL is %d bytes long, over the bound of %d", len(raw), MaxURL)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return parts{}, badURL(raw, err)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return parts{}, fmt.Errorf("scheme %q is neither http nor https", u.Scheme)
	}
	p := parts{scheme: u.Scheme, userinfo: u.User != nil}
	if p.host, err = canonicalHost(u.Hostname(), strings.HasPrefix(u.Host, "[")); err != nil {
		return parts{}, err
	}
	if p.port, err = parsePort(u.Port(), u.Scheme); err != nil {
		return parts{}, err
	}
	// RawPath is empty exactly when EscapedPath is the path as given.
	path := u.RawPath
	if path == "" {
		path = u.EscapedPath()
	}
	p.bare = path == ""
	p.path = removeDotSegments(escape(path, isPathByte))
	if u.RawQuery != "" || u.ForceQuery {
		p.query = "?" + escape(u.RawQuery, isVisible)
	}
	if n := len(p.String()); n > MaxURL {
		return parts{}, fmt.Errorf("the URL is %d bytes long once escaped, over the bound of %d", n, MaxURL)
	}
	return p, nil
}

// badURL says why a URL could not be read. The cause that net/url gives can
// quote the authority, which is not repeated when it may hold a password.
func badURL(raw string, err error) error {
	if cause := errors.Unwrap(err); cause != nil && !strings.Contains(raw, "@") {
		return fmt.Errorf("not a URL: %w", cause)
	}
	return errors.New("not a URL: check its user information, host and port")
}

func defaultPort(scheme string) int {
	if scheme == "http" {
		return 80
	}
	return 443
}

func parsePort(port, scheme string) (int, error) {
	if port == "" {
		return defaultPort(scheme), nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("port %q is not between 1 and 65535", port)
	}
	return int(n), nil
}

// removeDotSegments resolves "." and ".." in an escaped path that is empty or
// starts with "/", as RFC 3986 section 5.2.4 does: a segment is removed with
// the slash before it, and empty segments are segments like others.
func removeDotSegments(path string) string {
	if path == "" {
		return "/"
	}
	if !strings.Contains(path, "/.") {
		return path
	}
	segments := strings.Split(path[1:], "/")
	kept := segments[:0]
	for i, segment := range segments {
		last := i == len(segments)-1
		switch segment {
		case ".":
		case "..":
			if len(kept) > 0 {
				kept = kept[:len(kept)-1]
			}
		default:
			kept = append(kept, segment)
			continue
		}
		if last {
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/")
}

// escape percent-encodes the bytes that keep does not name.
func escape(s string, keep func(byte) bool) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; keep(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

// isPathByte names the characters of a path in RFC 3986 (pchar and "/"), the
// "%" of an encoding, and the square brackets that net/url sends as they are.
func isPathByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return strings.IndexByte("-._~!$&'()*+,;=:@/%[]", c) >= 0
}

func isVisible(c byte) bool { return 0x20 < c && c < 0x7f }
