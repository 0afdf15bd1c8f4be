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

// maxTable bounds a table that ReadTable reads into memory, in rows.
const maxTable = 5_000_000

// ReadTable reads a table of an edition's folder; Row is Endpoint, ListingRow,
// Check or Tool. The columns must be exactly those of the row.
func ReadTable[Row any](dir string) ([]Row, error) {
	name, err := nameOf[Row]()
	if err != nil {
		return nil, err
	}
	all, err := readTable[Row](filepath.Join(dir, name+Ext))
	if err != nil {
		return nil, fmt.Errorf("read the table %q: %w", name, err)
	}
	return all, nil
}

func nameOf[Row any]() (string, error) {
	var row Row
	switch any(row).(type) {
	case Endpoint:
		return "endpoints", nil
	case ListingRow:
		return "listings", nil
	case Check:
		return "checks", nil
	case Tool:
		return "tools", nil
	}
	return "", fmt.Errorf("no table has rows of type %T", row)
}

func readTable[Row any](path string) (all []Row, err error) {
	// The library panics on some damaged files.
	defer func() {
		if p := recover(); p != nil {
			all, err = nil, fmt.Errorf("the file is damaged: %v", p)
		}
	}()
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(in, info.Size())
	if err != nil {
		return nil, err
	}
	if !parquet.EqualNodes(file.Schema(), parquet.SchemaOf(new(Row))) {
		return nil, errors.New("its columns are not those of this version")
	}
	if n := file.NumRows(); n > maxTable {
		return nil, fmt.Errorf("%d rows are over the bound of %d", n, maxTable)
	}
	r := parquet.NewGenericReader[Row](file)
	defer r.Close()
	all = make([]Row, file.NumRows())
	if n, err := r.Read(all); err != nil && !errors.Is(err, io.EOF) || n != len(all) {
		return nil, errors.Join(fmt.Errorf("%d of %d rows", n, len(all)), err)
	}
	return all, nil
}
