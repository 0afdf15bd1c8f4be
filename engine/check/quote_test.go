package check

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lustrum-mcp/lustrum/engine/text"
)

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                                 "plain",
		"a\x1b[2Jb":                             "a<U+001B>[2Jb",
		"pay \u202e321":                         "pay <U+202E>321",
		"x\u200by\U000E0041z":                   "x<U+200B>y<U+E0041>z",
		"two\nlines\tand a tab":                 "two lines and a tab",
		"\xff\xfe":                              "<0xFF><0xFE>",
		"日本語 é 👍":                               "日本語 é 👍",
		"token ghp_" + strings.Repeat("a1", 18): "token <github token masked>",
		"Authorization: Bearer " + strings.Repeat("x9", 12):          "Authorization: <bearer token masked>",
		"postgres://user:hunter2@db.test/x":                          "postgres<password in a URL masked>db.test/x",
		"api_key=" + strings.Repeat("k3", 10):                        "<credential masked>",
		"AKIA" + strings.Repeat("A", 16) + " is a key":               "<aws key id masked> is a key",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl in a URL": "<jwt masked> in a URL",
		"the api_key parameter":                                      "the api_key parameter",
	} {
		if got := Quote(in); got != want {
			t.Errorf("Quote(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Quote(strings.Repeat("ж", 400)); utf8.RuneCountInString(got) != MaxObserved || !strings.HasSuffix(got, "…") {
		t.Errorf("a long text became %d runes", utf8.RuneCountInString(got))
	}
}

func FuzzQuote(f *testing.F) {
	f.Add("a\x1b[2J\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Quote(s)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > MaxObserved {
			t.Errorf("%q", got)
		}
		for _, r := range got {
			if r < 0x20 || r == 0x7F || text.Invisible(r) {
				t.Errorf("U+%04X in %q", r, got)
			}
		}
		if again := Quote(got); again != got && !strings.Contains(got, "…") {
			t.Errorf("not stable: %q, then %q", got, again)
		}
	})
}

func TestMaskLeavesParametersOfChallenges(t *testing.T) {
	for in, want := range map[string]string{
		`Bearer resource_metadata='https://a.test/p'`:      `Bearer resource_metadata='https://a.test/p'`,
		`Bearer resource_metadata="https://a.test/p"`:      `Bearer resource_metadata="https://a.test/p"`,
		`Bearer error_description=text_without_quotes`:     `Bearer error_description=text_without_quotes`,
		`Authorization: Bearer c2VjcmV0c2VjcmV0c2VjcmV0==`: `Authorization: <bearer token masked>==`,
		`{"a":"Bearer c2VjcmV0c2VjcmV0c2VjcmV0"}`:          `{"a":"<bearer token masked>"}`,
		`bearer c2VjcmV0c2VjcmV0c2VjcmV0, next`:            `<bearer token masked>, next`,
	} {
		if got := Mask(in); got != want {
			t.Errorf("Mask(%q) = %q, want %q", in, got, want)
		}
	}
}
