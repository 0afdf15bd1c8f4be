package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lustrum-mcp/lustrum/attest"
)

// Errors of the store, wrapped with the file and the next step.
var (
	ErrNotFound  = errors.New("not in the store")
	ErrCorrupted = errors.New("corrupted")
	ErrDigest    = errors.New("not a SHA-256 in lower-case hex")
)

// Store is a folder of statements and evidence. Several goroutines and
// processes may write to one store; the same content ends in the same file.
type Store struct {
	dir string
}

// Open makes the folders of a store below dir when they are missing. Evidence
// is private: its folder is 0700.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir}
	if err := makeDir(s.statements(), 0o755); err != nil {
		return nil, fmt.Errorf("open the store %q: %w", dir, err)
	}
	if err := makeDir(s.evidence(), 0o700); err != nil {
		return nil, fmt.Errorf("open the store %q: %w", dir, err)
	}
	return s, nil
}

// Dir is the folder of the store.
func (s *Store) Dir() string { return s.dir }

func (s *Store) statements() string { return filepath.Join(s.dir, attest.StatementsDir) }
func (s *Store) evidence() string   { return filepath.Join(s.dir, "evidence") }

// Path is the file of the statement with a digest, its bundle beside it. It
// fails with ErrDigest for anything but a digest, so no path can lead out of
// the store.
func (s *Store) Path(digest string) (statement, bundle string, err error) {
	rel := attest.StatementPath(digest)
	if rel == "" {
		return "", "", fmt.Errorf("look up the statement %q: %w", digest, ErrDigest)
	}
	path := filepath.Join(s.dir, filepath.FromSlash(rel))
	return path, path + attest.BundleSuffix, nil
}

// Put keeps a statement and its bundle and returns the statement's digest. The
// statement must be one that attest.Decode accepts and the bundle a JSON
// document; whether it was signed by the right key is not asked here. Content
// that is there already is left as it is (fresh is false), together with its
// first bundle; content that has rotted is put right.
func (s *Store) Put(statement, bundle []byte) (digest string, fresh bool, err error) {
	if _, err := attest.Decode(statement); err != nil {
		return "", false, fmt.Errorf("store a statement: %w", err)
	}
	if len(bundle) > attest.MaxSize || !json.Valid(bundle) {
		return "", false, fmt.Errorf("store a statement: the bundle is not a JSON document of at most %d bytes", attest.MaxSize)
	}
	digest = attest.Digest(statement)
	path, bundlePath, err := s.Path(digest)
	if err != nil {
		return "", false, err
	}
	if held, err := s.held(path, bundlePath, statement); err != nil {
		return "", false, fmt.Errorf("store the statement %s: %w", digest, err)
	} else if held {
		return digest, false, nil
	}
	err = makeDir(filepath.Dir(path), 0o755)
	if err == nil {
		err = writeFile(bundlePath, bundle, 0o644)
	}
	if err == nil {
		err = writeFile(path, statement, 0o644)
	}
	if err != nil {
		return "", false, fmt.Errorf("store the statement %s: %w", digest, err)
	}
	return digest, true, nil
}

func (s *Store) held(path, bundlePath string, statement []byte) (bool, error) {
	old, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil && !errors.Is(err, ErrCorrupted) {
		return false, err
	}
	if err != nil || !bytes.Equal(old, statement) {
		return false, nil
	}
	bundle, err := readFile(bundlePath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrCorrupted) {
		return false, err
	}
	return err == nil && json.Valid(bundle), nil
}

// Get returns a statement and its bundle. The statement's bytes are held
// against the digest; errors are ErrDigest, ErrNotFound and ErrCorrupted.
func (s *Store) Get(digest string) (statement, bundle []byte, err error) {
	path, bundlePath, err := s.Path(digest)
	if err != nil {
		return nil, nil, err
	}
	statement, err = readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("statement %s: %w", digest, ErrNotFound)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the statement: %w", err)
	}
	if got := attest.Digest(statement); got != digest {
		return nil, nil, corrupted(path, fmt.Sprintf("its content has the digest %s", got))
	}
	bundle, err = readFile(bundlePath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, corrupted(bundlePath, "the bundle is missing")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the bundle: %w", err)
	}
	if !json.Valid(bundle) {
		return nil, nil, corrupted(bundlePath, "it is not JSON")
	}
	return statement, bundle, nil
}

func corrupted(path, why string) error {
	return fmt.Errorf("%q is %w: %s; put the file back from a copy, or remove it together with the file beside it and check that server again", path, ErrCorrupted, why)
}

// Each calls f for every statement in the order of digests and stops at the
// first error, f's or its own.
func (s *Store) Each(f func(digest string, statement, bundle []byte) error) error {
	digests, err := s.Digests()
	if err != nil {
		return err
	}
	for _, digest := range digests {
		statement, bundle, err := s.Get(digest)
		if err != nil {
			return err
		}
		if err := f(digest, statement, bundle); err != nil {
			return err
		}
	}
	return nil
}

// Digests lists the statements in the store, sorted, without reading them. A
// file that does not belong there is an error that names it; temporary files
// and a bundle whose statement was never written are what a killed process
// leaves, and ignored.
func (s *Store) Digests() ([]string, error) {
	var out []string
	err := filepath.WalkDir(s.statements(), func(path string, d fs.DirEntry, err error) error {
		name := filepath.Base(path)
		if err != nil || d.IsDir() || strings.HasPrefix(name, ".") {
			return err
		}
		digest := strings.TrimSuffix(strings.TrimSuffix(name, attest.BundleSuffix), ".json")
		want, bundle, perr := s.Path(digest)
		switch {
		case perr == nil && path == want:
			out = append(out, digest)
		case perr == nil && path == bundle:
		default:
			return fmt.Errorf("%q does not belong in the store: move it elsewhere", path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the store: %w", err)
	}
	slices.Sort(out)
	return out, nil
}

// readFile reads at most attest.MaxSize bytes of a regular file.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, attest.MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(data) > attest.MaxSize {
		return nil, corrupted(path, fmt.Sprintf("it is over %d bytes", attest.MaxSize))
	}
	return data, nil
}
