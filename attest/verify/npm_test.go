package verify

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The same bundles under @sigstore/verify from npm, with a changed byte in one.
// LUSTRUM_TEST_NPM names a folder in which that package is installed.
func TestNPMAgrees(t *testing.T) {
	modules := os.Getenv("LUSTRUM_TEST_NPM")
	if modules == "" {
		t.Skip("LUSTRUM_TEST_NPM names no folder with @sigstore/verify and @sigstore/bundle installed")
	}
	script, err := filepath.Abs("testdata/verify.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ed25519", "p256"} {
		private, public := signer(t, name)
		bundle, err := private.Sign(golden(t))
		if err != nil {
			t.Fatal(err)
		}
		key := filepath.Join(t.TempDir(), "key.pub")
		write(t, key, private.PublicPEM())
		good, bad := filepath.Join(t.TempDir(), "good"), filepath.Join(t.TempDir(), "bad")
		changed := bytes.Replace(bundle, []byte(`"payload":"eyJf`), []byte(`"payload":"eyJg`), 1)
		if bytes.Equal(changed, bundle) {
			t.Fatal("nothing changed")
		}
		if _, err := Bundle(changed, public); err == nil {
			t.Error("the changed bundle verifies here")
		}
		write(t, good, bundle)
		write(t, bad, changed)
		cmd := exec.CommandContext(t.Context(), "node", script, key, good, bad)
		cmd.Dir = modules
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		if text := string(out); !strings.Contains(text, "ok "+good) || !strings.Contains(text, "refused "+bad) {
			t.Errorf("%s: %s", name, text)
		}
	}
}
