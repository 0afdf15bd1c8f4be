package target

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A variable stands in braces by the schema; publishers also write ${x},
// {{x}} and <x>, or escape the braces.
var template = regexp.MustCompile(`(?i)(?:\{|%7b)+\s*([^{}%<>]*?)\s*(?:\}|%7d)+|<([^<>]*)>`)

var plainVariable = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// TemplateVariable returns the first variable in a URL, quoted and cut to 64
// bytes where it is no plain name. A brace without its partner is a template
// too: no URL holds one unescaped.
func TemplateVariable(raw string) (name string, ok bool) {
	m := template.FindStringSubmatch(raw)
	switch {
	case m != nil:
		name = m[1] + m[2]
	case !strings.ContainsAny(raw, "{}"):
		return "", false
	}
	if !plainVariable.MatchString(name) {
		name = fmt.Sprintf("%q", strings.ToValidUTF8(name[:min(len(name), 64)], ""))
	}
	return name, true
}

// Names of query parameters that carry a credential.
var secretNames = []string{
	"api_key", "apikey", "api-key", "key", "access_key", "access_token", "accesstoken", "auth_token",
	"token", "secret", "client_secret", "password", "passwd", "pwd", "authorization", "bearer",
}

// SecretParameter names the first parameter of a URL that carries a credential,
// "" when none does.
func SecretParameter(raw string) string {
	_, query, _ := strings.Cut(raw, "?")
	query, _, _ = strings.Cut(query, "#")
	for _, pair := range strings.FieldsFunc(query, func(c rune) bool { return c == '&' || c == ';' }) {
		key, value, _ := strings.Cut(pair, "=")
		if value != "" && isSecretName(key) {
			return key
		}
	}
	return ""
}

// WithoutSecrets is a URL without the parameters that carry a credential, and
// the names of those.
func WithoutSecrets(raw string) (string, []string) {
	head, fragment, fragmented := strings.Cut(raw, "#")
	head, query, _ := strings.Cut(head, "?")
	var kept, gone []string
	for pair := range strings.SplitSeq(query, "&") {
		if key, value, _ := strings.Cut(pair, "="); value != "" && isSecretName(key) {
			gone = append(gone, key)
			continue
		}
		kept = append(kept, pair)
	}
	if len(gone) == 0 {
		return raw, nil
	}
	if rest := strings.Join(kept, "&"); rest != "" {
		head += "?" + rest
	}
	if fragmented {
		head += "#" + fragment
	}
	return head, gone
}

// isSecretName knows the longer names under any prefix too: exaApiKey.
func isSecretName(key string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(secretNames, func(name string) bool {
		return key == name || (len(name) > len("pwd") && strings.HasSuffix(key, name))
	})
}
