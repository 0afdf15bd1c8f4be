package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/attest/sign"
)

// published lists the editions of the current release, newest first.
func published(out string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(out, current, editionsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the published editions: %w", err)
	}
	var ids []string
	for _, d := range entries {
		if id, ok := strings.CutPrefix(d.Name(), editionPrefix); ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids, nil
}

// refuseOther keeps one folder to one census: the same registry, namespaces
// and audience, signed with the same key, and never an edition older than one
// that is out.
func refuseOther(c Config, key *sign.Key) error {
	ids, err := published(c.Out)
	if err != nil || len(ids) == 0 {
		return err
	}
	if ids[0] > c.Edition {
		return fmt.Errorf("edition %s is published in %q already, and %s comes before it: give a later --edition, or another --out", ids[0], c.Out, c.Edition)
	}
	pem, err := os.ReadFile(filepath.Join(c.Out, current, keysDir, keyFile))
	if err != nil {
		return fmt.Errorf("read the key of the published folder: %w: restore it, or choose another --out", err)
	}
	if string(pem) != string(key.PublicPEM()) {
		return fmt.Errorf("the folder %q is signed with another key than the one in %q: use the data directory that it was made with, or choose another --out", c.Out, c.Data)
	}
	raw, err := os.ReadFile(filepath.Join(c.Out, current, editionsDir, editionPrefix+ids[0], attest.EditionFile))
	if err != nil {
		return fmt.Errorf("read the newest published edition: %w", err)
	}
	e, err := attest.DecodeEdition(raw)
	if err != nil {
		return fmt.Errorf("the newest published edition in %q: %w: restore the folder, or choose another --out", c.Out, err)
	}
	p := e.Predicate
	if p.Registry != c.Registry || !slices.Equal(p.Namespaces, c.sortedNamespaces()) || p.Audience != c.Audience {
		return fmt.Errorf("the folder %q holds the census of %s %s for the audience %q, and this run is another one: choose another --out",
			c.Out, p.Registry, strings.Join(p.Namespaces, " "), p.Audience)
	}
	return nil
}

// earlier takes the other editions of the current release over into the new
// one, with the statements that they rest on, and returns their ids, newest
// first. Every byte is held against the digest that was signed: what somebody
// changed is not carried on.
func earlier(out, built, except string) ([]string, error) {
	all, err := published(out)
	if err != nil {
		return nil, err
	}
	from := filepath.Join(out, current)
	var ids []string
	for _, id := range all {
		if id == except {
			continue
		}
		if err := takeOver(from, built, id); err != nil {
			return nil, fmt.Errorf("the published edition %s is damaged: %w: restore %q from a backup, or publish to another --out", id, err, from)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func takeOver(from, built, id string) error {
	dir := filepath.Join(editionsDir, editionPrefix+id)
	raw, err := os.ReadFile(filepath.Join(from, dir, attest.EditionFile))
	if err != nil {
		return err
	}
	e, err := attest.DecodeEdition(raw)
	if err != nil {
		return err
	}
	for _, s := range e.Subject {
		if err := link(from, built, filepath.Join(dir, filepath.FromSlash(s.Name)), s.Digest["sha256"]); err != nil {
			return err
		}
	}
	for _, name := range []string{attest.EditionFile, attest.EditionFile + attest.BundleSuffix} {
		if err := link(from, built, filepath.Join(dir, name), ""); err != nil {
			return err
		}
	}
	for _, digest := range e.Predicate.Statements {
		path := filepath.FromSlash(attest.StatementPath(digest))
		if err := errors.Join(link(from, built, path, digest), link(from, built, path+attest.BundleSuffix, "")); err != nil {
			return err
		}
	}
	return nil
}

// link makes a file of one release stand in the next one too, after holding it
// against its digest when there is one: published files are never written
// again.
func link(from, to, path, digest string) error {
	raw, err := os.ReadFile(filepath.Join(from, path))
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(raw); digest != "" && hex.EncodeToString(sum[:]) != digest {
		return fmt.Errorf("%q is not what was signed", path)
	}
	target := filepath.Join(to, path)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	err = os.Link(filepath.Join(from, path), target)
	switch {
	case err == nil || errors.Is(err, fs.ErrExist):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return err
	}
	return os.WriteFile(target, raw, 0o644)
}
