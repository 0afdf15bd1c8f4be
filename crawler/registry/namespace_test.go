package registry

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseNamespace(t *testing.T) {
	for _, ns := range []string{
		"io.github.example", "io.github.Example", "ai.smithery", "com.example", "uk.co.example", "com.example.team",
		"io.github.example.team", "com.amazonaws", "io.modelcontextprotocol.anonymous", "test.example", "com.example/",
	} {
		if got, err := ParseNamespace(ns); err != nil || got.String() != strings.TrimSuffix(ns, "/") {
			t.Errorf("%q: %q, %v", ns, got, err)
		}
	}
	for _, c := range []struct{ ns, why string }{
		{"io.github", "more than one publisher"},
		{"IO.GitHub", "more than one publisher"},
		{"com", "more than one publisher"},
		{"io", "more than one publisher"},
		{"uk.co", "more than one publisher"},
		{"com.amazonaws.s3", "more than one publisher"},
		{"app.vercel", "more than one publisher"},
		{"", "empty"},
		{"/", "empty"},
		{".", "empty label"},
		{"com..example", "empty label"},
		{"com.example.", "empty label"},
		{"com.example/tool", "slash"},
		{"com.example*", "characters"},
		{"com.exa mple", "characters"},
		{"com.bücher", "characters"},
		{"com." + strings.Repeat("a", 300), "bound"},
	} {
		if got, err := ParseNamespace(c.ns); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%q: %q, %v; want an error with %q", c.ns, got, err, c.why)
		}
	}
	if _, err := ParseNamespace("io.github"); !strings.Contains(err.Error(), "io.github.example") {
		t.Errorf("the error does not say what to give instead: %v", err)
	}
}

func TestContains(t *testing.T) {
	for _, c := range []struct {
		ns, name string
		want     bool
	}{
		{"io.github.acme", "io.github.acme/tool", true},
		{"io.github.acme", "io.github.Acme/tool", false},
		{"io.github.acme", "io.github.acme-evil/tool", false},
		{"io.github.acme", "io.github.acme.extra/tool", false},
		{"io.github.acme", "io.github.acme", false},
		{"com.example", "com.example/tool", true},
		{"com.example", "com.example.team/tool", true},
		{"com.example", "com.examples/tool", false},
		{"com.example", "com/example", false},
		// amazonaws.com is one owner's, s3.amazonaws.com lends names.
		{"com.amazonaws", "com.amazonaws.docs/tool", true},
		{"com.amazonaws", "com.amazonaws.s3.bucket/tool", false},
		// No one runs .example under the list's rules.
		{"example.acme", "example.acme.team/tool", false},
	} {
		ns, err := ParseNamespace(c.ns)
		if err != nil {
			t.Fatal(err)
		}
		if got := ns.Contains(c.name); got != c.want {
			t.Errorf("%q contains %q: %v", c.ns, c.name, got)
		}
	}
	if (Namespace{}).Contains("/tool") {
		t.Error("the zero namespace contains something")
	}
}

func TestCompareVersions(t *testing.T) {
	// The order of https://semver.org/#spec-item-11 and of what registries
	// hold beside it.
	ordered := []string{
		"latest", "0.9.0", "0.10.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta",
		"1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "v1.2", "1.2.1", "1.10.0",
		"2025.9.1", "2025.12.11", "99999999999999999999.0.0", "100000000000000000000.0.0",
	}
	for i, a := range ordered {
		for j, b := range ordered {
			got := CompareVersions(a, b)
			if (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("CompareVersions(%q, %q) = %d", a, b, got)
			}
		}
	}
}

func TestCompareVersionsIsAnOrder(t *testing.T) {
	version := rapid.StringMatching(`v?[0-9a-b.]{0,5}(-[0-9a-b.]{0,4})?(\+[01])?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := version.Draw(t, "a"), version.Draw(t, "b"), version.Draw(t, "c")
		if CompareVersions(a, b) != -CompareVersions(b, a) {
			t.Fatalf("%q and %q are not antisymmetric", a, b)
		}
		if (CompareVersions(a, b) == 0) != (a == b) {
			t.Fatalf("%q and %q are equal", a, b)
		}
		if CompareVersions(a, b) < 0 && CompareVersions(b, c) < 0 && CompareVersions(a, c) >= 0 {
			t.Fatalf("%q < %q < %q is not transitive", a, b, c)
		}
	})
}
