package sign

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func load(t testing.TB, name string) *Key {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	key, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// The whole bundle, byte for byte: the signature and the hint in it were made
// by OpenSSL over the pre-authentication encoding written out by hand, see
// testdata/README.md.
func TestSignIsWhatOpenSSLSigns(t *testing.T) {
	hint, err := os.ReadFile("testdata/ed25519.hint")
	if err != nil {
		t.Fatal(err)
	}
	sig, err := os.ReadFile("testdata/ed25519.sig")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"dsseEnvelope":{"payload":"e30=","payloadType":"application/vnd.in-toto+json","signatures":[{"sig":"` +
		strings.TrimSpace(string(sig)) + `"}]},"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json",` +
		`"verificationMaterial":{"publicKey":{"hint":"` + strings.TrimSpace(string(hint)) + `"}}}`
	key := load(t, "ed25519.pem")
	for range 20 { // the protobuf library varies its spacing
		got, err := key.Sign([]byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestSignECDSA(t *testing.T) {
	key := load(t, "p256.pem")
	raw, err := key.Sign([]byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	var b struct {
		DSSEEnvelope struct {
			Signatures []struct{ Sig []byte }
		}
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		t.Fatal(err)
	}
	// DSSE v1: "DSSEv1" SP LEN(type) SP type SP LEN(body) SP body.
	sum := sha256.Sum256([]byte("DSSEv1 28 application/vnd.in-toto+json 2 {}"))
	if !ecdsa.VerifyASN1(key.Public().(*ecdsa.PublicKey), sum[:], b.DSSEEnvelope.Signatures[0].Sig) {
		t.Error("the signature does not verify")
	}
}

func TestSignBounds(t *testing.T) {
	key := load(t, "ed25519.pem")
	if _, err := key.Sign(nil); err == nil {
		t.Error("an empty payload was signed")
	}
	if _, err := key.Sign(bytes.Repeat([]byte("a"), 4<<20)); err == nil || !strings.Contains(err.Error(), "4194304") {
		t.Errorf("a bundle over the bound was written: %v", err)
	}
}

func TestPublicPEM(t *testing.T) {
	for _, name := range []string{"ed25519", "p256"} {
		want, err := os.ReadFile("testdata/" + name + ".pub")
		if err != nil {
			t.Fatal(err)
		}
		key := load(t, name+".pem")
		if diff := cmp.Diff(string(want), string(key.PublicPEM())); diff != "" {
			t.Error(diff)
		}
		block, _ := pem.Decode(want)
		sum := sha256.Sum256(block.Bytes)
		if want := base64.StdEncoding.EncodeToString(sum[:]); key.ID() != want {
			t.Errorf("%s: id %s, want %s", name, key.ID(), want)
		}
	}
}

func TestLoadOrMake(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "keys")
	first, err := LoadOrMake(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := first.Public().(ed25519.PublicKey); !ok {
		t.Errorf("made a %T", first.Public())
	}
	again, err := LoadOrMake(dir)
	if err != nil {
		t.Fatal(err)
	}
	if again.ID() != first.ID() {
		t.Error("a second key was made")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != KeyFile {
		t.Errorf("left behind: %v", entries)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, KeyFile): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v; want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

func TestLoadOrMakeAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	ids := make([]string, 16)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			key, err := LoadOrMake(dir)
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = key.ID()
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("two keys: %s and %s", ids[0], id)
		}
	}
}

func TestOthersCanRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permission bits say nothing on Windows")
	}
	dir := filepath.Join(t.TempDir(), "keys")
	if _, err := LoadOrMake(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, KeyFile)
	for _, c := range []struct {
		path     string
		bad, ok  fs.FileMode
		nextStep string
	}{
		{path, 0o640, 0o600, "chmod 0600"},
		{path, 0o604, 0o600, "chmod 0600"},
		{path, 0o620, 0o600, "chmod 0600"},
		{dir, 0o750, 0o700, "chmod 0700"},
	} {
		if err := os.Chmod(c.path, c.bad); err != nil {
			t.Fatal(err)
		}
		_, err := LoadOrMake(dir)
		if err == nil || !strings.Contains(err.Error(), c.nextStep) || !strings.Contains(err.Error(), fmt.Sprintf("%04o", c.bad)) {
			t.Errorf("mode %o of %s: %v", c.bad, c.path, err)
		}
		if err := os.Chmod(c.path, c.ok); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := LoadOrMake(dir); err != nil {
		t.Error(err)
	}
}

func TestParseRefuses(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "no PEM"},
		{"public", read("ed25519.pub"), "public key"},
		{"two keys", read("ed25519.pem") + read("p256.pem"), "one key"},
		{"other curve", read("p384.pem"), "P-384"},
		{"SEC 1", read("sec1.pem"), "openssl pkcs8"},
		{"encrypted", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n", "encrypted"},
		{"junk", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "PKCS #8"},
		{"certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "CERTIFICATE"},
	} {
		if _, err := Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want a word on %q", c.name, err, c.want)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.pem")
	if err := os.WriteFile(big, make([]byte, maxKeyFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.pem"): "no such file",
		big:                            "not a key",
	} {
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := LoadOrMake(big); err == nil {
		t.Error("a file was taken for a folder")
	}
}

// OpenSSL reads the key that is made here.
func TestOpenSSLReadsTheKey(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is not installed")
	}
	dir := filepath.Join(t.TempDir(), "keys")
	key, err := LoadOrMake(dir)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), openssl, "pkey", "-in", filepath.Join(dir, KeyFile), "-pubout").Output()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(key.PublicPEM()), string(out)); diff != "" {
		t.Error(diff)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"ed25519.pem", "p256.pem", "p384.pem", "sec1.pem", "ed25519.pub"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		key, err := Parse(text)
		if err != nil {
			return
		}
		if _, err := key.Sign([]byte("{}")); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkSign(b *testing.B) {
	payload := bytes.Repeat([]byte("a"), 4096)
	for _, name := range []string{"ed25519", "p256"} {
		key := load(b, name+".pem")
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := key.Sign(payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
