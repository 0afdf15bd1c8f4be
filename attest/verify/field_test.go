package verify

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/lustrum-mcp/lustrum/attest"
)

// Field cases that concern attestations; each stands in cases.json by its words.
func TestFieldCases(t *testing.T) {
	raw, err := os.ReadFile("testdata/field/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ What, Expect string }
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	run := map[string]func(*testing.T){
		"attestation: report changed by one byte":         oneByte,
		"attestation: DSSE envelope with signatures []":   noSignatures,
		"attestation: subject list of three, ours second": secondOfThree,
		"attestation: subject digest sha512 only":         sha512Only,
		"inconclusive: checks that could not run":         nil, // the engine's
		"summary counts":                                      nil,
		"graph: apply one result twice":                       nil,
		"graph: load order reversed":                          nil,
		"graph: two servers named 'readme' from two sources":  nil,
		"parquet: zero servers":                               nil,
		"parquet: description null against ''":                nil,
		"terminal: serverInfo.name 'x\\u001b[2J'":             nil,
		"site: tool description '</script><script>alert(1)</": nil,
	}
	done := 0
	for _, c := range cases {
		f, known := run[c.What]
		if !known && strings.HasPrefix(c.What, "attestation") {
			t.Errorf("no test for %q", c.What)
		}
		if f != nil {
			t.Run(c.What, f)
			done++
		}
	}
	if done != 4 {
		t.Errorf("%d cases, want 4", done)
	}
}

func oneByte(t *testing.T) {
	raw := golden(t)
	bundle, key := signed(t, raw)
	o := Options{Keys: []Key{key}, Now: now}
	for i := range raw {
		changed := bytes.Clone(raw)
		changed[i] ^= 1
		r := Statement(Input{Statement: changed, Bundle: bundle, Options: o})
		if r.Verified || r.Outcome(SameContent) != Fail {
			t.Fatalf("byte %d of the statement changed, and it is verified", i)
		}
	}
	for i := range bundle {
		for _, bit := range []byte{1, 2, 4, 32} {
			changed := bytes.Clone(bundle)
			changed[i] ^= bit
			if _, err := Bundle(changed, key); err == nil {
				t.Fatalf("byte %d of the bundle changed from %q to %q, and it is verified", i, bundle[i], changed[i])
			}
		}
	}
}

func noSignatures(t *testing.T) {
	bundle, key := signed(t, golden(t))
	var doc map[string]any
	if err := json.Unmarshal(bundle, &doc); err != nil {
		t.Fatal(err)
	}
	doc["dsseEnvelope"].(map[string]any)["signatures"] = []any{}
	bundle = encode(t, doc)
	for name, o := range map[string]Options{
		"key":            {Keys: []Key{key}, Now: now},
		"no key":         {Now: now},
		"accepts no key": {Now: now, AcceptUnsigned: true},
	} {
		r := Statement(Input{Statement: golden(t), Bundle: bundle, Options: o})
		if r.Verified || r.Outcome(Signature) != Fail || !strings.Contains(detail(r, Signature), "0 signatures") {
			t.Errorf("%s: verified %v, %s", name, r.Verified, detail(r, Signature))
		}
	}
}

func secondOfThree(t *testing.T) {
	raw := edit(t, func(s *attest.Statement) {
		s.Subject = []attest.Subject{
			{Name: "https://a.example/", Digest: map[string]string{"sha256": attest.Digest([]byte("a"))}},
			s.Subject[0],
			{Name: "https://b.example/", Digest: map[string]string{"sha512": strings.Repeat("0", 128)}},
		}
	})
	bundle, key := signed(t, raw)
	if r := Statement(Input{Statement: raw, Bundle: bundle, Options: Options{Keys: []Key{key}, Now: now}}); !r.Verified {
		t.Errorf("not verified: %+v", r.Failed())
	}
}

func sha512Only(t *testing.T) {
	raw := edit(t, func(s *attest.Statement) {
		s.Subject[0].Digest = map[string]string{"sha512": strings.Repeat("0", 128)}
	})
	bundle, key := signed(t, raw)
	r := Statement(Input{Statement: raw, Bundle: bundle, Options: Options{Keys: []Key{key}, Now: now}})
	if r.Verified || r.Outcome(Subject) != Fail || !strings.Contains(detail(r, Subject), `"sha512"`) {
		t.Errorf("verified %v: %s", r.Verified, detail(r, Subject))
	}
}
