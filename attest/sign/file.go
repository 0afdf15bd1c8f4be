package sign

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// KeyFile is the name of the key inside its folder.
const KeyFile = "signing.pem"

const maxKeyFile = 16 << 10 // bytes; a PEM key has a few hundred

// LoadOrMake returns the key in a folder and makes an Ed25519 one on first use.
// The folder is 0700 and the file 0600; when others can read either, it is
// refused rather than repaired, because whoever could read the key may have.
// Two processes that start at once end up with the same key.
func LoadOrMake(dir string) (*Key, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the key folder %q: %w", dir, err)
	}
	if err := privateDir(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, KeyFile)
	key, err := Load(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := create(dir, path); err != nil {
		return nil, fmt.Errorf("make the signing key %q: %w", path, err)
	}
	return Load(path)
}

// Load reads a key file (see Parse). It is refused when others can read it.
func Load(path string) (*Key, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the signing key: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the signing key: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read the signing key: %q is not a regular file", path)
	}
	if err := privateMode(path, info, 0o600); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the signing key %q: %w", path, err)
	}
	if len(text) > maxKeyFile {
		return nil, fmt.Errorf("read the signing key %q: over %d bytes, not a key", path, maxKeyFile)
	}
	key, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read the signing key %q: %w", path, err)
	}
	return key, nil
}

// create writes a new key beside path and links it in: a link, unlike a
// rename, fails when the name is taken, so the first process wins and a key is
// never replaced.
func create(dir, path string) error {
	_, text, err := generate()
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".key-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(text)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	if runtime.GOOS == "windows" { // folders cannot be synced there
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func privateDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("look at the key folder: %w", err)
	}
	return privateMode(dir, info, 0o700)
}

func privateMode(path string, info fs.FileInfo, mode fs.FileMode) error {
	if runtime.GOOS == "windows" { // permission bits say nothing there
		return nil
	}
	if got := info.Mode().Perm(); got&0o077 != 0 {
		return fmt.Errorf("%q can be read or changed by others (mode %04o), so the signing key may not be yours alone: run chmod %04o %q, or remove the key and let a new one be made", path, got, mode, path)
	}
	return nil
}
