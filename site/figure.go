package site

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/lustrum-mcp/lustrum/dataset/figures"
)

// shownRows is how many rows of a figure stand open on the page.
const shownRows = 10

// figureView is one figure as the start page shows it.
type figureView struct {
	Name, Title, Unit, Note string
	Chart                   template.HTML // empty: a table alone says it
	Columns                 []column
	Rows, More              [][]cell // More is folded away
	CSV, SQL                string
	SHA256                  string
}

type column struct {
	Head    string
	Numeric bool
}

type cell struct {
	Text    string
	Head    string // column, for narrow screens
	Numeric bool
}

// columnHeads are the columns that charts read by name, in words.
var columnHeads = map[string]string{
	"label": "Group", "denominator": "Of", "share": "Share", "low": "From", "high": "To",
}

// viewFigure prepares a figure. folder is the edition's, relative to the page.
func viewFigure(f *figures.Figure, folder string) figureView {
	v := figureView{
		Name: f.Name, Title: line(f.Title), Unit: line(f.Unit), Note: show(f.Note, 2000),
		CSV: folder + figures.Folder + "/" + f.Name + ".csv", SQL: folder + figures.Folder + "/" + f.Name + ".sql",
		SHA256: f.SQLSHA256,
	}
	for i, c := range f.Columns {
		head, known := columnHeads[c]
		switch {
		case c == "count" && v.Unit != "":
			head = strings.ToUpper(v.Unit[:1]) + v.Unit[1:]
		case !known:
			head = name(c)
		}
		v.Columns = append(v.Columns, column{Head: head, Numeric: numeric(f, i)})
	}
	for n, row := range f.Rows {
		cells := make([]cell, 0, len(row))
		for i, x := range row {
			c := cell{Text: value(f.Columns, i, x)}
			if i < len(v.Columns) {
				c.Head, c.Numeric = v.Columns[i].Head, v.Columns[i].Numeric
			}
			cells = append(cells, c)
		}
		if n < shownRows {
			v.Rows = append(v.Rows, cells)
		} else {
			v.More = append(v.More, cells)
		}
	}
	if f.Chart == "bars" {
		v.Chart = chart(f, v.Title)
	}
	return v
}

func numeric(f *figures.Figure, i int) bool {
	for _, row := range f.Rows {
		if i < len(row) && row[i] != nil {
			_, isText := row[i].(string)
			_, isBool := row[i].(bool)
			return !isText && !isBool
		}
	}
	return false
}

// value writes one cell: shares in percent, a null as a dash.
func value(columns []string, i int, x any) string {
	share := i < len(columns) && (columns[i] == "share" || columns[i] == "low" || columns[i] == "high")
	switch x := x.(type) {
	case string:
		return name(x)
	case int64:
		return count(x)
	case int:
		return count(x)
	case float64:
		if share {
			return percent(x)
		}
		return strconv.FormatFloat(x, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(x)
	}
	return "–"
}

// chart draws the rows of a figure; empty when it lacks a column for it.
func chart(f *figures.Figure, title string) template.HTML {
	at := func(name string) int { return slices.Index(f.Columns, name) }
	label, number, share := at("label"), at("count"), at("share")
	if label < 0 || share < 0 || len(f.Rows) == 0 {
		return ""
	}
	var rows []bar
	var words []string
	for _, row := range f.Rows[:min(len(f.Rows), 30)] {
		if len(row) != len(f.Columns) {
			return ""
		}
		r := bar{Label: show(fmt.Sprint(row[label]), 40), Value: "–"}
		if s, ok := fraction(row[share]); ok {
			r.Share, r.HasShare, r.Value = s, true, percent(s)
		}
		if number >= 0 && r.HasShare {
			r.Value = value(f.Columns, number, row[number]) + " · " + r.Value
		}
		if l, h := at("low"), at("high"); l >= 0 && h >= 0 {
			low, okLow := fraction(row[l])
			high, okHigh := fraction(row[h])
			r.Low, r.High, r.HasInterval = low, high, okLow && okHigh
		}
		if f.Name == "grades" && slices.Contains(gradeKeys, r.Label) {
			r.Class = " part-" + r.Label
		}
		rows = append(rows, r)
		words = append(words, r.Label+": "+r.Value)
	}
	return bars("chart-"+f.Name, title, strings.Join(words, "; ")+".", rows)
}

func fraction(x any) (float64, bool) {
	switch x := x.(type) {
	case float64:
		return x, true
	case int64:
		return float64(x), true
	case int:
		return float64(x), true
	}
	return 0, false
}
