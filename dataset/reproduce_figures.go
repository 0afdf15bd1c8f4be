package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/dataset/figures"
)

// figures runs the published queries again and compares.
func (e *edition) figures(ctx context.Context, signed *attest.EditionStatement) error {
	published, err := figures.Read(e.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && listed(signed, figures.File) == "":
		e.add(Figure, figures.File, NotAsked, "this edition was published without figures")
		return nil
	case err != nil:
		e.add(Figure, figures.File, Different, err.Error())
		return nil
	}
	if published.Edition != signed.Predicate.Edition {
		e.add(Figure, figures.File, Different, fmt.Sprintf("it is of edition %q", published.Edition))
		return nil
	}
	again, err := figures.Recompute(ctx, e.dir, published)
	switch {
	case errors.Is(err, figures.ErrNoDuckDB):
		e.r.note(err.Error())
		for i := range published.Figures {
			e.add(Figure, published.Figures[i].Name, NotAsked, "this build has no DuckDB")
		}
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && e.damaged:
		e.add(Figure, figures.File, Different, err.Error())
		return nil
	case err != nil:
		return err
	}
	for i := range published.Figures {
		e.figure(&published.Figures[i], &again.Figures[i])
	}
	return nil
}

func (e *edition) figure(published, again *figures.Figure) {
	detail := firstDifference(published, again)
	if detail == "" {
		detail = e.copies(published, again)
	}
	if detail != "" {
		e.add(Figure, published.Name, Different, detail)
		return
	}
	e.add(Figure, published.Name, Same, foreign(published))
}

// firstDifference names the first cell that differs.
func firstDifference(published, again *figures.Figure) string {
	for i, in := range published.Inputs {
		if in != again.Inputs[i] {
			return fmt.Sprintf("it was computed from a table %q with the SHA-256 %s and %d rows, not %s and %d rows", in.Table, in.SHA256, in.Rows, again.Inputs[i].SHA256, again.Inputs[i].Rows)
		}
	}
	if !slices.Equal(published.Columns, again.Columns) {
		return fmt.Sprintf("the published columns are %q, its SQL gives %q", published.Columns, again.Columns)
	}
	for i := range min(len(published.Rows), len(again.Rows)) {
		for j, v := range published.Rows[i] {
			if v != again.Rows[i][j] {
				return fmt.Sprintf("row %d, column %q: %s is published, its SQL gives %s", i+1, published.Columns[j], show(v), show(again.Rows[i][j]))
			}
		}
	}
	if len(published.Rows) != len(again.Rows) {
		return fmt.Sprintf("%d rows are published, its SQL gives %d", len(published.Rows), len(again.Rows))
	}
	return ""
}

func show(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("%q", x)
	}
	return fmt.Sprint(v)
}

// copies compares the CSV and SQL files beside figures.json.
func (e *edition) copies(published, again *figures.Figure) string {
	table, err := figures.CSV(again)
	if err != nil {
		return err.Error()
	}
	for _, f := range []struct {
		ext  string
		want []byte
	}{{".csv", table}, {".sql", []byte(again.SQL)}} {
		name := figures.Folder + "/" + published.Name + f.ext
		got, err := readBounded(filepath.Join(e.dir, filepath.FromSlash(name)), len(f.want))
		if err != nil {
			return err.Error()
		}
		if !bytes.Equal(got, f.want) {
			return fmt.Sprintf("%s differs at %s", name, firstLine(got, f.want))
		}
	}
	return ""
}

// foreign says when a figure's SQL is not what this version would run.
func foreign(published *figures.Figure) string {
	own, err := figures.Definitions()
	if err != nil {
		return ""
	}
	for _, d := range own {
		if d.Name == published.Name && d.SQL == published.SQL {
			return ""
		}
	}
	return "with the edition's own SQL, which is not that of this version"
}
