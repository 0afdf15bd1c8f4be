package oauth

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func lines[T any](t testing.TB, name string) []T {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "field", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []T
	for s := bufio.NewScanner(bytes.NewReader(raw)); s.Scan(); {
		var v T
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

type challengeCase struct {
	H       []string
	URL     *string
	Base    string
	Warn    string
	Fail    string
	Blocked string
}

// challenges.jsonl: a warning is a fault with one plain reading, a fail one
// that readers disagree on; without either there is no fault at all.
func TestFieldChallenges(t *testing.T) {
	cases := lines[challengeCase](t, "challenges.jsonl")
	if len(cases) != 13 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(strings.Join(c.H, " & "), func(t *testing.T) {
			challenges, faults := ParseChallenges(c.H)
			got, more := ResourceMetadataURL(challenges, c.Base)
			faults = append(faults, more...)
			want := ""
			if c.URL != nil {
				want = *c.URL
			}
			if got != want {
				t.Errorf("URL %q, want %q", got, want)
			}
			switch {
			case c.Warn+c.Fail == "":
				if len(faults) != 0 {
					t.Errorf("faults %q, want none", faults)
				}
			case len(faults) != 1 || !strings.Contains(faults[0].Text, c.Warn+c.Fail) || faults[0].Broken != (c.Fail != ""):
				t.Errorf("faults %+v, want warn %q fail %q", faults, c.Warn, c.Fail)
			}
		})
	}
}

func TestParseChallenges(t *testing.T) {
	for _, c := range []struct {
		name   string
		header []string
		want   []Challenge
		faults int
	}{
		{"the example of RFC 9110, section 11.6.1", []string{`Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\""`}, []Challenge{
			{Scheme: "Basic", Params: []Param{{"realm", "simple"}}},
			{Scheme: "Newauth", Params: []Param{{"realm", "apps"}, {"type", "1"}, {"title", `Login to "apps"`}}},
		}, 0},
		{"token68 with padding, then another challenge", []string{"Negotiate a87421+/0== , Bearer"}, []Challenge{
			{Scheme: "Negotiate", Token68: "a87421+/0=="}, {Scheme: "Bearer"}}, 0},
		{"several values are one list", []string{`Bearer realm="r"`, `scope="a b"`}, []Challenge{
			{Scheme: "Bearer", Params: []Param{{"realm", "r"}, {"scope", "a b"}}}}, 0},
		{"empty list elements and spaces about =", []string{`, ,Bearer , realm	= "r", ,`}, []Challenge{
			{Scheme: "Bearer", Params: []Param{{"realm", "r"}}}}, 0},
		{"names without case", []string{`BEARER Scope="Mixed"`}, []Challenge{{Scheme: "BEARER", Params: []Param{{"scope", "Mixed"}}}}, 0},
		{"no comma", []string{`Bearer realm="r" scope="s"`}, []Challenge{
			{Scheme: "Bearer", Params: []Param{{"realm", "r"}, {"scope", "s"}}}}, 1},
		{"no scheme", []string{`realm="r"`}, nil, 1},
		{"no words at all", []string{"\x00\"\xff(,)"}, nil, 2},
		{"a string that ends in a backslash", []string{`Bearer realm="r\`}, []Challenge{{Scheme: "Bearer"}}, 1},
	} {
		got, faults := ParseChallenges(c.header)
		if !reflect.DeepEqual(got, c.want) || len(faults) != c.faults {
			t.Errorf("%s: %+v, faults %q; want %+v, %d faults", c.name, got, faults, c.want, c.faults)
		}
	}
}

func TestParseChallengesIsBounded(t *testing.T) {
	for _, header := range [][]string{
		{strings.Repeat("Bearer, ", 4000)},
		{"Bearer " + strings.Repeat(`a="b", `, 4000)},
		{strings.Repeat("=,", 20000)},
		{strings.Repeat("Basic a=b, ", 100_000)},
	} {
		got, faults := ParseChallenges(header)
		params := 0
		for _, c := range got {
			params += len(c.Params)
		}
		if len(got) > 64 || params > 64*64 || len(faults) == 0 || len(faults) > 64 {
			t.Errorf("%.20q: %d challenges, %d parameters, %d faults", header, len(got), params, len(faults))
		}
	}
}

func TestResourceMetadataURL(t *testing.T) {
	for given, want := range map[string]string{
		"https://a.test/p#part":                               "https://a.test/p",
		"javascript:alert(1)":                                 "",
		"https://user:pw@a.test/p":                            "",
		"https://":                                            "",
		"https://a.test/" + strings.Repeat("x", 3000):         "",
		"//b.test/p":                                          "https://b.test/p",
		"../.well-known/oauth-protected-resource":             "https://a.test/.well-known/oauth-protected-resource",
		"https://a.test/\x7f":                                 "",
		"HTTPS://A.test/.well-known/oauth-protected-resource": "https://A.test/.well-known/oauth-protected-resource",
	} {
		challenges := []Challenge{{Scheme: "DPoP", Params: []Param{{"resource_metadata", "https://second.test/"}}},
			{Scheme: "bearer", Params: []Param{{"resource_metadata", given}}}}
		got, faults := ResourceMetadataURL(challenges, "https://a.test/mcp")
		if got != want || (want == "" && len(faults) == 0) {
			t.Errorf("%.60q: %q, %q; want %q", given, got, faults, want)
		}
	}
}

func FuzzParseChallenges(f *testing.F) {
	for _, c := range lines[challengeCase](f, "challenges.jsonl") {
		f.Add(strings.Join(c.H, "\n"))
	}
	f.Add(`Basic a68==,Bearer x='a,b',y="\"`)
	f.Fuzz(func(t *testing.T, s string) {
		challenges, faults := ParseChallenges(strings.Split(s, "\n"))
		if len(challenges) > maxChallenges || len(faults) > maxParams {
			t.Fatalf("%d challenges, %d faults", len(challenges), len(faults))
		}
		// What was read, written as RFC 9110 says, reads the same again.
		var again []string
		for _, c := range challenges {
			out := c.Scheme
			if c.Token68 != "" {
				out += " " + c.Token68
			}
			for i, p := range c.Params {
				out += map[bool]string{true: " ", false: ", "}[i == 0] + p.Name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p.Value) + `"`
			}
			again = append(again, out)
		}
		if second, faults := ParseChallenges(again); len(strings.Join(again, "")) < maxHeader && (!reflect.DeepEqual(second, challenges) || len(faults) > 0) {
			t.Fatalf("%q is read as %+v, and %q as %+v (%q)", s, challenges, again, second, faults)
		}
		if u, _ := ResourceMetadataURL(challenges, "https://a.test/mcp"); u != "" && httpURL(u) == nil && len(u) <= 2048 {
			t.Fatalf("%q is no URL", u)
		}
	})
}
