package registry

import (
	"cmp"
	"strings"
)

// CompareVersions orders versions as semver.org does, made total so that it
// also orders what registries really hold: a leading "v" and build metadata
// count for nothing, numbers compare as numbers of any length, missing ones
// are 0, a word is lower than a number. Different spellings of one version are
// ordered as text.
func CompareVersions(a, b string) int {
	coreA, preA := splitVersion(a)
	coreB, preB := splitVersion(b)
	for i := range max(len(coreA), len(coreB)) {
		if c := compareCore(at(coreA, i), at(coreB, i)); c != 0 {
			return c
		}
	}
	if c := comparePre(preA, preB); c != 0 {
		return c
	}
	return cmp.Compare(a, b)
}

func splitVersion(v string) (core, pre []string) {
	v, _, _ = strings.Cut(strings.TrimSpace(v), "+")
	if len(v) > 1 && (v[0] == 'v' || v[0] == 'V') && isNumber(v[1:2]) {
		v = v[1:]
	}
	v, rest, found := strings.Cut(v, "-")
	if found {
		pre = strings.Split(rest, ".")
	}
	return strings.Split(v, "."), pre
}

func at(identifiers []string, i int) string {
	if i < len(identifiers) {
		return identifiers[i]
	}
	return "0"
}

func compareCore(a, b string) int {
	numA, numB := isNumber(a), isNumber(b)
	switch {
	case numA && numB:
		return compareNumbers(a, b)
	case numA:
		return 1
	case numB:
		return -1
	}
	return cmp.Compare(a, b)
}

// comparePre follows https://semver.org/#spec-item-11: no pre-release is
// higher than any, numbers are lower than words, more fields are higher.
func comparePre(a, b []string) int {
	if (len(a) == 0) != (len(b) == 0) {
		return cmp.Compare(len(b), len(a))
	}
	for i := range min(len(a), len(b)) {
		numA, numB := isNumber(a[i]), isNumber(b[i])
		c := 0
		switch {
		case numA && numB:
			c = compareNumbers(a[i], b[i])
		case numA:
			c = -1
		case numB:
			c = 1
		default:
			c = cmp.Compare(a[i], b[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return cmp.Compare(a, b)
}
