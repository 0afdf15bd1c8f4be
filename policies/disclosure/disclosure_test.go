package disclosure

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

var seed = []byte("0123456789abcdef0123456789abcdef")

func TestRulesDoWhatTheirExamplesSay(t *testing.T) {
	rules, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range rules {
		ids = append(ids, r.ID)
		if err := r.Test(); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"D1", "D2", "D3", "D4"}; !slices.Equal(ids, want) {
		t.Errorf("rules %v; want %v", ids, want)
	}
}

func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"runSQL_query": "run sql query", "delete-all": "delete all", "": "", "Éxec2": "éxec2", "HTTPSend": "httpsend", "a.b/c": "a b c",
	} {
		if got := strings.Join(words(name), " "); got != want {
			t.Errorf("%q: %q; want %q", name, got, want)
		}
	}
}

// record is an open server without findings; change makes it another.
func record(n int, change ...func(*attest.Predicate)) Record {
	p := attest.Predicate{Auth: attest.Auth{State: "open"}, Target: attest.Target{Transport: "streamable-http"}}
	for _, f := range change {
		f(&p)
	}
	return Record{ID: fmt.Sprintf("server-%03d", n), Statement: &attest.Statement{Predicate: p}}
}

func poisoned(p *attest.Predicate) {
	p.Verdicts = append(p.Verdicts, attest.Verdict{ID: "catalog.text.hidden", Status: rubric.Fail, Severity: rubric.Critical})
}

func state(auth, transport string) func(*attest.Predicate) {
	return func(p *attest.Predicate) { p.Auth.State, p.Target.Transport = auth, transport }
}

func decide(t testing.TB, rs []Record, s []byte, audience string) *Decision {
	t.Helper()
	d, err := Decide(rs, s, audience)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestOwnerSeesEverything(t *testing.T) {
	d := decide(t, []Record{record(2, poisoned), record(1)}, nil, Owner)
	if !slices.Equal(d.Public, []string{"server-001", "server-002"}) || d.NotInEdition != 0 || len(d.Held)+len(d.Cover)+len(d.Warnings) != 0 {
		t.Errorf("%+v", d)
	}
}

// TestCoverByHand: 40 servers, 3 held (2 open, 1 oauth). A tenth are 4, held
// ones perhaps among them, and the partners are 2 open and 1 oauth.
func TestCoverByHand(t *testing.T) {
	var rs []Record
	for n := range 40 {
		r := record(n)
		if n%4 == 0 {
			r = record(n, state("oauth", "sse"))
		}
		if n == 1 || n == 2 || n == 4 {
			poisoned(&r.Statement.Predicate)
		}
		rs = append(rs, r)
	}
	d := decide(t, rs, seed, Public)
	if len(d.Held) != 3 || !slices.Equal(d.Held["server-001"], []string{"D3"}) {
		t.Errorf("held %v", d.Held)
	}
	if len(d.Cover) < 4 || len(d.Cover) > 7 || d.NotInEdition != 3+len(d.Cover) || len(d.Public) != 37-len(d.Cover) || len(d.Warnings) != 0 {
		t.Errorf("cover %v, not in edition %d, public %d, warnings %v", d.Cover, d.NotInEdition, len(d.Public), d.Warnings)
	}
	kinds := map[string]int{}
	for _, r := range rs {
		if slices.Contains(d.Cover, r.ID) {
			kinds[r.Statement.Predicate.Auth.State]++
		}
	}
	if kinds["open"] < 2 || kinds["oauth"] < 1 {
		t.Errorf("cover is not matched: %v", kinds)
	}
	slices.Reverse(rs)
	if again := decide(t, rs, seed, Public); !slices.Equal(again.Public, d.Public) {
		t.Error("the order of records decides")
	}
	if other := decide(t, rs, []byte("another secret seed"), Public); slices.Equal(other.Cover, d.Cover) {
		t.Error("the seed does not decide")
	}
}

func TestWarnings(t *testing.T) {
	rs := []Record{record(1, poisoned), record(2, poisoned), record(3), record(4, state("oauth", "sse")), record(5), record(6), record(7)}
	d := decide(t, rs, seed, Public)
	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "quarter") {
		t.Errorf("2 of 7 held: %q", d.Warnings)
	}
	d = decide(t, []Record{record(1, poisoned), record(2, state("oauth", "sse")), record(3, state("oauth", "sse")), record(4, state("oauth", "sse"))}, seed, Public)
	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "too few") {
		t.Errorf("none like it: %q", d.Warnings)
	}
	for _, w := range d.Warnings {
		if strings.ContainsAny(w, "0123456789") || strings.Contains(w, "server-") {
			t.Errorf("a warning tells too much: %q", w)
		}
	}
}

