package store

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lustrum-mcp/lustrum/attest"
)

// statement returns the golden statement with another evidence size, so that
// each number is another statement.
func statement(t testing.TB, size int64) []byte {
	t.Helper()
	raw, err := os.ReadFile("../testdata/statement.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := attest.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	s.Predicate.Evidence.Size = size
	out, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func open(t testing.TB) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t testing.TB, s *Store, raw []byte) string {
	t.Helper()
	digest, _, err := s.Put(raw, []byte(`{"b":1}`))
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func TestPutAndGet(t *testing.T) {
	s, raw := open(t), statement(t, 4711)
	digest, fresh, err := s.Put(raw, []byte(`{"b":1}`))
	// sha256sum of ../testdata/statement.json
	const want = "b37210d46ec66b054a4cf332cd283d02aa2c30483f8fad50c1e033d33c00163f"
	if err != nil || !fresh || digest != want {
		t.Fatalf("%s %v %v", digest, fresh, err)
	}
	for name, content := range map[string]string{
		"statements/b3/" + want + ".json":               string(raw),
		"statements/b3/" + want + ".json.sigstore.json": `{"b":1}`,
	} {
		got, err := os.ReadFile(filepath.Join(s.Dir(), filepath.FromSlash(name)))
		if err != nil || string(got) != content {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	digest, fresh, err = s.Put(raw, []byte(`{"b":2}`))
	if err != nil || fresh || digest != want {
		t.Fatalf("again: %s %v %v", digest, fresh, err)
	}
	got, bundle, err := s.Get(want)
	if err != nil || !bytes.Equal(got, raw) || string(bundle) != `{"b":1}` {
		t.Errorf("got %d bytes, bundle %s, %v", len(got), bundle, err)
	}
	if _, _, err := s.Get(strings.Repeat("0", 64)); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown: %v", err)
	}
}

func TestPutRefuses(t *testing.T) {
	s, raw := open(t), statement(t, 1)
	for name, c := range map[string]struct{ statement, bundle string }{
		"not a statement": {"{}", "{}"},
		"other bytes":     {string(raw) + "\n", "{}"},
		"no bundle":       {string(raw), ""},
		"bundle not JSON": {string(raw), "{"},
	} {
		if _, _, err := s.Put([]byte(c.statement), []byte(c.bundle)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if digests, err := s.Digests(); err != nil || len(digests) != 0 {
		t.Errorf("left behind: %v, %v", digests, err)
	}
}

func TestNoPathLeadsOut(t *testing.T) {
	s := open(t)
	for _, digest := range []string{
		"", ".", "..", "../../etc/passwd", strings.Repeat("a", 63), strings.Repeat("A", 64), strings.Repeat("a", 65),
		"../" + strings.Repeat("a", 61), strings.Repeat("a", 61) + "/..", strings.Repeat("a", 63) + "\x00",
	} {
		if _, _, err := s.Get(digest); !errors.Is(err, ErrDigest) {
			t.Errorf("Get(%q): %v", digest, err)
		}
		if _, err := s.GetEvidence(digest); !errors.Is(err, ErrDigest) {
			t.Errorf("GetEvidence(%q): %v", digest, err)
		}
	}
}

func TestCorruption(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(statement, bundle string) error
		want string // the file that the error names ends so
	}{
		{"a byte", func(s, _ string) error {
			raw, err := os.ReadFile(s)
			if err != nil {
				return err
			}
			raw[100] ^= 1
			return os.WriteFile(s, raw, 0o644)
		}, `.json"`},
		{"cut", func(s, _ string) error { return os.Truncate(s, 10) }, `.json"`},
		{"emptied", func(s, _ string) error { return os.Truncate(s, 0) }, `.json"`},
		{"swollen", func(s, _ string) error { return os.Truncate(s, attest.MaxSize+1) }, `.json"`},
		{"bundle gone", func(_, b string) error { return os.Remove(b) }, `.sigstore.json"`},
		{"bundle cut", func(_, b string) error { return os.Truncate(b, 3) }, `.sigstore.json"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, raw := open(t), statement(t, 1)
			digest := put(t, s, raw)
			path, bundle, err := s.Path(digest)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.do(path, bundle); err != nil {
				t.Fatal(err)
			}
			_, _, err = s.Get(digest)
			if !errors.Is(err, ErrCorrupted) || !strings.Contains(err.Error(), digest+c.want) && !strings.Contains(err.Error(), digest+".json"+c.want) {
				t.Errorf("Get: %v", err)
			}
			if err == nil || !strings.Contains(err.Error(), "check that server again") {
				t.Errorf("no next step: %v", err)
			}
			if err := s.Each(func(string, []byte, []byte) error { return nil }); !errors.Is(err, ErrCorrupted) {
				t.Errorf("Each: %v", err)
			}
			if _, fresh, err := s.Put(raw, []byte(`{"b":1}`)); err != nil || !fresh {
				t.Fatalf("Put does not put it right: %v %v", fresh, err)
			}
			if got, _, err := s.Get(digest); err != nil || !bytes.Equal(got, raw) {
				t.Errorf("after Put: %v", err)
			}
		})
	}
}

func TestEachIsSorted(t *testing.T) {
	s := open(t)
	var want []string
	for size := range int64(20) {
		want = append(want, put(t, s, statement(t, size)))
	}
	slices.Sort(want)
	var got []string
	if err := s.Each(func(digest string, statement, bundle []byte) error {
		got = append(got, digest)
		if attest.Digest(statement) != digest || string(bundle) != `{"b":1}` {
			t.Errorf("%s: wrong content", digest)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	stop := errors.New("stop")
	calls := 0
	if err := s.Each(func(string, []byte, []byte) error { calls++; return stop }); !errors.Is(err, stop) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// What a killed process leaves behind is ignored; what a person left is named.
func TestLeftovers(t *testing.T) {
	s, raw := open(t), statement(t, 1)
	digest := put(t, s, raw)
	path, bundle, err := s.Path(digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), tempPrefix+"123"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil { // killed between bundle and statement
		t.Fatal(err)
	}
	if got, err := s.Digests(); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	if _, _, err := s.Get(digest); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(bundle); err != nil {
		t.Fatal(err)
	}
	if _, fresh, err := s.Put(raw, []byte(`{"b":1}`)); err != nil || !fresh {
		t.Errorf("%v %v", fresh, err)
	}
	for _, name := range []string{"notes.txt", "00/" + digest + ".json"} {
		file := filepath.Join(s.Dir(), "statements", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Digests(); err == nil || !strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUnwritable(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		// A file where a folder should be fails for everybody.
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(filepath.Join(file, "data")); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%v", err)
		}
		return
	}
	s := open(t)
	if err := os.Chmod(filepath.Join(s.Dir(), "statements"), 0o500); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Put(statement(t, 1), []byte("{}")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v", err)
	}
}

func TestEvidence(t *testing.T) {
	s := open(t)
	for range 2 { // the second changes nothing
		digest, size, err := s.PutEvidence(strings.NewReader("abc"))
		// FIPS 180-2, appendix B.1
		if err != nil || size != 3 || digest != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
			t.Fatalf("%s %d %v", digest, size, err)
		}
		got, err := s.GetEvidence(digest)
		if err != nil || string(got) != "abc" {
			t.Fatalf("%q %v", got, err)
		}
		path, err := s.EvidencePath(digest)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
	}
	path, _ := s.EvidencePath(attest.Digest([]byte("abc")))
	if err := os.WriteFile(path, []byte("abd"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.GetEvidence(attest.Digest([]byte("abc"))); !errors.Is(err, ErrCorrupted) || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
	if _, err := s.GetEvidence(attest.Digest(nil)); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// A recording that cannot be read to its end leaves nothing behind.
func TestEvidenceFails(t *testing.T) {
	s := open(t)
	broken := io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(errors.New("cable cut")))
	if _, _, err := s.PutEvidence(broken); err == nil || !strings.Contains(err.Error(), "cable cut") {
		t.Errorf("%v", err)
	}
	entries, err := os.ReadDir(filepath.Join(s.Dir(), "evidence"))
	if err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
