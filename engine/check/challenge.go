package check

import (
	"net/http"
	"net/url"
	"strings"
)

// challenge is what the WWW-Authenticate headers of an answer say about Bearer
// tokens.
type challenge struct {
	bearer   bool
	metadata string   // resource_metadata, resolved against the endpoint; "" without a usable one
	faults   []string // deviations that did not stop the reading
}

const paramMetadata = "resource_metadata"

// readChallenge reads all challenges of all headers (RFC 9110, section 11.6.1)
// and returns the first Bearer challenge that names metadata, else the first.
func readChallenge(h http.Header, endpoint string) challenge {
	var c challenge
	for _, value := range h.Values("WWW-Authenticate") {
		p := challengeParser{s: value}
		for p.next() {
			if !strings.EqualFold(p.scheme, "Bearer") {
				continue
			}
			c.bearer = true
			if raw := p.params[paramMetadata]; raw != "" && c.metadata == "" {
				c.metadata = resolveMetadata(&p, raw, endpoint)
			}
			c.faults = append(c.faults, p.faults...)
		}
	}
	return c
}

func resolveMetadata(p *challengeParser, raw, endpoint string) string {
	base, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	u, err := url.Parse(raw)
	if err != nil {
		p.faults = append(p.faults, paramMetadata+" is no URL")
		return ""
	}
	if !u.IsAbs() {
		p.faults = append(p.faults, paramMetadata+" is a relative URL")
		u = base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		p.faults = append(p.faults, paramMetadata+" is no http(s) URL")
		return ""
	}
	return u.String()
}

// challengeParser reads one header value, challenge by challenge.
type challengeParser struct {
	s      string
	scheme string
	params map[string]string // names in lower case, the first of each
	faults []string
}

// next reads the next challenge and reports whether there was one.
func (p *challengeParser) next() bool {
	p.scheme, p.params, p.faults = "", map[string]string{}, nil
	p.skip(" \t,")
	if p.scheme = p.token(); p.scheme == "" {
		return false
	}
	for {
		p.skip(" \t,")
		rest := p.s
		name := strings.ToLower(p.token())
		p.skip(" \t")
		if name == "" || !strings.HasPrefix(p.s, "=") {
			if name != "" {
				p.s = rest // the next scheme
			} else if p.s != "" {
				p.s = p.s[1:] // nothing that belongs here
				continue
			}
			return true
		}
		p.s = p.s[1:]
		p.skip(" \t")
		value, ok := p.value(name)
		if !ok {
			continue
		}
		if _, twice := p.params[name]; twice {
			p.faults = append(p.faults, "the parameter "+name+" is given twice")
			continue
		}
		p.params[name] = value
	}
}

func (p *challengeParser) skip(chars string) { p.s = strings.TrimLeft(p.s, chars) }

// token reads a token (RFC 9110, section 5.6.2).
func (p *challengeParser) token() string {
	n := 0
	for n < len(p.s) && (isLetterOrDigit(p.s[n]) || strings.IndexByte("!#$%&'*+-.^_`|~", p.s[n]) >= 0) {
		n++
	}
	token := p.s[:n]
	p.s = p.s[n:]
	return token
}

func isLetterOrDigit(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// value reads a parameter's value: a quoted string, or what stands up to the
// next comma or space.
func (p *challengeParser) value(name string) (string, bool) {
	switch {
	case strings.HasPrefix(p.s, `"`):
		return p.quoted()
	case strings.HasPrefix(p.s, "'"):
		p.faults = append(p.faults, "single quotes are not quoting: "+name)
		inside, rest, ok := strings.Cut(p.s[1:], "'")
		if !ok {
			inside, rest = p.s[1:], ""
		}
		p.s = rest
		return inside, true
	}
	n := strings.IndexAny(p.s, ", \t")
	if n < 0 {
		n = len(p.s)
	}
	value := p.s[:n]
	p.s = p.s[n:]
	if strings.Trim(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") != "" {
		p.faults = append(p.faults, "the value of "+name+" is unquoted")
	}
	return value, true
}

func (p *challengeParser) quoted() (string, bool) {
	var b strings.Builder
	for i := 1; i < len(p.s); i++ {
		switch c := p.s[i]; {
		case c == '\\' && i+1 < len(p.s):
			i++
			b.WriteByte(p.s[i])
		case c == '"':
			p.s = p.s[i+1:]
			return b.String(), true
		default:
			b.WriteByte(c)
		}
	}
	p.s = ""
	p.faults = append(p.faults, "a quoted string is not terminated")
	return "", false
}
