package target

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of a targets file.
const (
	MaxTargetsFile = 4 << 20 // bytes
	MaxTargets     = 50_000  // different targets
	maxLine        = 2 * MaxURL
)

// Target is one origin that an operator named, with what was named on it.
type Target struct {
	Scheme string // http or https
	Host   string // canonical, IPv6 without brackets
	Port   int    // 1-65535, the scheme's default one filled in

	// Paths are the paths that URLs named, each with its query, canonical, in
	// the order of first naming. A bare host or a URL without a path names
	// none; "/" is a path when it is written.
	Paths []string

	// Sources say where the target was named, as "file:line".
	Sources []string

	// UserInfo is set when a line carried credentials. They are dropped: the
	// host is what stands after the last "@", and nothing is kept of the rest.
	UserInfo bool
}

// Origin is scheme, host and port, the default port left out.
func (t Target) Origin() string {
	return parts{scheme: t.Scheme, host: t.Host, port: t.Port}.origin()
}

// URL is the canonical URL of a path (with query) on the target.
func (t Target) URL(path string) (string, error) {
	if !strings.HasPrefix(path, "/") {
		return "", fmt.Errorf("path %q does not start with a slash", path)
	}
	return Canonical(t.Origin() + path)
}

// ParseTarget reads one line of a targets file: a host name, host:port, an
// address (IPv6 with or without brackets) or an http(s) URL. A line without a
// scheme is https. What names more than one host is an error: a range, a
// wildcard, a template. Errors mask user information.
func ParseTarget(line string) (Target, error) {
	line = strings.TrimSpace(line)
	t, err := parseTarget(line)
	if err != nil {
		return Target{}, fmt.Errorf("target %q: %w", Mask(line), err)
	}
	return t, nil
}

func parseTarget(line string) (Target, error) {
	if err := refuseMany(line); err != nil {
		return Target{}, err
	}
	raw := line
	scheme, _, isURL := strings.Cut(line, "://")
	switch {
	case isURL:
		if s := strings.ToLower(scheme); s != "http" && s != "https" {
			return Target{}, errors.New("the scheme is neither http nor https; give an http(s) URL or a host name")
		}
	case strings.ContainsAny(line, "/?#"):
		return Target{}, errors.New("a path needs a full URL; put https:// before it")
	default:
		if addr, err := netip.ParseAddr(line); err == nil && addr.Is6() {
			raw = "[" + line + "]"
		} else if strings.Count(line, ":") > 1 && !strings.ContainsAny(line, "[@") {
			return Target{}, errors.New("more than one colon but no IPv6 address; put an IPv6 address in brackets, as in [2001:db8::1]:8443")
		}
		raw = "https://" + raw
	}
	p, err := parse(raw)
	if err != nil {
		return Target{}, err
	}
	t := Target{Scheme: p.scheme, Host: p.host, Port: p.port, UserInfo: p.userinfo}
	if !p.bare || p.query != "" {
		t.Paths = []string{p.path + p.query}
	}
	return t, nil
}

// refuseMany tells a line that names several hosts, or none, from one that
// names one.
func refuseMany(line string) error {
	switch {
	case line == "":
		return errors.New("the line is empty")
	case len(line) > maxLine:
		return fmt.Errorf("the line is %d bytes long, over the bound of %d", len(line), maxLine)
	case !utf8.ValidString(line):
		return errors.New("the line is not UTF-8 text")
	case strings.ContainsAny(line, " \t"):
		return errors.New("more than one word; put one target on a line")
	case strings.ContainsAny(line, "{}"):
		return errors.New("a template variable stands where a value belongs; write the value")
	}
	_, authority, rest := split(line)
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	if strings.Contains(host, "*") {
		return errors.New("a wildcard names more than one host; list each host")
	}
	// 10.0.0.0/24 and [2001:db8::]/32, also behind a scheme, where the length
	// would be read as a path; 10.0.0.1-10.0.0.9 and 10.0.0.1-9, since no
	// address holds a hyphen.
	bits := strings.TrimPrefix(rest, "/")
	first, _, hyphen := strings.Cut(host, "-")
	prefix := bits != "" && bits != rest && strings.Trim(bits, "0123456789") == ""
	if (prefix && isAddress(host)) || (hyphen && isAddress(first)) {
		return errors.New("a range of addresses names more than one host; list each address")
	}
	return nil
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}

