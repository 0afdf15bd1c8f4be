// Package figures computes the numbers of an edition: each figure is one SQL
// file with a header that says what it shows, run by DuckDB over the Parquet
// tables and nothing else, so that anybody can run it again.
//
// In comes a folder with the tables endpoints, listings, checks and tools; out
// comes a [Set], and from it figures.json and one CSV and one SQL file a figure.
// Equal tables give equal bytes: every query orders its rows, DuckDB runs on
// one thread, and fractions are written with [Decimals] decimals.
//
// The queries are also run from published editions, which somebody else may
// have written, so DuckDB is shut in: one SELECT a figure over the tables in
// memory, no files, no network, no extensions, bounded memory. It needs cgo;
// without it the package builds all the same and says [ErrNoDuckDB].
//
// It must not know how the tables came about: no statements, no checks, no
// registry.
package figures
