package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/attest/sign"
	"github.com/lustrum-mcp/lustrum/attest/store"
	"github.com/lustrum-mcp/lustrum/dataset"
	"github.com/lustrum-mcp/lustrum/dataset/figures"
)

const (
	editionsDir   = "editions"
	editionPrefix = "edition="
	keysDir       = "keys"
	keyFile       = "lustrum.pub"
)

// publish builds the release of an edition beside the one that is served, and
// switches it in.
func publish(ctx context.Context, c Config, st *store.Store, key *sign.Key, e *dataset.Edition, s *Summary) error {
	built, err := os.MkdirTemp(filepath.Join(c.Out, releases), building)
	if err != nil {
		return fmt.Errorf("build the release: %w", err)
	}
	defer os.RemoveAll(built) //nolint:errcheck // gone once it is installed
	if err := os.Chmod(built, 0o755); err != nil {
		return fmt.Errorf("build the release: %w", err)
	}
	before, err := earlier(c.Out, built, e.ID)
	if err != nil {
		return err
	}
	set, note, err := buildEdition(ctx, st, key, e, built, before)
	if err != nil {
		return fmt.Errorf("build the edition: %w", err)
	}
	if note != "" {
		s.Warnings = append(s.Warnings, note)
	}
	if err := buildSite(ctx, c, key, e, set, note, before, built, s); err != nil {
		return fmt.Errorf("build the site: %w", err)
	}
	if err := signRelease(key, e.ID, built); err != nil {
		return fmt.Errorf("sign the release: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.Release, s.Changed, err = install(c.Out, built, c.Edition)
	return err
}

// signRelease lists every file of the release and signs the list: what the
// editions don't answer for, the pages and records of the site, it does.
func signRelease(key *sign.Key, edition, built string) error {
	sums, err := attest.Sums(os.DirFS(built))
	if err != nil {
		return err
	}
	raw, err := attest.EncodeRelease(edition, sums)
	if err != nil {
		return err
	}
	bundle, err := key.Sign(raw)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(built, attest.SumsFile), sums, 0o644),
		os.WriteFile(filepath.Join(built, attest.ReleaseFile), raw, 0o644),
		os.WriteFile(filepath.Join(built, attest.ReleaseFile+attest.BundleSuffix), bundle, 0o644),
	)
}

// buildEdition writes statements, tables, figures and the signed edition. The
// note says why there are no figures, when there are none.
func buildEdition(ctx context.Context, st *store.Store, key *sign.Key, e *dataset.Edition, built string, before []string) (set *figures.Set, note string, err error) {
	dir := filepath.Join(built, editionsDir, editionPrefix+e.ID)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, "", err
	}
	if err := copyStatements(st, e, built); err != nil {
		return nil, "", err
	}
	if err := dataset.Write(dir, e); err != nil {
		return nil, "", err
	}
	set, err = figures.Compute(ctx, dir, e.ID)
	switch {
	case errors.Is(err, figures.ErrNoDuckDB):
		set, note = nil, err.Error()
	case err != nil:
		return nil, "", err
	default:
		if err := figures.Write(dir, set); err != nil {
			return nil, "", err
		}
	}
	if err := dataset.WriteSums(dir); err != nil {
		return nil, "", err
	}
	return set, note, signEdition(key, e, built, dir, before)
}

// signEdition signs the list of the edition's files and statements, and links
// it to the edition before it.
func signEdition(key *sign.Key, e *dataset.Edition, built, dir string, before []string) error {
	files, err := attest.Files(os.DirFS(dir))
	if err != nil {
		return err
	}
	var statements []*attest.Statement
	digests := []string{}
	for _, r := range e.Records {
		statements = append(statements, r.Statement)
		digests = append(digests, r.Digest)
	}
	slices.Sort(digests)
	started, finished := attest.Span(statements)
	previous := ""
	for _, id := range before {
		if id < e.ID {
			previous, err = attest.FileDigest(os.DirFS(filepath.Join(built, editionsDir, editionPrefix+id)), attest.EditionFile)
			if err != nil {
				return err
			}
			break
		}
	}
	raw, err := attest.EncodeEdition(attest.NewEdition(attest.EditionPredicate{
		Edition: e.ID, Registry: e.Registry, Namespaces: e.Namespaces, Audience: e.Audience, Method: e.Method, Rubric: Rubric,
		Operator: e.Operator, Contact: e.Contact, StartedAt: started, FinishedAt: finished, Statements: digests, Previous: previous,
		Counts: attest.EditionCounts{Endpoints: len(e.Records) + e.NotInEdition, Public: len(e.Records), NotInEdition: e.NotInEdition},
	}, files))
	if err != nil {
		return err
	}
	bundle, err := key.Sign(raw)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, attest.EditionFile), raw, 0o644),
		os.WriteFile(filepath.Join(dir, attest.EditionFile+attest.BundleSuffix), bundle, 0o644),
	)
}

// copyStatements publishes the statements of public records and the key that
// verifies them.
func copyStatements(st *store.Store, e *dataset.Edition, built string) error {
	for _, r := range e.Records {
		raw, bundle, err := st.Get(r.Digest)
		if err != nil {
			return err
		}
		path := filepath.Join(built, filepath.FromSlash(attest.StatementPath(r.Digest)))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		for suffix, content := range map[string][]byte{"": raw, attest.BundleSuffix: bundle} {
			if err := replace(path+suffix, content); err != nil {
				return err
			}
		}
	}
	return nil
}

// replace writes a file that may stand there as a hard link of an earlier
// release, whose bytes must not change.
func replace(path string, content []byte) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