// split cuts a URL, or a line without a scheme, around its authority.
func split(s string) (scheme, authority, rest string) {
	if i := strings.Index(s, "://"); i >= 0 {
		scheme, s = s[:i+len("://")], s[i+len("://"):]
	}
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		return scheme, s[:i], s[i:]
	}
	return scheme, s, ""
}

// Mask replaces the user information in a URL or a target line by "***", for
// errors and logs. Where the line cannot be read as a URL, everything between
// the scheme and the last "@" goes.
func Mask(s string) string {
	scheme, authority, rest := split(s)
	raw := s
	if scheme == "" {
		raw = "https://" + s
	}
	if _, err := parse(raw); err != nil {
		authority, rest = authority+rest, ""
	}
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return s
	}
	return scheme + "***" + authority[at:] + rest
}

// ReadTargets reads a targets file: one target a line as ParseTarget reads it,
// blank lines, and comments from a "#" at the start of a line or after a
// blank. A byte order mark and CRLF are fine. Lines that name one origin are
// merged into one Target with all their paths.
//
// The first line that cannot be read stops it: nothing may be contacted on the
// strength of a list that is partly understood. Errors start with "name:line".
func ReadTargets(name string, r io.Reader) ([]Target, error) {
	limited := &io.LimitedReader{R: r, N: MaxTargetsFile + 1}
	scanner := bufio.NewScanner(limited)
	scanner.Buffer(make([]byte, 0, 4096), maxLine+4096)
	var targets []Target
	index := map[string]int{}
	n := 0
	for scanner.Scan() {
		n++
		text := scanner.Text()
		if n == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		text = strings.TrimSpace(uncomment(text))
		if text == "" {
			continue
		}
		t, err := ParseTarget(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		t.Sources = []string{fmt.Sprintf("%s:%d", name, n)}
		if i, seen := index[t.Origin()]; seen {
			targets[i].merge(t)
			continue
		}
		if len(targets) == MaxTargets {
			return nil, fmt.Errorf("%s:%d: more than %d targets; split the file", name, n, MaxTargets)
		}
		index[t.Origin()] = len(targets)
		targets = append(targets, t)
	}
	switch err := scanner.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s:%d: the line is over %d bytes long; put one target on a line", name, n+1, maxLine)
	case err != nil:
		return nil, fmt.Errorf("%s: reading targets: %w", name, err)
	case limited.N == 0:
		return nil, fmt.Errorf("%s: the file is over %d bytes long; split it", name, MaxTargetsFile)
	}
	return targets, nil
}

func (t *Target) merge(other Target) {
	for _, path := range other.Paths {
		if !slices.Contains(t.Paths, path) {
			t.Paths = append(t.Paths, path)
		}
	}
	t.Sources = append(t.Sources, other.Sources...)
	t.UserInfo = t.UserInfo || other.UserInfo
}

// uncomment cuts a line at a "#" that starts it or follows a blank; a "#"
// inside a URL starts its fragment.
func uncomment(line string) string {
	for i := 0; i < len(line); i++ {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i]
		}
	}
	return line
}

// Merge joins the targets of one origin, with all their paths and sources, in
// the order of first naming.
func Merge(targets []Target) []Target {
	var out []Target
	index := map[string]int{}
	for _, t := range targets {
		if i, seen := index[t.Origin()]; seen {
			out[i].merge(t)
			continue
		}
		index[t.Origin()] = len(out)
		t.Paths, t.Sources = slices.Clone(t.Paths), slices.Clone(t.Sources)
		out = append(out, t)
	}
	return out
}
