package verify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/attest/sign"
	"github.com/lustrum-mcp/lustrum/attest/store"
	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// published is an edition on disk, with what a test may want to change before
// it is signed.
type published struct {
	dir        string
	statements []*attest.Statement
	head       attest.EditionPredicate
	listed     []attest.Subject // instead of what is there
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// about is the golden statement, said of another host.
func about(t testing.TB, host string) *attest.Statement {
	t.Helper()
	e, err := target.New(target.StreamableHTTP, "https://"+host+"/mcp")
	if err != nil {
		t.Fatal(err)
	}
	s, err := attest.Decode(golden(t))
	if err != nil {
		t.Fatal(err)
	}
	s.Subject, s.Predicate.Target.Endpoint = attest.New(e).Subject, e.URL
	return s
}

func publish(t testing.TB, key *sign.Key, do func(*published)) *published {
	t.Helper()
	p := &published{dir: t.TempDir(), head: attest.EditionPredicate{
		Edition: "2026-01-11", Registry: "https://registry.example.com", Audience: "public", Method: "1", Rubric: "anonymous/1",
	}}
	p.statements = []*attest.Statement{about(t, "a.example.com"), about(t, "b.example.com")}
	p.statements[1].Predicate.StartedAt = "2026-01-11T07:00:00.000Z"
	write(t, filepath.Join(p.dir, "endpoints.parquet"), []byte("PAR1"))
	write(t, filepath.Join(p.dir, "figures", "auth.csv"), []byte("a,b\n"))
	p.head.StartedAt, p.head.FinishedAt = "2026-01-11T07:00:00.000Z", "2026-01-11T08:00:02.345Z"
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if do != nil {
		do(p)
	}
	for _, st := range p.statements {
		raw, err := st.Encode()
		if err != nil {
			t.Fatal(err)
		}
		bundle, err := key.Sign(raw)
		if err != nil {
			t.Fatal(err)
		}
		digest, _, err := s.Put(raw, bundle)
		if err != nil {
			t.Fatal(err)
		}
		p.head.Statements = append(p.head.Statements, digest)
	}
	if err := os.CopyFS(filepath.Join(p.dir, "statements"), os.DirFS(filepath.Join(s.Dir(), "statements"))); err != nil {
		t.Fatal(err)
	}
	n := len(p.statements)
	p.head.Counts = attest.EditionCounts{Endpoints: n + 1, Public: n, NotInEdition: 1}
	if p.listed == nil {
		if p.listed, err = attest.Files(os.DirFS(p.dir)); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := attest.EncodeEdition(attest.NewEdition(p.head, p.listed))
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := key.Sign(raw)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(p.dir, "edition.json"), raw)
	write(t, filepath.Join(p.dir, "edition.json.sigstore.json"), bundle)
	return p
}

func (p *published) statementFile(i int) string {
	return filepath.Join(p.dir, filepath.FromSlash(attest.StatementPath(p.head.Statements[i])))
}

func TestEdition(t *testing.T) {
	private, public := signer(t, "ed25519")
	p := publish(t, private, nil)
	r, err := Edition(t.Context(), p.dir, Options{Keys: []Key{public}, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	want := "signature: pass, content: pass, statement type: pass, predicate type: pass, fields: pass, files: pass, unlisted: pass, statements: pass, span: pass, times: pass"
	if got := strings.Join(outcomes(r), ", "); got != want || !r.Verified || r.Checked != 2 || r.Edition == nil {
		t.Errorf("verified %v, %d statements\n%s\n%+v", r.Verified, r.Checked, got, r.Failed())
	}

	r, err = Edition(t.Context(), p.dir, Options{Now: now})
	if err != nil || r.Verified || r.Outcome(Signature) != NotAsked || r.Outcome(Statements) != Fail {
		t.Errorf("without a key: verified %v, %v, %v", r.Verified, outcomes(r), err)
	}
	r, err = Edition(t.Context(), p.dir, Options{Now: now, AcceptUnsigned: true})
	if err != nil || !r.Verified {
		t.Errorf("accepted without a key: %+v, %v", r.Failed(), err)
	}
}

func TestEditionElsewhere(t *testing.T) {
	private, public := signer(t, "ed25519")
	p := publish(t, private, nil)
	other := t.TempDir()
	if err := os.Rename(filepath.Join(p.dir, "statements"), filepath.Join(other, "statements")); err != nil {
		t.Fatal(err)
	}
	r, err := Edition(t.Context(), p.dir, Options{Keys: []Key{public}, Now: now, Statements: other})
	if err != nil || !r.Verified {
		t.Errorf("%+v, %v", r.Failed(), err)
	}
}

func TestEditionTampered(t *testing.T) {
	private, public := signer(t, "ed25519")
	stranger, _ := signer(t, "p256")
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name          string
		before, after func(*published)
		criterion     string
		want          string
	}{
		{"file changed", nil, func(p *published) { write(t, filepath.Join(p.dir, "endpoints.parquet"), []byte("PAR2")) }, Files, "endpoints.parquet"},
		{"file gone", nil, func(p *published) { check(os.Remove(filepath.Join(p.dir, "figures", "auth.csv"))) }, Files, "figures/auth.csv"},
		{"file added", nil, func(p *published) { write(t, filepath.Join(p.dir, "figures", "x.csv"), nil) }, Unlisted, "figures/x.csv"},
		{"hidden file added", nil, func(p *published) { write(t, filepath.Join(p.dir, ".x"), nil) }, Unlisted, ".x"},
		{"link added", nil, func(p *published) { check(os.Symlink("/etc/passwd", filepath.Join(p.dir, "link"))) }, Unlisted, "link"},
		{"file became a link", nil, func(p *published) {
			path := filepath.Join(p.dir, "endpoints.parquet")
			check(os.Rename(path, filepath.Join(t.TempDir(), "x")))
			check(os.Symlink("/etc/passwd", path))
		}, Files, "endpoints.parquet"},
		{"file became a folder", nil, func(p *published) {
			path := filepath.Join(p.dir, "endpoints.parquet")
			check(os.Remove(path))
			check(os.Mkdir(path, 0o755))
		}, Files, "not a regular file"},
		{"statement changed", nil, func(p *published) { write(t, p.statementFile(0), []byte("{}")) }, Statements, "digest"},
		{"statement gone", nil, func(p *published) { check(os.Remove(p.statementFile(1))) }, Statements, "not there"},
		{"its bundle gone", nil, func(p *published) { check(os.Remove(p.statementFile(1) + ".sigstore.json")) }, Statements, "signature"},
		{"signed by a stranger", nil, func(p *published) {
			raw, err := os.ReadFile(p.statementFile(0))
			check(err)
			bundle, err := stranger.Sign(raw)
			check(err)
			write(t, p.statementFile(0)+".sigstore.json", bundle)
		}, Statements, "signature"},
		{"statement added", nil, func(p *published) {
			write(t, filepath.Join(p.dir, "statements", "00", strings.Repeat("0", 64)+".json"), []byte("{}"))
		}, Unlisted, "statements/00"},
		{"a lie inside", func(p *published) { p.statements[1].Predicate.Score.Total = 99 }, nil, Statements, "score"},
		{"one endpoint twice", func(p *published) {
			again := about(t, "a.example.com")
			again.Predicate.Evidence.Size++
			p.statements = append(p.statements, again)
		}, nil, Statements, "second statement"},
		{"times of its own", func(p *published) { p.head.StartedAt = "2026-01-11T06:00:00.000Z" }, nil, Span, "07:00"},
		{"future", func(p *published) {
			p.statements[0].Predicate.FinishedAt, p.head.FinishedAt = "2027-01-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"
		}, nil, Times, "future"},
		{"leads out", nil, func(p *published) {
			// Encode refuses such a path; a signer who lies writes it all the same.
			raw, err := os.ReadFile(filepath.Join(p.dir, "edition.json"))
			check(err)
			raw = []byte(strings.Replace(string(raw), `"name":"endpoints.parquet"`, `"name":"../endpoints.parquet"`, 1))
			bundle, err := private.Sign(raw)
			check(err)
			write(t, filepath.Join(p.dir, "edition.json"), raw)
			write(t, filepath.Join(p.dir, "edition.json.sigstore.json"), bundle)
		}, Fields, `".."`},
		{"head changed", nil, func(p *published) {
			path := filepath.Join(p.dir, "edition.json")
			raw, err := os.ReadFile(path)
			check(err)
			write(t, path, []byte(strings.Replace(string(raw), `"not_in_edition":1`, `"not_in_edition":2`, 1)))
		}, SameContent, "predicate.counts.not_in_edition"},
		{"head unsigned", nil, func(p *published) { check(os.Remove(filepath.Join(p.dir, "edition.json.sigstore.json"))) }, Signature, "no bundle"},
		{"a statement as head", nil, func(p *published) {
			raw, err := os.ReadFile(p.statementFile(0))
			check(err)
			write(t, filepath.Join(p.dir, "edition.json"), raw)
		}, PredicateType, "server-check"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := publish(t, private, c.before)
			if c.after != nil {
				c.after(p)
			}
			r, err := Edition(t.Context(), p.dir, Options{Keys: []Key{public}, Now: now})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verified || r.Outcome(c.criterion) != Fail || !strings.Contains(detail(r, c.criterion), c.want) {
				t.Errorf("verified %v; %s is %s: %s", r.Verified, c.criterion, r.Outcome(c.criterion), detail(r, c.criterion))
			}
		})
	}
}

func TestEditionUnreadable(t *testing.T) {
	private, public := signer(t, "ed25519")
	o := Options{Keys: []Key{public}, Now: now}
	if _, err := Edition(t.Context(), filepath.Join(t.TempDir(), "none"), o); err == nil {
		t.Error("a folder that is not there was read")
	}
	if _, err := Edition(t.Context(), t.TempDir(), o); err == nil || !strings.Contains(err.Error(), "name the folder") {
		t.Errorf("an empty folder: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Edition(ctx, publish(t, private, nil).dir, o); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
}
