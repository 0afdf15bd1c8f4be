package figures

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Compute runs every figure of this version over the tables in dir, which it
// reads into memory, at most 2 GB. Errors name the figure or the table;
// ErrNoDuckDB comes from a build without cgo.
func Compute(ctx context.Context, dir, edition string) (*Set, error) {
	all, err := Definitions()
	if err != nil {
		return nil, err
	}
	return compute(ctx, dir, edition, all)
}

// Recompute runs the queries of a published set again over the tables in dir:
// its SQL is taken, and nothing else of it but the names. The queries may be
// somebody else's: each must be one SELECT, and it reaches nothing but the
// tables.
func Recompute(ctx context.Context, dir string, published *Set) (*Set, error) {
	all := make([]Definition, len(published.Figures))
	for i, f := range published.Figures {
		d, err := ParseDefinition(f.Name, []byte(f.SQL))
		if err != nil {
			return nil, err
		}
		all[i] = d
	}
	return compute(ctx, dir, published.Edition, all)
}

// figure is a definition with a place for its result.
func (d Definition) figure(inputs map[string]Input) Figure {
	f := Figure{
		Name: d.Name, Title: d.Title, Unit: d.Unit, Chart: d.Chart, Note: d.Note,
		SQL: d.SQL, SQLSHA256: textDigest(d.SQL),
		Inputs: []Input{}, Columns: []string{}, Rows: [][]any{},
	}
	for _, table := range d.Tables {
		f.Inputs = append(f.Inputs, inputs[table])
	}
	return f
}

func textDigest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// tableFile is where a folder keeps a table.
func tableFile(dir, table string) string { return filepath.Join(dir, table+".parquet") }

func fileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %q: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// isFraction names the columns whose numbers are float64 in Rows even when
// they are whole. Elsewhere a whole number is an int64, so that what is read
// has the types of what was computed.
func isFraction(column string) bool {
	return column == "share" || column == "low" || column == "high"
}

// cell brings a value into the form that is written. Text keeps its control
// characters, which JSON escapes and CSV shows by their code points.
func cell(column string, v any) (any, error) {
	switch x := v.(type) {
	case nil:
		return nil, nil
	case bool:
		return x, nil
	case string:
		if !utf8.ValidString(x) {
			x = strings.ToValidUTF8(x, "\ufffd")
		}
		if len(x) > maxText {
			return nil, fmt.Errorf("a text of column %q is %d bytes long, over the bound of %d", column, len(x), maxText)
		}
		return x, nil
	case int64:
		if isFraction(column) {
			return float64(x), nil
		}
		if x > 1<<53 || x < -(1<<53) {
			return nil, fmt.Errorf("%d of column %q is beyond what JSON readers keep exact", x, column)
		}
		return x, nil
	case float64:
		if math.IsNaN(x) || math.Abs(x) > 1e9 {
			return nil, fmt.Errorf("%v of column %q is no fraction within a billion", x, column)
		}
		x = round(x)
		if whole := int64(x); !isFraction(column) && float64(whole) == x {
			return whole, nil
		}
		return x, nil
	}
	return nil, fmt.Errorf("column %q has the type %T: cast it to VARCHAR, BIGINT, DOUBLE or BOOLEAN in the SQL", column, v)
}

// round keeps Decimals decimals and knows no negative zero.
func round(x float64) float64 {
	const scale = 1e6
	return math.Round(x*scale)/scale + 0
}
