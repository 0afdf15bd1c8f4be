package oauth

import (
	"fmt"
	"strings"
)

// Bounds of what is read from WWW-Authenticate headers.
const (
	maxHeader     = 64 << 10 // bytes of all header values together
	maxChallenges = 64
	maxParams     = 64 // of one challenge
	maxClip       = 100
)

// Challenge is one challenge of a WWW-Authenticate header.
type Challenge struct {
	Scheme  string // as given; compared without case
	Token68 string // the form without parameters, "" when there is none
	Params  []Param
}

// Param is a parameter of a challenge. Of one that is given twice the first
// is kept.
type Param struct {
	Name  string // lower case
	Value string // quoting undone
}

// Is reports whether the challenge is of a scheme.
func (c Challenge) Is(scheme string) bool { return strings.EqualFold(c.Scheme, scheme) }

// Param returns the value of a parameter, named in lower case.
func (c Challenge) Param(name string) (string, bool) {
	for _, p := range c.Params {
		if p.Name == name {
			return p.Value, true
		}
	}
	return "", false
}

// Fault is a deviation that was met while reading.
type Fault struct {
	Text string
	// Broken says that readers may come to different results, or to none. The
	// others are deviations with one plain reading.
	Broken bool
}

func (f Fault) String() string { return f.Text }

// ParseChallenges reads the values of all WWW-Authenticate headers of an
// answer (RFC 9110, sections 11.2 to 11.6.1). Several challenges in one value,
// several values and a list that continues from one value to the next are the
// same to it. What breaks the grammar is kept where its meaning is plain, with
// a fault, and left out where it is not.
func ParseChallenges(header []string) ([]Challenge, []Fault) {
	var p parser
	total := 0
	for _, value := range header {
		if total += len(value); total > maxHeader {
			p.broken("over %d bytes of challenges, the rest is not read", maxHeader)
			break
		}
		p.s, p.open = value, false
		p.value()
	}
	return p.found, p.faults
}

// parser reads one header value after the other.
type parser struct {
	s      string // what is left of the value
	found  []Challenge
	faults []Fault
	open   bool // a parameter was read and no comma since
	full   bool
}

func (p *parser) warn(format string, args ...any) {
	if len(p.faults) < maxParams {
		p.faults = append(p.faults, Fault{Text: fmt.Sprintf(format, args...)})
	}
}

func (p *parser) broken(format string, args ...any) {
	if len(p.faults) < maxParams {
		p.faults = append(p.faults, Fault{Text: fmt.Sprintf(format, args...), Broken: true})
	}
}

func (p *parser) value() {
	for !p.full {
		p.space()
		if p.s == "" {
			return
		}
		if p.s[0] == ',' {
			p.s, p.open = p.s[1:], false
			continue
		}
		name := p.token()
		if name == "" {
			p.broken("unexpected %q", clip(p.s))
			p.skip()
			continue
		}
		if p.open {
			p.broken("no comma before %q", clip(name))
		}
		rest := strings.TrimLeft(p.s, " \t")
		if strings.HasPrefix(rest, "=") {
			p.s = rest[1:]
			p.param(name)
			continue
		}
		p.challenge(name)
	}
}

// challenge begins a new one.
func (p *parser) challenge(scheme string) {
	if len(p.found) == maxChallenges {
		p.broken("over %d challenges, the rest is not read", maxChallenges)
		p.full = true
		return
	}
	c := Challenge{Scheme: scheme}
	if rest := strings.TrimLeft(p.s, " \t"); rest != p.s {
		// token68 is told from a parameter by what follows its padding.
		end := 0
		for end < len(rest) && isToken68(rest[end]) {
			end++
		}
		padded := end
		for padded > 0 && padded < len(rest) && rest[padded] == '=' {
			padded++
		}
		after := strings.TrimLeft(rest[padded:], " \t")
		if end > 0 && (after == "" || after[0] == ',') {
			c.Token68, p.s = rest[:padded], after
		}
	}
	p.found, p.open = append(p.found, c), false
}

// param reads the value of a parameter of the challenge under way.
func (p *parser) param(name string) {
	name = strings.ToLower(name)
	p.space()
	var value string
	switch {
	case strings.HasPrefix(p.s, `"`):
		var ok bool
		if value, ok = p.quoted(); !ok {
			p.broken("unterminated string of %q", clip(name))
			return
		}
	case strings.HasPrefix(p.s, "'") && strings.Contains(p.s[1:], "'"):
		value, p.s, _ = strings.Cut(p.s[1:], "'")
		p.warn("single quotes are not quoting: %s", clip(name))
	default:
		end := strings.IndexAny(p.s, ", \t")
		if end < 0 {
			end = len(p.s)
		}
		value, p.s = p.s[:end], p.s[end:]
		if value == "" || strings.IndexFunc(value, func(r rune) bool { return r > 0x7e || !isToken(byte(r)) }) >= 0 {
			p.warn("unquoted value of %q", clip(name))
		}
	}
	p.open = true
	if len(p.found) == 0 {
		p.broken("parameter %q before any scheme", clip(name))
		return
	}
	c := &p.found[len(p.found)-1]
	switch _, twice := c.Param(name); {
	case c.Token68 != "":
		p.broken("parameter %q after a token", clip(name))
	case twice:
		p.broken("parameter twice: %s", clip(name))
	case len(c.Params) == maxParams:
		p.broken("over %d parameters, the rest is not read", maxParams)
		p.full = true
	default:
		c.Params = append(c.Params, Param{Name: name, Value: value})
	}
}

// quoted reads a quoted-string (RFC 9110, section 5.6.4). One without an end
// takes the rest of the value with it.
func (p *parser) quoted() (string, bool) {
	var b strings.Builder
	for i := 1; i < len(p.s); i++ {
		switch p.s[i] {
		case '"':
			p.s = p.s[i+1:]
			return b.String(), true
		case '\\':
			if i++; i == len(p.s) {
				break
			}
			b.WriteByte(p.s[i])
		default:
			b.WriteByte(p.s[i])
		}
	}
	p.s = ""
	return "", false
}

func (p *parser) token() string {
	end := 0
	for end < len(p.s) && isToken(p.s[end]) {
		end++
	}
	token := p.s[:end]
	p.s = p.s[end:]
	return token
}

func (p *parser) space() { p.s = strings.TrimLeft(p.s, " \t") }

// skip leaves out what is not understood, up to the next comma.
func (p *parser) skip() {
	if i := strings.IndexByte(p.s, ','); i >= 0 {
		p.s = p.s[i:]
		return
	}
	p.s = ""
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func isToken(c byte) bool { return alphanumeric(c) || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0 }

func isToken68(c byte) bool { return alphanumeric(c) || strings.IndexByte("-._~+/", c) >= 0 }

// clip shortens what a server wrote. Escaping is left to where it is shown.
func clip(s string) string {
	if len(s) <= maxClip {
		return strings.ToValidUTF8(s, "\ufffd")
	}
	return strings.ToValidUTF8(s[:maxClip], "") + "…"
}
