package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/attest/sign"
	"github.com/lustrum-mcp/lustrum/attest/store"
	"github.com/lustrum-mcp/lustrum/dataset"
	"github.com/lustrum-mcp/lustrum/dataset/figures"
	"github.com/lustrum-mcp/lustrum/graph"
)

const (
	editionsDir   = "editions"
	editionPrefix = "edition="
	keysDir       = "keys"
	keyFile       = "lustrum.pub"
)

// publish builds the release of an edition beside the one that is served, and
// switches it in.
func publish(ctx context.Context, c Config, st *store.Store, key *sign.Key, g *graph.Graph, e *dataset.Edition, s *Summary) error {
	built, err := os.MkdirTemp(filepath.Join(c.Out, releases), building)
	if err != nil {
		return fmt.Errorf("build the release: %w", err)
	}
	defer os.RemoveAll(built) //nolint:errcheck // gone once it is installed
	if err := os.Chmod(built, 0o755); err != nil {
		return fmt.Errorf("build the release: %w", err)
	}
	before, err := earlier(filepath.Join(c.Out, current), built, e.ID)
	if err != nil {
		return fmt.Errorf("take over earlier editions: %w", err)
	}
	set, note, err := buildEdition(ctx, c, st, key, e, built, before)
	if err != nil {
		return fmt.Errorf("build the edition: %w", err)
	}
	if note != "" {
		s.Warnings = append(s.Warnings, note)
	}
	if err := buildSite(ctx, c, g, key, e, set, note, before, built, s); err != nil {
		return fmt.Errorf("build the site: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.Release, s.Changed, err = install(c.Out, built, c.Edition)
	return err
}

// refuseOlder keeps history as it was published: once a later edition is out,
// an older one is not written again.
func refuseOlder(out, edition string) error {
	later, err := filepath.Glob(filepath.Join(out, current, editionsDir, editionPrefix+"*"))
	if err != nil {
		return err
	}
	for _, path := range later {
		if id := strings.TrimPrefix(filepath.Base(path), editionPrefix); id > edition {
			return fmt.Errorf("edition %s is published in %q already, and %s comes before it: give a later --edition, or another --out", id, out, edition)
		}
	}
	return nil
}

// earlier takes the other editions of the current release over into the new
// one, with the statements that they rest on, and returns their ids, newest
// first.
func earlier(currentDir, built, except string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(currentDir, editionsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, d := range entries {
		id, ok := strings.CutPrefix(d.Name(), editionPrefix)
		if !ok || id == except {
			continue
		}
		from := filepath.Join(currentDir, editionsDir, d.Name())
		if err := linkTree(from, filepath.Join(built, editionsDir, d.Name())); err != nil {
			return nil, err
		}
		raw, err := os.ReadFile(filepath.Join(from, attest.EditionFile))
		if err != nil {
			return nil, err
		}
		edition, err := attest.DecodeEdition(raw)
		if err != nil {
			return nil, fmt.Errorf("edition %s: %w", id, err)
		}
		for _, digest := range edition.Predicate.Statements {
			path := filepath.FromSlash(attest.StatementPath(digest))
			for _, suffix := range []string{"", attest.BundleSuffix} {
				if err := linkFile(filepath.Join(currentDir, path+suffix), filepath.Join(built, path+suffix)); err != nil {
					return nil, err
				}
			}
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids, nil
}

// buildEdition writes statements, tables, figures and the signed edition. The
// note says why there are no figures, when there are none.
func buildEdition(ctx context.Context, c Config, st *store.Store, key *sign.Key, e *dataset.Edition, built string, before []string) (set *figures.Set, note string, err error) {
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
