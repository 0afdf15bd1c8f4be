package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The published folder:
//
//	OUT/current            a symbolic link to the newest release: serve this
//	OUT/releases/NAME/     whole releases, each with every edition so far
//	OUT/releases/.building-*  what a killed run left; removed by the next
const (
	releases = "releases"
	current  = "current"
	building = ".building-"
)

// prepareOut checks that the published folder is ours to write, before
// anything is contacted, and removes what a killed run left there.
func prepareOut(out string) error {
	entries, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the output folder: %w: choose another with --out DIR", err)
	}
	for _, e := range entries {
		if e.Name() != releases && e.Name() != current && !strings.HasPrefix(e.Name(), ".") {
			return fmt.Errorf("the output folder %q holds %q, which no census wrote: choose an empty folder with --out DIR", out, e.Name())
		}
	}
	dir := filepath.Join(out, releases)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the output folder: %w: choose another with --out DIR", err)
	}
	probe, err := os.MkdirTemp(dir, building)
	if err != nil {
		return fmt.Errorf("write to the output folder: %w: choose another with --out DIR", err)
	}
	if err := os.Remove(probe); err != nil {
		return fmt.Errorf("write to the output folder: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, building+"*"))
	if err != nil {
		return err
	}
	for _, path := range left {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove what an earlier run left: %w", err)
		}
	}
	return nil
}

// install turns a finished folder into the current release with one rename of
// the link. It reports the release's path and whether anything changed.
func install(out, built, edition string) (path string, changed bool, err error) {
	digest, err := syncTree(built)
	if err != nil {
		return "", false, fmt.Errorf("write the release to disk: %w", err)
	}
	name := edition + "-" + digest[:16]
	path = filepath.Join(out, releases, name)
	link := filepath.Join(out, current)
	before, _ := os.Readlink(link)
	if _, err := os.Stat(path); err == nil {
		// A release is renamed into place whole, so this one is whole too.
		if err := os.RemoveAll(built); err != nil {
			return "", false, err
		}
	} else if err := os.Rename(built, path); err != nil {
		return "", false, fmt.Errorf("move the release into place: %w", err)
	}
	if before == filepath.Join(releases, name) {
		return path, false, nil
	}
	if err := syncDir(filepath.Join(out, releases)); err != nil {
		return "", false, err
	}
	next := filepath.Join(out, releases, building+"link")
	if err := os.Symlink(filepath.Join(releases, name), next); err != nil {
		return "", false, fmt.Errorf("switch to the new release: %w", err)
	}
	if err := os.Rename(next, link); err != nil {
		return "", false, errors.Join(fmt.Errorf("switch to the new release: %w", err), os.Remove(next))
	}
	if err := syncDir(out); err != nil {
		return "", false, err
	}
	return path, true, prune(out, name, filepath.Base(before))
}

// prune keeps the current release and the one before it, which may still be
// served for a moment.
func prune(out string, keep ...string) error {
	entries, err := os.ReadDir(filepath.Join(out, releases))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !slices.Contains(keep, e.Name()) {
			if err := os.RemoveAll(filepath.Join(out, releases, e.Name())); err != nil {
				return fmt.Errorf("remove an old release: %w", err)
			}
		}
	}
	return nil
}

// syncTree flushes every file and folder below dir to disk and returns the
// digest of names and contents.
func syncTree(dir string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return syncDir(path)
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		file := sha256.New()
		_, err = io.Copy(file, f)
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return err
		}
		fmt.Fprintf(sum, "%x  %s\n", file.Sum(nil), filepath.ToSlash(rel))
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// linkTree makes to hold the files of from without copying their bytes:
// published files are never written again.
func linkTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		return linkFile(path, filepath.Join(to, rel))
	})
}

func linkFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, in.Close(), out.Close())
}
