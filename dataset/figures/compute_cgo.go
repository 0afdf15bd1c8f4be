//go:build cgo

package figures

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// Available says whether this build can compute figures.
const Available = true

// hidden is the schema that holds the tables; a figure sees those that its
// header names, as views.
const hidden = "edition_tables"

// open is a DuckDB in memory that loads no extension by itself.
const open = "?autoinstall_known_extensions=false&autoload_known_extensions=false&threads=1&memory_limit=2GB"

// bounds hold while the tables are read; nothing is spilled to disk.
var bounds = []string{
	"SET temp_directory=''",
	"SET allow_community_extensions=false",
	"SET TimeZone='UTC'",
	"CREATE SCHEMA " + hidden,
}

// shut leaves the queries with the tables in memory and nothing else: no file,
// no network, no way to change that.
var shut = []string{
	"SET enable_external_access=false",
	"SET lock_configuration=true",
}

func compute(ctx context.Context, dir, edition string, all []Definition) (*Set, error) {
	if len(all) > maxFigures {
		return nil, fmt.Errorf("%d figures are over the bound of %d", len(all), maxFigures)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("compute the figures of %q: %w", dir, err)
	}
	db, err := sql.Open("duckdb", open)
	if err != nil {
		return nil, fmt.Errorf("open DuckDB: %w", err)
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("open DuckDB: %w", err)
	}
	defer conn.Close()
	inputs, err := load(ctx, conn, abs)
	if err != nil {
		return nil, err
	}
	set := &Set{Edition: edition, Figures: []Figure{}}
	for _, d := range all {
		f := d.figure(inputs)
		if err := run(ctx, conn, d, &f); err != nil {
			return nil, fmt.Errorf("compute the figure %q: %w", d.Name, err)
		}
		set.Figures = append(set.Figures, f)
	}
	return set, nil
}

// load reads the tables into memory and shuts the door behind them.
func load(ctx context.Context, conn *sql.Conn, dir string) (map[string]Input, error) {
	for _, s := range bounds {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return nil, fmt.Errorf("prepare DuckDB (%s): %w", s, err)
		}
	}
	inputs := map[string]Input{}
	for _, table := range Tables {
		path := tableFile(dir, table)
		digest, err := fileDigest(path)
		if err != nil {
			return nil, fmt.Errorf("read the table %q: %w", table, err)
		}
		// An edition's folder is named edition=DAY: without hive_partitioning
		// that would become a column.
		create := fmt.Sprintf("CREATE TABLE %s.%s AS SELECT * FROM read_parquet(%s, hive_partitioning=false)", hidden, table, literal(path))
		if _, err := conn.ExecContext(ctx, create); err != nil {
			return nil, fmt.Errorf("read the table %q: %w", table, err)
		}
		in := Input{Table: table, SHA256: digest}
		if err := conn.QueryRowContext(ctx, fmt.Sprintf("SELECT count(*) FROM %s.%s", hidden, table)).Scan(&in.Rows); err != nil {
			return nil, fmt.Errorf("count the rows of %q: %w", table, err)
		}
		inputs[table] = in
	}
	for _, s := range shut {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return nil, fmt.Errorf("shut DuckDB in (%s): %w", s, err)
		}
	}
	return inputs, nil
}

// literal is a path as SQL text that DuckDB takes for one file: a class of one
// character is how its patterns quote.
func literal(path string) string {
	path = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
	return "'" + strings.ReplaceAll(path, "'", "''") + "'"
}

func run(ctx context.Context, conn *sql.Conn, d Definition, f *Figure) (err error) {
	for _, table := range d.Tables {
		if _, err := conn.ExecContext(ctx, fmt.Sprintf("CREATE TEMP VIEW %s AS SELECT * FROM %s.%s", table, hidden, table)); err != nil {
			return err
		}
		defer func() {
			_, dropped := conn.ExecContext(context.WithoutCancel(ctx), "DROP VIEW "+table)
			err = errors.Join(err, dropped)
		}()
	}
	return conn.Raw(func(c any) error { return query(ctx, c.(*duckdb.Conn), f) })
}

// query runs one SELECT. Prepare refuses more than one statement, unlike
// PrepareContext, which would run all but the last.
func query(ctx context.Context, c *duckdb.Conn, f *Figure) error {
	prepared, err := c.Prepare(f.SQL)
	if err != nil {
		return fmt.Errorf("one SELECT is needed: %w", err)
	}
	defer prepared.Close()
	stmt, ok := prepared.(*duckdb.Stmt)
	if !ok {
		return fmt.Errorf("the driver prepared a %T", prepared)
	}
	if kind, err := stmt.StatementType(); err != nil || kind != duckdb.STATEMENT_TYPE_SELECT {
		return errors.Join(errors.New("the SQL is no SELECT"), err)
	}
	rows, err := stmt.QueryContext(ctx, nil)
	if err != nil {
		return err
	}
	defer rows.Close()
	f.Columns = append(f.Columns, rows.Columns()...)
	if n := len(f.Columns); n > maxColumns {
		return fmt.Errorf("%d columns are over the bound of %d", n, maxColumns)
	}
	values := make([]driver.Value, len(f.Columns))
	for {
		if err := rows.Next(values); err == io.EOF {
			return validateColumns(f.Columns)
		} else if err != nil {
			return err
		}
		if len(f.Rows) == maxRows {
			return fmt.Errorf("more than %d rows", maxRows)
		}
		row := make([]any, len(values))
		for i, v := range values {
			if row[i], err = cell(f.Columns[i], widen(v)); err != nil {
				return err
			}
		}
		f.Rows = append(f.Rows, row)
	}
}

// widen brings DuckDB's numbers to int64 and float64.
func widen(v any) any {
	switch x := v.(type) {
	case int8:
		return int64(x)
	case int16:
		return int64(x)
	case int32:
		return int64(x)
	case uint8:
		return int64(x)
	case uint16:
		return int64(x)
	case uint32:
		return int64(x)
	case uint64:
		if x <= 1<<53 {
			return int64(x)
		}
	case *big.Int: // HUGEINT, what sum gives
		if x.IsInt64() {
			return x.Int64()
		}
	case float32:
		return float64(x)
	}
	return v
}
