package figures

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
