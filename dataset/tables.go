package dataset

import (
	"reflect"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Table describes one table of an edition.
type Table struct {
	Name    string   `json:"name"` // the file is Name.parquet
	What    string   `json:"what"`
	Key     []string `json:"key"` // the rows are sorted by these columns, ascending, nulls first
	Columns []Column `json:"columns"`

	row    any      // a zero row
	blooms []string // columns with a bloom filter
}

// Column describes one column.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"` // text, integer, number, boolean, timestamp, or a list of text
	Null bool   `json:"null"` // whether it can be null
	What string `json:"what"`
}

// Ext is the ending of a table's file.
const Ext = ".parquet"

// Tables describes every table, by name. It is what an edition's README.md
// says of them.
func Tables() []Table {
	all := []Table{
		{
			Name: "checks", What: "One check of one endpoint, at its worst outcome.",
			Key: []string{"endpoint_id", "check_id"}, row: Check{}, blooms: []string{"endpoint_id"},
		},
		{
			Name: "endpoints", What: "One endpoint with a public record and what was found.",
			Key: []string{"id"}, row: Endpoint{}, blooms: []string{"id", "url", "statement"},
		},
		{
			Name: "listings", What: "One remote of one registry entry, or an entry without one.",
			Key: []string{"name", "version", "url", "transport"}, row: ListingRow{}, blooms: []string{"name", "endpoint_id"},
		},
		{
			Name: "tools", What: "One tool as an endpoint lists it to a stranger. Hints are unverified.",
			Key: []string{"endpoint_id", "name", "position"}, row: Tool{}, blooms: []string{"endpoint_id", "name", "definition"},
		},
	}
	for i := range all {
		all[i].Columns = columns(all[i].row)
	}
	return all
}

func table(name string) Table {
	for _, t := range Tables() {
		if t.Name == name {
			return t
		}
	}
	return Table{Name: name}
}

func columns(row any) []Column {
	var out []Column
	for _, f := range reflect.VisibleFields(reflect.TypeOf(row)) {
		tag := strings.Split(f.Tag.Get("parquet"), ",")
		c := Column{Name: tag[0], What: f.Tag.Get("doc")}
		kind := f.Type
		if kind.Kind() == reflect.Pointer {
			c.Null, kind = true, kind.Elem()
		}
		switch kind.Kind() {
		case reflect.Int32, reflect.Int64:
			c.Type = "integer"
			if strings.HasPrefix(tag[len(tag)-1], "timestamp") {
				c.Type = "timestamp"
			}
		case reflect.Float64:
			c.Type = "number"
		case reflect.Bool:
			c.Type = "boolean"
		case reflect.Slice:
			c.Type = "list of text"
		default:
			c.Type = "text"
		}
		out = append(out, c)
	}
	return out
}

// options of the writer: nothing in them depends on the build, the machine or
// the day.
func (t Table) options(e *Edition) []parquet.WriterOption {
	var sorting []parquet.SortingColumn
	for _, c := range t.Key {
		sorting = append(sorting, parquet.NullsFirst(parquet.Ascending(c)))
	}
	var filters []parquet.BloomFilterColumn
	for _, c := range t.blooms {
		filters = append(filters, parquet.SplitBlockFilter(10, c))
	}
	return []parquet.WriterOption{
		parquet.Compression(&parquet.Zstd),
		parquet.MaxRowsPerRowGroup(100_000),
		parquet.CreatedBy("lustrum", "1", "dataset"),
		parquet.SortingWriterConfig(parquet.SortingColumns(sorting...)),
		parquet.BloomFilters(filters...),
		parquet.KeyValueMetadata("lustrum.table", t.Name),
		parquet.KeyValueMetadata("lustrum.edition", text(e.ID)),
		parquet.KeyValueMetadata("lustrum.method", text(e.Method)),
	}
}
