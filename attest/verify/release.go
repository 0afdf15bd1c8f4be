package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/lustrum-mcp/lustrum/attest"
)

// Release judges a whole published folder: the signature of release.json, the
// list of files that it signs, that every file has the digest listed and that
// nothing else stands there. The editions inside are judged by Edition. An
// error means that the folder could not be read, or that ctx ended.
func Release(ctx context.Context, dir string, o Options) (*Result, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("verify the release: %w", err)
	}
	defer root.Close()
	files := root.FS()
	r := &Result{File: dir}
	in := Input{Options: o}
	if in.Statement, err = readFrom(files, attest.ReleaseFile); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("verify the release %q: %w", dir, err)
		}
		r.add(Fields, Fail, attest.ReleaseFile+" is not there, so nothing says what the folder should hold")
		return r.finish(o.AcceptUnsigned), nil
	}
	in.Bundle, err = readFrom(files, attest.ReleaseFile+attest.BundleSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("verify the release %q: %w", dir, err)
	}
	r.Digest = attest.Digest(in.Statement)
	r.signed(in)
	r.types(in.Statement, attest.ReleaseType)
	statement, err := attest.DecodeRelease(in.Statement)
	r.judge(Fields, err, "")
	if err != nil {
		return r.finish(o.AcceptUnsigned), nil
	}
	listed, err := listedFiles(files, statement)
	if err != nil {
		r.judge(Files, err, "")
		return r.finish(o.AcceptUnsigned), nil
	}
	if err := r.released(ctx, files, listed); err != nil {
		return nil, fmt.Errorf("verify the release %q: %w", dir, err)
	}
	return r.finish(o.AcceptUnsigned), nil
}

// listedFiles reads the list of files once its digest is the signed one.
func listedFiles(files fs.FS, statement *attest.ReleaseStatement) (map[string]string, error) {
	got, err := attest.FileDigest(files, attest.SumsFile)
	if err != nil {
		return nil, err
	}
	if want := statement.Subject[0].Digest["sha256"]; got != want {
		return nil, fmt.Errorf("%q has the digest %s, not the %s that is signed", attest.SumsFile, got, want)
	}
	f, err := files.Open(attest.SumsFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return attest.ParseSums(f)
}

// released holds what stands there against the list.
func (r *Result) released(ctx context.Context, files fs.FS, listed map[string]string) error {
	var wrong, more problems
	for _, path := range slices.Sorted(maps.Keys(listed)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		got, err := attest.FileDigest(files, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			wrong.add(fmt.Errorf("%q is listed but not there", path))
		case err != nil:
			wrong.add(err)
		case got != listed[path]:
			wrong.add(fmt.Errorf("%q has the digest %s, not the %s that is listed", path, got, listed[path]))
		}
	}
	r.judge(Files, wrong.err(), fmt.Sprintf("%d files", len(listed)))
	paths, err := attest.Paths(files)
	if err != nil {
		r.judge(Unlisted, err, "")
		return nil
	}
	for _, path := range paths {
		if listed[path] == "" && !attest.OfRelease(path) {
			more.add(fmt.Errorf("%q stands there but is not listed", path))
		}
	}
	r.judge(Unlisted, more.err(), "")
	return nil
}
