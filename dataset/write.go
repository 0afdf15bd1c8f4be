package dataset

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/parquet-go/parquet-go"
)

// Names of files in an edition's folder.
const (
	CardFile = "README.md"
	SumsFile = "SHA256SUMS"
)

// Write makes the tables of an edition and its README.md in dir, which must
// not hold them yet. Equal editions give equal bytes; the order of records and
// listings does not matter. A failed write leaves what it wrote: give a folder
// of its own, and publish it by renaming.
func Write(dir string, e *Edition) error {
	t, err := build(e)
	if err != nil {
		return fmt.Errorf("write the tables: %w", err)
	}
	return errors.Join(
		writeTable(dir, "checks", e, t.checks),
		writeTable(dir, "endpoints", e, t.endpoints),
		writeTable(dir, "listings", e, t.listings),
		writeTable(dir, "tools", e, t.tools),
		create(filepath.Join(dir, CardFile), func(w io.Writer) error {
			_, err := io.WriteString(w, card(e, t))
			return err
		}),
	)
}

func writeTable[Row any](dir, name string, e *Edition, all []Row) error {
	return create(filepath.Join(dir, name+Ext), func(w io.Writer) error {
		out := parquet.NewGenericWriter[Row](w, table(name).options(e)...)
		if _, err := out.Write(all); err != nil {
			return err
		}
		return out.Close()
	})
}

func create(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("write the edition: %w", err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	return nil
}

// WriteSums makes SHA256SUMS in dir, over every file there but itself,
// edition.json, its bundle and the statements. Call it when all of them are
// written and before edition.json is made; "sha256sum -c SHA256SUMS" checks it.
func WriteSums(dir string) error {
	files, err := attest.Files(os.DirFS(dir))
	if err != nil {
		return fmt.Errorf("write %s: %w", SumsFile, err)
	}
	var b strings.Builder
	for _, f := range files {
		if f.Name != SumsFile {
			fmt.Fprintf(&b, "%s  %s\n", f.Digest["sha256"], f.Name)
		}
	}
	return create(filepath.Join(dir, SumsFile), func(w io.Writer) error {
		_, err := io.WriteString(w, b.String())
		return err
	})
}