// TestAttacker guesses that every gap among servers of a kind is held, with the
// full list and the edition in hand, and must be wrong at least half the time
// wherever healthy servers of the kind are enough.
func TestAttacker(t *testing.T) {
	auths := []string{"open", "protected", "oauth"}
	transports := []string{"streamable-http", "sse"}
	rapid.Check(t, func(rt *rapid.T) {
		var rs []Record
		total, bad := map[string]int{}, map[string]int{}
		for n := range rapid.IntRange(1, 120).Draw(rt, "servers") {
			r := record(n, state(rapid.SampledFrom(auths).Draw(rt, "auth"), rapid.SampledFrom(transports).Draw(rt, "transport")))
			total[bucket(r)]++
			if rapid.IntRange(0, 9).Draw(rt, "bad") < 3 {
				poisoned(&r.Statement.Predicate)
				bad[bucket(r)]++
			}
			rs = append(rs, r)
		}
		sum := sha256.Sum256([]byte(rapid.String().Draw(rt, "seed")))
		d := decide(t, rs, []byte(hex.EncodeToString(sum[:])), Public)
		gaps, healthy := map[string]int{}, 0
		for _, r := range rs {
			if len(d.Held[r.ID]) == 0 {
				healthy++
			}
			if !slices.Contains(d.Public, r.ID) {
				gaps[bucket(r)]++
			} else if len(d.Held[r.ID]) > 0 {
				rt.Fatalf("%s is held and public", r.ID)
			}
		}
		enough := true
		for b := range total {
			if bad[b] > total[b]-bad[b] {
				enough = false
				continue
			}
			if 2*bad[b] > gaps[b] {
				rt.Errorf("among %q %d of %d gaps are held", b, bad[b], gaps[b])
			}
		}
		if 10*len(d.Cover) < healthy || (enough && len(d.Cover) < len(d.Held)) {
			rt.Errorf("cover %d for %d healthy and %d held", len(d.Cover), healthy, len(d.Held))
		}
		if d.NotInEdition != len(rs)-len(d.Public) {
			rt.Errorf("not in edition: %d", d.NotInEdition)
		}
	})
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		rs       []Record
		seed     []byte
		audience string
	}{
		"short seed": {[]Record{record(1)}, []byte("short"), Public},
		"audience":   {[]Record{record(1)}, seed, "everybody"},
		"twice":      {[]Record{record(1), record(1)}, seed, Public},
		"no content": {[]Record{{ID: "x"}}, seed, Owner},
	} {
		if d, err := Decide(c.rs, c.seed, c.audience); err == nil {
			t.Errorf("%s: no error but %+v", name, d)
		}
	}
}

func TestRuleFilesAreReadStrictly(t *testing.T) {
	good, err := builtIn.ReadFile("d4.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string][2]string{
		`rule.yaml:5: condition: line 1, column 25: undefined field 'idd'`: {"f.id ==", "f.idd =="},
		`rule.yaml:3: unknown key "titel"`:                                 {"title:", "titel:"},
		`rule.yaml: id "4" is not of the form D1`:                          {"id: D4", "id: '4'"},
		`rule.yaml: one example must be held and one not`:                  {"held: true", "held: false"},
		`rule.yaml:5: condition is of type string and not bool`:            {`server.fails.exists(f, f.id == "discovery.as.https")`, "server.auth"},
	} {
		bad := strings.Replace(string(good), change[0], change[1], 1)
		if _, err := Parse("rule.yaml", []byte(bad)); err == nil || err.Error() != want {
			t.Errorf("error %v; want %s", err, want)
		}
	}
}

func TestOwnRulesReplaceBuiltIn(t *testing.T) {
	dir := t.TempDir()
	own := strings.Replace(strings.Replace(string(must(builtIn.ReadFile("d4.yaml"))), "version: 1", "version: 2", 1), "title: Its", "title: Our", 1)
	if err := os.WriteFile(filepath.Join(dir, "own.yaml"), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	rules, err := Load(dir)
	if err != nil || len(rules) != 4 || rules[3].Version != 2 {
		t.Errorf("%d rules, %v", len(rules), err)
	}
	if _, err := Load(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that does not exist is no error")
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func FuzzParse(f *testing.F) {
	f.Add(must(builtIn.ReadFile("d1.yaml")))
	f.Add([]byte("id: D9\nhold: 'true'\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := Parse("rule.yaml", data); err == nil {
			r.holds(Server{Tools: []Tool{{Name: "x"}}})
		}
	})
}
