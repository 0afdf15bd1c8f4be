package figures

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Write makes figures.json, and figures/NAME.csv and figures/NAME.sql for each
// figure, in dir. None of them may be there yet.
func Write(dir string, s *Set) error {
	whole, err := Encode(s)
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, Folder), 0o755); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	for i := range s.Figures {
		f := &s.Figures[i]
		table, err := CSV(f)
		if err != nil {
			return err
		}
		if err := create(filepath.Join(dir, Folder, f.Name+".csv"), table); err != nil {
			return err
		}
		if err := create(filepath.Join(dir, Folder, f.Name+".sql"), []byte(f.SQL)); err != nil {
			return err
		}
	}
	return create(filepath.Join(dir, File), whole)
}

func create(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write the figures to %q: %w", path, err)
	}
	return nil
}

// Read reads figures.json of a folder as strictly as Decode, and at most 16
// MiB of it.
func Read(dir string) (*Set, error) {
	path := filepath.Join(dir, File)
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the figures: %w", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the figures: %w", err)
	}
	s, err := Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("read the figures %q: %w", path, err)
	}
	return s, nil
}

// Decode reads what Encode wrote and nothing else: members that are unknown,
// missing or given twice, other spellings of numbers, digests that are not
// those of the SQL, and sets beyond the bounds are refused.
func Decode(raw []byte) (*Set, error) {
	if len(raw) > maxFile {
		return nil, fmt.Errorf("over the bound of %d bytes", maxFile)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	var s Set
	if err := dec.Decode(&s); err != nil {
		return nil, fmt.Errorf("not a set of figures: %w", err)
	}
	for i := range s.Figures {
		if err := s.Figures[i].numbers(); err != nil {
			return nil, err
		}
	}
	again, err := Encode(&s)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(raw, again) {
		return nil, errors.New("the bytes are not in the canonical form (RFC 8785) that figures are written in")
	}
	return &s, nil
}

// numbers turns json.Number into what Rows promises.
func (f *Figure) numbers() error {
	for _, row := range f.Rows {
		for i, v := range row {
			n, ok := v.(json.Number)
			if !ok {
				continue
			}
			if whole, err := n.Int64(); err == nil && (i >= len(f.Columns) || !isFraction(f.Columns[i])) {
				row[i] = whole
				continue
			}
			x, err := n.Float64()
			if err != nil {
				return fmt.Errorf("figure %q: %q is no number: %w", f.Name, n, err)
			}
			row[i] = x
		}
	}
	return nil
}

func (s *Set) validate() error {
	if day, err := time.Parse(time.DateOnly, s.Edition); err != nil || day.Format(time.DateOnly) != s.Edition {
		return fmt.Errorf("edition %q is no day such as 2026-01-31", s.Edition)
	}
	if len(s.Figures) > maxFigures {
		return fmt.Errorf("%d figures are over the bound of %d", len(s.Figures), maxFigures)
	}
	if s.Figures == nil {
		return errors.New("the list of figures is missing")
	}
	for i := range s.Figures {
		f := &s.Figures[i]
		if i > 0 && s.Figures[i-1].Name >= f.Name {
			return fmt.Errorf("figure %q stands twice or out of order", f.Name)
		}
		if err := f.validate(); err != nil {
			return fmt.Errorf("figure %q: %w", f.Name, err)
		}
	}
	return nil
}

// validate holds the members against the header of the SQL, and the rows
// against their columns and bounds.
func (f *Figure) validate() error {
	d, err := ParseDefinition(f.Name, []byte(f.SQL))
	if err != nil {
		return err
	}
	if f.Title != d.Title || f.Unit != d.Unit || f.Chart != d.Chart || f.Note != d.Note {
		return errors.New("title, unit, chart or note is not what the header of its SQL says")
	}
	if f.SQLSHA256 != textDigest(f.SQL) {
		return errors.New("sql_sha256 is not the digest of its SQL")
	}
	if f.Inputs == nil || f.Rows == nil {
		return errors.New("inputs or rows are missing")
	}
	var tables []string
	for _, in := range f.Inputs {
		if len(in.SHA256) != 64 || strings.Trim(in.SHA256, "0123456789abcdef") != "" || in.Rows < 0 {
			return fmt.Errorf("input %q has no SHA-256 in hex, or a negative number of rows", in.Table)
		}
		tables = append(tables, in.Table)
	}
	if !slices.Equal(tables, d.Tables) {
		return fmt.Errorf("inputs are %q, but the header of its SQL says %q", tables, d.Tables)
	}
	if err := validateColumns(f.Columns); err != nil {
		return err
	}
	return f.validateRows()
}

func (f *Figure) validateRows() error {
	if len(f.Rows) > maxRows {
		return fmt.Errorf("%d rows are over the bound of %d", len(f.Rows), maxRows)
	}
	for i, row := range f.Rows {
		if len(row) != len(f.Columns) {
			return fmt.Errorf("row %d has %d cells for %d columns", i, len(row), len(f.Columns))
		}
		for j, v := range row {
			want, err := cell(f.Columns[j], v)
			if err != nil {
				return fmt.Errorf("row %d: %w", i, err)
			}
			if want != v {
				return fmt.Errorf("row %d, column %q: %v is not written with %d decimals, or is no valid text", i, f.Columns[j], v, Decimals)
			}
		}
	}
	return nil
}

func validateColumns(columns []string) error {
	if len(columns) == 0 || len(columns) > maxColumns {
		return fmt.Errorf("%d columns; there are 1 to %d", len(columns), maxColumns)
	}
	for i, c := range columns {
		if c == "" || len(c) > 64 || !utf8.ValidString(c) {
			return fmt.Errorf("column %d is named %q", i, c)
		}
		if slices.Contains(columns[:i], c) {
			return fmt.Errorf("two columns are named %q", c)
		}
	}
	return nil
}
