package registry

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Namespace is the part of server names that one publisher owns: a registrable
// domain, or a name below one, turned round ("io.github.example"). Make one
// with ParseNamespace.
type Namespace struct {
	name   string // as given, case matters
	suffix string // the public suffix behind it
	icann  bool   // the suffix is run under ICANN's rules
}

// String is the namespace as it was given.
func (n Namespace) String() string { return n.name }

// ParseNamespace reads a namespace and refuses one that names more than one
// publisher: turned round it must be a registrable domain or something below
// one, by the public suffix list with its private section
// (https://publicsuffix.org/list/). "io.github.example" is, "io.github" and
// "com" are not. A slash at the end is dropped.
func ParseNamespace(ns string) (Namespace, error) {
	name := strings.TrimSuffix(ns, "/")
	if err := checkNamespace(name); err != nil {
		return Namespace{}, fmt.Errorf("namespace %q: %w", ns, err)
	}
	domain := turnRound(name)
	suffix, icann := publicsuffix.PublicSuffix(domain)
	if suffix == domain {
		return Namespace{}, fmt.Errorf("namespace %q names more than one publisher: anyone can register under %s; give one publisher's namespace, such as %s.example", ns, domain, name)
	}
	return Namespace{name: name, suffix: suffix, icann: icann}, nil
}

func checkNamespace(name string) error {
	switch {
	case name == "":
		return errors.New("it is empty; give a publisher's domain turned round, such as com.example")
	case len(name) > maxName:
		return fmt.Errorf("it is %d bytes long, over the bound of %d", len(name), maxName)
	case strings.Contains(name, "/"):
		return errors.New("it holds a slash; give what stands before the slash of a server's name")
	case strings.Trim(name, namespaceBytes) != "":
		return errors.New("it holds characters other than letters, digits, dots and hyphens; give a publisher's domain turned round, such as com.example")
	case slices.Contains(strings.Split(name, "."), ""):
		return errors.New("it holds an empty label; give a publisher's domain turned round, such as com.example")
	}
	return nil
}

// Contains reports whether a server's name belongs to the namespace: what
// stands before its slash is the namespace itself, or a name below it whose
// owner is the same. The owner of a domain owns its subdomains; below a
// private suffix such as github.io nobody owns more than their own name, and a
// domain may itself lend names below it (s3.amazonaws.com), so a name below
// counts only where both stand under the same ICANN suffix. Case matters.
func (n Namespace) Contains(name string) bool {
	ns, _, ok := strings.Cut(name, "/")
	if !ok || n.name == "" {
		return false
	}
	if ns == n.name {
		return true
	}
	if !n.icann || !strings.HasPrefix(ns, n.name+".") {
		return false
	}
	suffix, _ := publicsuffix.PublicSuffix(turnRound(ns))
	return suffix == n.suffix
}

// differsInCase reports whether a name would belong to the namespace if case
// did not matter.
func (n Namespace) differsInCase(name string) bool {
	lower := n
	lower.name = strings.ToLower(n.name)
	return !n.Contains(name) && lower.Contains(strings.ToLower(name))
}

func turnRound(name string) string {
	labels := strings.Split(strings.ToLower(name), ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".")
}

const (
	letters        = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	namespaceBytes = letters + ".-"
	maxName        = 200 // bytes, of a server's name by the schema
)

// validName is the schema's rule for a server's name:
// ^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$, 3 to 200 bytes.
func validName(name string) bool {
	ns, rest, ok := strings.Cut(name, "/")
	return ok && len(name) <= maxName && ns != "" && rest != "" &&
		strings.Trim(ns, namespaceBytes) == "" && strings.Trim(rest, namespaceBytes+"_") == ""
}
