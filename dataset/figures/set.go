package figures

import "errors"

// Set is every figure of one edition, in the order of their names.
type Set struct {
	Edition string   `json:"edition"`
	Figures []Figure `json:"figures"`
}

// Figure is one query and its result. Columns that charts read by name:
// label (text), count and denominator (whole numbers), share (0 to 1, null
// over nothing), low and high (Wilson 95 % interval of share).
type Figure struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Unit      string   `json:"unit"`
	Chart     string   `json:"chart"` // "bars" or "table"
	Note      string   `json:"note"`
	SQL       string   `json:"sql"`
	SQLSHA256 string   `json:"sql_sha256"`
	Inputs    []Input  `json:"inputs"`
	Columns   []string `json:"columns"`
	Rows      [][]any  `json:"rows"` // string, int64, float64, bool or nil
}

// Input is a table that a figure read.
type Input struct {
	Table  string `json:"table"`
	SHA256 string `json:"sha256"`
	Rows   int64  `json:"rows"`
}

// Tables that a figure may read, each the file NAME.parquet of an edition.
var Tables = []string{"checks", "endpoints", "listings", "tools"}

// Names of what Write makes in an edition's folder.
const (
	File   = "figures.json"
	Folder = "figures" // NAME.csv and NAME.sql of each figure
)

// Decimals is how many decimals a fraction is written with, halves away from
// zero: enough for a share of a million endpoints, and few enough that the
// last bit of a square root, which differs between processors, does not show.
const Decimals = 6

// Bounds of a set, kept when it is computed and when it is read.
const (
	maxFile    = 16 << 20 // bytes of figures.json
	maxFigures = 200
	maxSQL     = 64 << 10 // bytes of one query with its header
	maxColumns = 32
	maxRows    = 10_000
	maxText    = 4096 // bytes of one cell, or of one line of the header
)

// ErrNoDuckDB says that this binary was built without cgo and cannot compute
// figures. Everything else works.
var ErrNoDuckDB = errors.New("this build has no DuckDB, so it cannot compute figures: build it with CGO_ENABLED=1 and a C compiler (gcc or clang)")
