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
	"regexp"
	"slices"
	"strings"

	"github.com/gofrs/flock"
)

// The published folder:
//
//	OUT/current            a symbolic link to the newest release: serve this
//	OUT/releases/NAME/     whole releases, each with every edition so far
//	OUT/releases/.building-*  what a killed run left; removed by the next
//	OUT/.lock              held by the run that writes here
const (
	releases = "releases"
	current  = "current"
	building = ".building-"
	lockName = ".lock"
)

// releaseName is the form of a release's folder: nothing else is ever removed.
var releaseName = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}-[0-9a-f]{16}$`)

// prepareOut checks that the published folder is ours to write, before
// anything is contacted, takes it for this process, and removes what a killed
// run left there.
func prepareOut(out string) (release func(), err error) {
	if err := foreign(out, func(d fs.DirEntry) bool {
		return (d.Name() == releases && d.IsDir()) || (d.Name() == current && d.Type() == fs.ModeSymlink) || strings.HasPrefix(d.Name(), ".")
	}); err != nil {
		return nil, err
	}
	dir := filepath.Join(out, releases)
	if err := foreign(dir, func(d fs.DirEntry) bool {
		return (releaseName.MatchString(d.Name()) && d.IsDir()) || strings.HasPrefix(d.Name(), building)
	}); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the output folder: %w: choose another with --out DIR", err)
	}
	l := flock.New(filepath.Join(out, lockName))
	held, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("write to the output folder %q: %w: choose another with --out DIR", out, err)
	}
	if !held {
		return nil, fmt.Errorf("another run is publishing to %q: wait for it to end, or choose another folder with --out DIR", out)
	}
	entries, err := os.ReadDir(dir)
	if err == nil {
		for _, d := range entries {
			if strings.HasPrefix(d.Name(), building) {
				err = errors.Join(err, os.RemoveAll(filepath.Join(dir, d.Name())))
			}
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("remove what an earlier run left: %w", err), l.Unlock())
	}
	return func() {
		l.Unlock() //nolint:errcheck // the lock goes with the process
		// A run that came to nothing leaves nothing: these fail where there is
		// something inside.
		if os.Remove(dir) == nil {
			os.Remove(filepath.Join(out, lockName)) //nolint:errcheck // as above
			os.Remove(out)                          //nolint:errcheck // as above
		}
	}, nil
}

// foreign is an error that names the first entry of a folder that no census
// wrote. A folder that is not there holds none.
func foreign(dir string, ours func(fs.DirEntry) bool) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the output folder: %w: choose another with --out DIR", err)
	}
	for _, d := range entries {
		if !ours(d) {
			return fmt.Errorf("the output folder %q holds %q, which no census wrote: choose an empty folder with --out DIR", dir, d.Name())
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
	there, err := treeDigest(path)
	if err == nil && there == digest {
		if err := os.RemoveAll(built); err != nil {
			return "", false, err
		}
		if before == filepath.Join(releases, name) {
			return path, false, nil
		}
	} else {
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			// It has the name and not the content: somebody changed it.
			if err := os.Rename(path, filepath.Join(out, releases, building+"damaged")); err != nil {
				return "", false, fmt.Errorf("put a damaged release aside: %w", err)
			}
		}
		if err := os.Rename(built, path); err != nil {
			return "", false, fmt.Errorf("move the release into place: %w", err)
		}
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
// served for a moment, and removes the other ones.
func prune(out string, keep ...string) error {
	dir := filepath.Join(out, releases)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		ours := releaseName.MatchString(e.Name()) || strings.HasPrefix(e.Name(), building)
		if ours && !slices.Contains(keep, e.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("remove an old release: %w", err)
			}
		}
	}
	return nil
}

// syncTree flushes every file and folder below dir to disk and returns the
// digest of names and contents.
func syncTree(dir string) (string, error) { return walkTree(dir, (*os.File).Sync, syncDir) }

// treeDigest is the digest of names and contents alone.
func treeDigest(dir string) (string, error) {
	if _, err := os.Lstat(dir); err != nil {
		return "", err
	}
	return walkTree(dir, func(*os.File) error { return nil }, func(string) error { return nil })
}

func walkTree(dir string, file func(*os.File) error, folder func(string) error) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return folder(path)
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		content := sha256.New()
		_, err = io.Copy(content, f)
		if err = errors.Join(err, file(f), f.Close()); err != nil {
			return err
		}
		fmt.Fprintf(sum, "%x  %s\n", content.Sum(nil), filepath.ToSlash(rel))
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
