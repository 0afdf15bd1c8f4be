package site

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lustrum-mcp/lustrum/engine/text"
)

// Bounds of text from outside, in characters as shown. The signed statement
// holds the whole.
const (
	maxName = 120
	maxLine = 300
	maxLink = 2048 // bytes of a URL that becomes a link
)

// show makes text from outside fit to be seen: control and invisible
// characters stand as code points, and what is over the bound is cut and its
// length said.
func show(s string, bound int) string {
	cut, at := false, len(s)
	if len(s) > bound {
		n := 0
		for i := range s {
			if n == bound {
				cut, at = true, i
				break
			}
			n++
		}
	}
	shown := strings.TrimSpace(text.Escape(s[:at]))
	if cut {
		shown += "… (" + count(utf8.RuneCountInString(s)) + " characters)"
	}
	return shown
}

func name(s string) string { return show(s, maxName) }
func line(s string) string { return show(s, maxLine) }

// count writes a whole number with a comma at the thousands.
func count[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// points writes a number of points or percent with one decimal.
func points(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

// percent writes a share from 0 to 1 with one decimal.
func percent(x float64) string { return points(x*100) + " %" }

// link returns a URL that may be followed: http or https with a host, no
// credentials, nothing invisible in it. Anything else gives "".
func link(raw string) string {
	if raw == "" || len(raw) > maxLink {
		return ""
	}
	for _, r := range raw {
		if r <= ' ' || r >= 0x7f {
			return ""
		}
	}
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}

// plural is "1 tool", "2 tools".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%s %s", count(n), many)
}
