package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/lustrum-mcp/lustrum/attest"
)

// Edition judges a published edition: the signature of edition.json, every file
// that it lists, that nothing else stands there, and every statement. An error
// means that the folder could not be read, or that ctx ended.
func Edition(ctx context.Context, dir string, o Options) (*Result, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("verify the edition: %w", err)
	}
	defer root.Close()
	files := root.FS()
	in := Input{Options: o}
	if in.Statement, err = readFrom(files, attest.EditionFile); err != nil {
		return nil, fmt.Errorf("verify the edition %q: %w; name the folder that holds %s", dir, err, attest.EditionFile)
	}
	in.Bundle, err = readFrom(files, attest.EditionFile+attest.BundleSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("verify the edition %q: %w", dir, err)
	}
	r := &Result{File: dir, Digest: attest.Digest(in.Statement)}
	r.signed(in)
	r.types(in.Statement, attest.EditionType)
	e, err := attest.ParseEdition(in.Statement)
	if err == nil {
		err = e.ValidateContent()
	}
	r.judge(Fields, err, "")
	if err != nil {
		for _, name := range []string{Files, Unlisted, Statements, Span, Times} {
			r.add(name, NotAsked, "the edition statement could not be read")
		}
		return r.finish(o.AcceptUnsigned), nil
	}
	r.Edition = e
	if err := r.files(ctx, files, e); err != nil {
		return nil, fmt.Errorf("verify the edition %q: %w", dir, err)
	}
	r.unlisted(files, e)
	held := files
	if o.Statements != "" {
		other, err := os.OpenRoot(o.Statements)
		if err != nil {
			return nil, fmt.Errorf("verify the edition %q: open the folder of its statements: %w", dir, err)
		}
		defer other.Close()
		held = other.FS()
	}
	if err := r.statements(ctx, held, e, o); err != nil {
		return nil, fmt.Errorf("verify the edition %q: %w", dir, err)
	}
	return r.finish(o.AcceptUnsigned), nil
}

// problems collects what is wrong with many files, to be told in one line.
type problems struct {
	first error
	n     int
}

func (p *problems) add(err error) {
	if p.first == nil {
		p.first = err
	}
	p.n++
}

func (p *problems) err() error {
	if p.n > 1 {
		return fmt.Errorf("%w (and %d more)", p.first, p.n-1)
	}
	return p.first
}

func (r *Result) files(ctx context.Context, files fs.FS, e *attest.EditionStatement) error {
	var wrong problems
	for _, s := range e.Subject {
		if err := ctx.Err(); err != nil {
			return err
		}
		got, err := attest.FileDigest(files, s.Name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			wrong.add(fmt.Errorf("%q is listed but not there", s.Name))
		case err != nil:
			wrong.add(err)
		case got != s.Digest["sha256"]:
			wrong.add(fmt.Errorf("%q has the digest %s, not the %s that is listed", s.Name, got, s.Digest["sha256"]))
		}
	}
	r.judge(Files, wrong.err(), fmt.Sprintf("%d files", len(e.Subject)))
	return nil
}

func (r *Result) unlisted(files fs.FS, e *attest.EditionStatement) {
	paths, err := attest.Paths(files)
	if err != nil {
		r.judge(Unlisted, err, "")
		return
	}
	known := map[string]bool{attest.EditionFile: true, attest.EditionFile + attest.BundleSuffix: true}
	for _, s := range e.Subject {
		known[s.Name] = true
	}
	for _, digest := range e.Predicate.Statements {
		path := attest.StatementPath(digest)
		known[path], known[path+attest.BundleSuffix] = true, true
	}
	var wrong problems
	for _, path := range paths {
		if !known[path] {
			wrong.add(fmt.Errorf("%q stands there but is not listed", path))
		}
	}
	r.judge(Unlisted, wrong.err(), "")
}

// statements judges every statement of the edition, and the edition's times by
// theirs.
func (r *Result) statements(ctx context.Context, held fs.FS, e *attest.EditionStatement, o Options) error {
	o.Endpoint, o.MaxAge, o.MinScore, o.Require = "", 0, 0, nil // gates are for one statement
	var wrong problems
	var all []*attest.Statement
	seen := map[string]bool{}
	for _, digest := range e.Predicate.Statements {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := attest.StatementPath(digest)
		part, err := fromEdition(held, path, digest, o)
		if err != nil {
			wrong.add(err)
			continue
		}
		if !part.Verified {
			wrong.add(fmt.Errorf("%q is not verified: %s", path, reasons(part)))
			if len(r.Parts) < maxParts {
				r.Parts = append(r.Parts, part)
			}
		}
		r.Checked++
		if s := part.Statement; s != nil {
			if name := s.Predicate.Target.Transport + " " + s.Predicate.Target.Endpoint; seen[name] {
				wrong.add(fmt.Errorf("%q is a second statement about %q", path, s.Predicate.Target.Endpoint))
			} else {
				seen[name] = true
			}
			all = append(all, s)
		}
	}
	r.judge(Statements, wrong.err(), fmt.Sprintf("%d verified", r.Checked))
	p := &e.Predicate
	started, finished := attest.Span(all)
	var err error
	if started != p.StartedAt || finished != p.FinishedAt {
		err = fmt.Errorf("the edition says %q to %q, its statements %q to %q", p.StartedAt, p.FinishedAt, started, finished)
	}
	r.judge(Span, err, "")
	if len(p.Statements) == 0 {
		r.add(Times, Pass, "there is no statement")
		return nil
	}
	r.times(p.StartedAt, p.FinishedAt, o.Now)
	return nil
}

func fromEdition(held fs.FS, path, digest string, o Options) (*Result, error) {
	statement, err := readFrom(held, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%q is listed but not there", path)
	}
	if err != nil {
		return nil, err
	}
	if got := attest.Digest(statement); got != digest {
		return nil, fmt.Errorf("%q has the digest %s, which is not listed", path, got)
	}
	bundle, err := readFrom(held, path+attest.BundleSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	part := Statement(Input{Statement: statement, Bundle: bundle, Options: o})
	part.File = path
	return part, nil
}

func reasons(r *Result) string {
	failed := r.Failed()
	if len(failed) == 0 {
		return "its signature was not asked for"
	}
	names := make([]string, len(failed))
	for i, c := range failed {
		names[i] = c.Name
	}
	return strings.Join(slices.Compact(names), ", ") + ": " + failed[0].Detail
}

func readFrom(files fs.FS, path string) ([]byte, error) {
	f, err := attest.OpenRegular(files, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(f, path)
}
