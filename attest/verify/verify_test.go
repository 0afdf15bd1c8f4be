package verify

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gowebpki/jcs"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/attest/sign"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// now is after the golden statement's end.
var now = time.Date(2026, 1, 12, 0, 0, 0, 0, time.UTC)

func golden(t testing.TB) []byte {
	t.Helper()
	raw, err := os.ReadFile("../testdata/statement.json")
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func signer(t testing.TB, name string) (*sign.Key, Key) {
	t.Helper()
	text, err := os.ReadFile("../sign/testdata/" + name + ".pem")
	if err != nil {
		t.Fatal(err)
	}
	private, err := sign.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	public, err := LoadKey("../sign/testdata/" + name + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	return private, public
}

func signed(t testing.TB, payload []byte) (bundle []byte, key Key) {
	t.Helper()
	private, public := signer(t, "ed25519")
	bundle, err := private.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	return bundle, public
}

// edit changes the golden statement without asking whether it makes sense.
func edit(t testing.TB, do func(*attest.Statement)) []byte {
	t.Helper()
	s, err := attest.Decode(golden(t))
	if err != nil {
		t.Fatal(err)
	}
	do(s)
	return encode(t, s)
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	plain, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := jcs.Transform(plain)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func outcomes(r *Result) []string {
	var out []string
	for _, c := range r.Criteria {
		out = append(out, c.Name+": "+string(c.Outcome))
	}
	return out
}

func detail(r *Result, name string) string {
	for _, c := range r.Criteria {
		if c.Name == name {
			return c.Detail
		}
	}
	return ""
}

func TestVerified(t *testing.T) {
	for _, name := range []string{"ed25519", "p256"} {
		private, public := signer(t, name)
		bundle, err := private.Sign(golden(t))
		if err != nil {
			t.Fatal(err)
		}
		_, other := signer(t, map[string]string{"ed25519": "p256", "p256": "ed25519"}[name])
		r := Statement(Input{Statement: golden(t), Bundle: bundle, Options: Options{Keys: []Key{other, public}, Now: now}})
		want := []string{
			"signature: pass", "content: pass", "statement type: pass", "predicate type: pass", "subject: pass", "fields: pass",
			"counts: pass", "score: pass", "categories: pass", "grade: pass", "caps: pass", "coverage: pass", "bounds: pass", "times: pass",
		}
		if diff := cmp.Diff(want, outcomes(r)); diff != "" || !r.Verified {
			t.Errorf("%s: verified %v\n%s\n%+v", name, r.Verified, diff, r.Failed())
		}
		if r.Digest != "b37210d46ec66b054a4cf332cd283d02aa2c30483f8fad50c1e033d33c00163f" || r.Statement == nil {
			t.Errorf("digest %s", r.Digest)
		}
	}
}

func TestForm(t *testing.T) {
	raw := string(golden(t))
	for name, changed := range map[string]string{
		"unknown field": strings.Replace(raw, `"rps"`, `"retries":1,"rps"`, 1),
		"duplicate":     strings.Replace(raw, `"rps":0.5`, `"rps":0.5,"rps":0.5`, 1),
		"missing":       strings.Replace(raw, `,"rps":0.5`, ``, 1),
		"not canonical": raw + "\n",
		"null list":     strings.Replace(raw, `"caps":[]`, `"caps":null`, 1),
	} {
		bundle, key := signed(t, []byte(changed))
		r := Statement(Input{Bundle: bundle, Options: Options{Keys: []Key{key}, Now: now}})
		if r.Verified || r.Outcome(Signature) != Pass || r.Outcome(Fields) != Fail || r.Outcome(Score) != NotAsked {
			t.Errorf("%s: verified %v: %v", name, r.Verified, outcomes(r))
		}
	}
}

// Hand arithmetic: a critical of catalog.text.* costs the catalog everything,
// so the mean is (10*100 + 20*95 + 20*0)/50 = 58.0, capped at 19.9; the three
// assessed of four categories weigh 50 of 70, 71.4; with the rest at best
// (2900+2000)/70 = 70, capped all the same.
func TestCapped(t *testing.T) {
	raw := edit(t, func(s *attest.Statement) {
		v := &s.Predicate.Verdicts[5]
		v.ID, v.Severity = "catalog.text.instructions", "critical"
		zero := 0.0
		score := s.Predicate.Score
		score.Total, score.Grade, score.Bounds, score.ByCategory["catalog"] = 19.9, "F", [2]float64{19.9, 19.9}, &zero
		r, err := rubric.Load(rubric.Anonymous)
		if err != nil {
			t.Fatal(err)
		}
		score.Caps = r.Score([]rubric.Verdict{{ID: v.ID, Phase: "catalog", Status: "fail", Severity: "critical"}}).Caps // words, not numbers
	})
	bundle, key := signed(t, raw)
	if r := Statement(Input{Bundle: bundle, Options: Options{Keys: []Key{key}, Now: now}}); !r.Verified {
		t.Errorf("%+v", r.Failed())
	}
}

func TestNothingAssessed(t *testing.T) {
	raw := edit(t, func(s *attest.Statement) {
		p := &s.Predicate
		p.Verdicts = []attest.Verdict{{ID: "net.dns", Phase: "net", Status: "skip"}}
		p.Counts, p.Score, p.Catalogue = attest.Counts{Skip: 1}, nil, nil
		p.Blocked = &attest.Blocked{Phase: "net", Reason: "no such host"}
		p.Auth.State = "unreachable"
	})
	bundle, key := signed(t, raw)
	if r := Statement(Input{Bundle: bundle, Options: Options{Keys: []Key{key}, Now: now}}); !r.Verified {
		t.Errorf("%+v", r.Failed())
	}
}

func TestNotAskedIsNotVerified(t *testing.T) {
	bundle, key := signed(t, golden(t))
	_, other := signer(t, "p256")
	for _, c := range []struct {
		name     string
		in       Input
		outcome  Outcome
		verified bool
	}{
		{"no key", Input{Statement: golden(t), Bundle: bundle, Options: Options{Now: now}}, NotAsked, false},
		{"no key, accepted", Input{Statement: golden(t), Bundle: bundle, Options: Options{Now: now, AcceptUnsigned: true}}, NotAsked, true},
		{"no key, no bundle", Input{Statement: golden(t), Options: Options{Now: now}}, NotAsked, false},
		{"no bundle, accepted", Input{Statement: golden(t), Options: Options{Now: now, AcceptUnsigned: true}}, NotAsked, true},
		{"key, no bundle", Input{Statement: golden(t), Options: Options{Now: now, Keys: []Key{key}, AcceptUnsigned: true}}, Fail, false},
		{"other key", Input{Bundle: bundle, Options: Options{Now: now, Keys: []Key{other}, AcceptUnsigned: true}}, Fail, false},
		{"zero key", Input{Bundle: bundle, Options: Options{Now: now, Keys: []Key{{}}}}, Fail, false},
		{"bad bundle, accepted", Input{Statement: golden(t), Bundle: []byte("{}"), Options: Options{Now: now, AcceptUnsigned: true}}, Fail, false},
		{"no clock", Input{Bundle: bundle, Options: Options{Keys: []Key{key}}}, Pass, false},
		{"nothing", Input{Options: Options{Now: now, AcceptUnsigned: true}}, NotAsked, false},
	} {
		r := Statement(c.in)
		if r.Outcome(Signature) != c.outcome || r.Verified != c.verified {
			t.Errorf("%s: signature %s, verified %v: %+v", c.name, r.Outcome(Signature), r.Verified, r.Failed())
		}
	}
	r := Statement(Input{Bundle: bundle, Options: Options{Now: now, Keys: []Key{other}}})
	if !strings.Contains(detail(r, Signature), key.ID()) {
		t.Errorf("the message does not name the key that signed: %s", detail(r, Signature))
	}
}

func TestGates(t *testing.T) {
	bundle, key := signed(t, golden(t))
	for _, c := range []struct {
		name string
		do   func(*Options)
		gate string
		want Outcome
	}{
		{"endpoint", func(o *Options) { o.Endpoint = "HTTPS://mcp.EXAMPLE.com:443/mcp#x" }, Endpoint, Pass},
		{"other endpoint", func(o *Options) { o.Endpoint = "https://mcp.example.com/mcp/" }, Endpoint, Fail},
		{"no endpoint", func(o *Options) { o.Endpoint = "mcp.example.com" }, Endpoint, Fail},
		{"age", func(o *Options) { o.MaxAge = 16 * time.Hour }, MaxAge, Pass}, // 15:59:57.655 old
		{"too old", func(o *Options) { o.MaxAge = 15 * time.Hour }, MaxAge, Fail},
		{"score", func(o *Options) { o.MinScore = 92 }, MinScore, Pass},
		{"score too low", func(o *Options) { o.MinScore = 92.1 }, MinScore, Fail},
		{"passed", func(o *Options) { o.Require = []string{"net.dns"} }, Required, Pass},
		{"warned", func(o *Options) { o.Require = []string{"net.dns", "handshake.capabilities"} }, Required, Fail},
		{"skipped", func(o *Options) { o.Require = []string{"protocol.ping"} }, Required, Fail},
		{"not known", func(o *Options) { o.Require = []string{"net.tls"} }, Required, Fail},
	} {
		o := Options{Keys: []Key{key}, Now: now}
		c.do(&o)
		r := Statement(Input{Bundle: bundle, Options: o})
		var got Outcome
		for _, cr := range r.Criteria {
			if cr.Name == c.gate && got != Fail {
				got = cr.Outcome
			}
		}
		if got != c.want || r.Verified != (c.want == Pass) {
			t.Errorf("%s: %s, verified %v: %s", c.name, got, r.Verified, detail(r, c.gate))
		}
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	raw := golden(t)
	bundle, key := signed(t, raw)
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	o := Options{Keys: []Key{key}, Now: now}
	pair := write("a.json", raw)
	write("a.json.sigstore.json", bundle)
	short := write("b.json", raw)
	write("b.sigstore.json", bundle)
	for _, path := range []string{pair, pair + ".sigstore.json", short} {
		r, err := File(path, o)
		if err != nil || !r.Verified || r.File != path {
			t.Errorf("%s: %+v, %v", path, r, err)
		}
	}
	alone := write("c.json", raw)
	if r, err := File(alone, o); err != nil || r.Verified || r.Outcome(Signature) != Fail {
		t.Errorf("a statement alone: %+v, %v", r, err)
	}
	broken := write("d.json", raw)
	write("d.json.sigstore.json", []byte("not json"))
	if r, err := File(broken, o); err != nil || r.Verified || r.Outcome(Signature) != Fail {
		t.Errorf("a broken bundle: %+v, %v", r, err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.json"):                   "none.json",
		write("text.json", []byte("hello")):               "not JSON",
		write("big.json", make([]byte, attest.MaxSize+1)): "4194304",
		dir: filepath.Base(dir),
	} {
		if _, err := File(path, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a word on %q", path, err, want)
		}
	}
}

func TestParseKeyRefuses(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	public := read("../sign/testdata/ed25519.pub")
	for name, c := range map[string]struct{ text, want string }{
		"nothing":     {"", "no PEM"},
		"private":     {read("../sign/testdata/ed25519.pem"), "private key"},
		"two":         {public + public, "one key"},
		"certificate": {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "CERTIFICATE"},
		"junk":        {"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "not a public key"},
	} {
		if _, err := ParseKey([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzBundle(f *testing.F) {
	raw := golden(f)
	bundle, key := signed(f, raw)
	f.Add(bundle)
	f.Add([]byte(`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","dsseEnvelope":{},"verificationMaterial":{"publicKey":{}}}`))
	f.Add([]byte(`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","messageSignature":{},"verificationMaterial":{"certificate":{}}}`))
	f.Add([]byte(`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","dsseEnvelope":{"payload":"e30=","payloadType":"application/vnd.in-toto+json","signatures":[null]},"verificationMaterial":{"certificate":{"rawBytes":"AA=="},"tlogEntries":[null]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		payload, err := Bundle(data, key)
		if err == nil && !bytes.Equal(payload, raw) {
			t.Fatal("a payload verifies that was never signed")
		}
		Statement(Input{Statement: raw, Bundle: data, Options: Options{Now: now}})
		Statement(Input{Bundle: data, Options: Options{Keys: []Key{key}, Now: now}})
		Statement(Input{Statement: data, Options: Options{Now: now, AcceptUnsigned: true}})
	})
}

func BenchmarkStatement(b *testing.B) {
	raw := golden(b)
	bundle, key := signed(b, raw)
	o := Options{Keys: []Key{key}, Now: now}
	for b.Loop() {
		if r := Statement(Input{Statement: raw, Bundle: bundle, Options: o}); !r.Verified {
			b.Fatal(r.Failed())
		}
	}
}
