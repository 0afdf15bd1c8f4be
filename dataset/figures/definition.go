package figures

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Definition is one figure before it is computed: its SQL, and what the SQL's
// header says about it.
type Definition struct {
	Name   string // of the file, without .sql
	Title  string
	Unit   string   // what one unit of count is, in the plural
	Chart  string   // "bars" or "table"
	Tables []string // that it reads, sorted
	Note   string   // how to read it, and what the denominator is
	SQL    string   // the whole file
}

// Kinds of chart.
const (
	Bars  = "bars"
	Table = "table"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var builtin = sync.OnceValues(func() ([]Definition, error) {
	entries, err := sqlFiles.ReadDir("sql")
	if err != nil {
		return nil, err
	}
	var all []Definition
	for _, e := range entries {
		text, err := sqlFiles.ReadFile(path.Join("sql", e.Name()))
		if err != nil {
			return nil, err
		}
		d, err := ParseDefinition(strings.TrimSuffix(e.Name(), ".sql"), text)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
})

// Definitions are the figures of this version, by name.
func Definitions() ([]Definition, error) {
	all, err := builtin()
	if err != nil {
		return nil, fmt.Errorf("read the figures of this build: %w", err)
	}
	return slices.Clone(all), nil
}

// headerKeys stand in every header once, in this order.
var headerKeys = []string{"title", "unit", "chart", "tables", "note"}

// ParseDefinition reads one SQL file. Its first lines are its header:
//
//	-- title: How first contact was answered
//	-- unit: endpoints
//	-- chart: bars
//	-- tables: endpoints
//	-- note: Of all endpoints of the edition.
//	--   A line that is set in by two spaces more goes on from the one above.
//
// All five keys stand once and in this order, and the query follows. Refused
// are unknown, missing and repeated keys, empty values, control characters,
// tables that do not exist, text that is not UTF-8 and over 64 KiB. name is a
// file name without .sql: lower-case letters, digits and inner hyphens, at
// most 64 bytes.
func ParseDefinition(name string, text []byte) (Definition, error) {
	d := Definition{Name: name, SQL: string(text)}
	if err := d.parse(); err != nil {
		return Definition{}, fmt.Errorf("figure %q: %w", name, err)
	}
	return d, nil
}

func (d *Definition) parse() error {
	if !validName(d.Name) {
		return errors.New("the name is not made of lower-case letters, digits and inner hyphens")
	}
	if len(d.SQL) > maxSQL {
		return fmt.Errorf("the SQL is %d bytes long, over the bound of %d", len(d.SQL), maxSQL)
	}
	if !utf8.ValidString(d.SQL) {
		return errors.New("the SQL is not UTF-8")
	}
	values, query, err := splitHeader(d.SQL)
	if err != nil {
		return err
	}
	d.Title, d.Unit, d.Chart, d.Note = values[0], values[1], values[2], values[4]
	if d.Chart != Bars && d.Chart != Table {
		return fmt.Errorf("chart is %q; it is %s or %s", d.Chart, Bars, Table)
	}
	d.Tables = strings.Fields(values[3])
	for i, table := range d.Tables {
		if !slices.Contains(Tables, table) {
			return fmt.Errorf("table %q does not exist; there are %s", table, strings.Join(Tables, ", "))
		}
		if i > 0 && d.Tables[i-1] >= table {
			return fmt.Errorf("tables are not in alphabetical order, each once: %q", values[3])
		}
	}
	if strings.TrimSpace(query) == "" {
		return errors.New("no query follows the header")
	}
	return nil
}

// splitHeader returns the values of headerKeys in their order, and the rest.
func splitHeader(text string) (values []string, query string, err error) {
	for rest := text; ; {
		line, after, more := strings.Cut(rest, "\n")
		body, comment := strings.CutPrefix(line, "--")
		if !comment {
			if len(values) < len(headerKeys) {
				return nil, "", fmt.Errorf("the header has no line \"-- %s: …\"", headerKeys[len(values)])
			}
			return values, rest, nil
		}
		if values, err = headerLine(values, body); err != nil {
			return nil, "", err
		}
		if !more {
			return nil, "", errors.New("no query follows the header")
		}
		rest = after
	}
}

// headerLine adds one line of the header, without its two hyphens.
func headerLine(values []string, body string) ([]string, error) {
	if strings.ContainsFunc(body, unicode.IsControl) {
		return nil, fmt.Errorf("the header line %q holds a control character", body)
	}
	if text, ok := strings.CutPrefix(body, "   "); ok {
		text = strings.TrimSpace(text)
		if len(values) == 0 || text == "" {
			return nil, fmt.Errorf("the header line %q goes on from nothing, or adds nothing", body)
		}
		values[len(values)-1] += " " + text
		if len(values[len(values)-1]) > maxText {
			return nil, fmt.Errorf("a value of the header is longer than %d bytes", maxText)
		}
		return values, nil
	}
	key, value, ok := strings.Cut(strings.TrimPrefix(body, " "), ":")
	value = strings.TrimSpace(value)
	switch {
	case !ok || !strings.HasPrefix(body, " "):
		return nil, fmt.Errorf("the header line %q is not of the form \"-- key: value\"", body)
	case len(values) == len(headerKeys):
		return nil, fmt.Errorf("%q comes after the end of the header", key)
	case key != headerKeys[len(values)]:
		return nil, fmt.Errorf("the header has %q where %q should be", key, headerKeys[len(values)])
	case value == "":
		return nil, fmt.Errorf("%q is empty", key)
	case len(value) > maxText:
		return nil, fmt.Errorf("%q is longer than %d bytes", key, maxText)
	}
	return append(values, value), nil
}

func validName(name string) bool {
	return name != "" && len(name) <= 64 && name[0] != '-' && name[len(name)-1] != '-' &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
