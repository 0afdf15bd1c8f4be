package attest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// maxFiles bounds how many files an edition may hold.
const maxFiles = 1 << 20

// Paths lists every regular file below root as a slash path, in the order of
// the paths. Anything that is neither a folder nor a regular file (a symbolic
// link, a device) is an error: what it shows can change without its name doing
// so.
func Paths(root fs.FS) ([]string, error) {
	var out []string
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return nil
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%q is not a regular file", path)
		}
		if err := CheckPath(path); err != nil {
			return err
		}
		if len(out) == maxFiles {
			return fmt.Errorf("more than %d files", maxFiles)
		}
		out = append(out, path)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the files of the edition: %w", err)
	}
	slices.Sort(out)
	return out, nil
}

// Files makes the subjects of an edition statement: every file below root with
// its SHA-256, sorted, without edition.json, its bundle, and what stands in
// statements/ (which the predicate lists by digest).
func Files(root fs.FS) ([]Subject, error) {
	paths, err := Paths(root)
	if err != nil {
		return nil, err
	}
	out := make([]Subject, 0, len(paths))
	for _, path := range paths {
		if path == EditionFile || path == EditionFile+BundleSuffix || strings.HasPrefix(path, StatementsDir+"/") {
			continue
		}
		sum, err := FileDigest(root, path)
		if err != nil {
			return nil, err
		}
		out = append(out, Subject{Name: path, Digest: map[string]string{"sha256": sum}})
	}
	return out, nil
}

// FileDigest is the SHA-256 of a file in lower-case hex, read as a stream.
func FileDigest(root fs.FS, path string) (string, error) {
	f, err := OpenRegular(root, path)
	if err != nil {
		return "", fmt.Errorf("read a file of the edition: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %q of the edition: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// OpenRegular opens a regular file and nothing else: opening a pipe would wait
// for whoever writes into it.
func OpenRegular(root fs.FS, path string) (fs.File, error) {
	info, err := fs.Stat(root, path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is not a regular file", path)
	}
	return root.Open(path)
}
