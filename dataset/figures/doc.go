// Package figures computes the numbers of an edition: each is one SQL file,
// run by DuckDB over the Parquet tables and nothing else, so that anybody can
// run it again.
//
// In goes a folder of tables, out comes a Set, and files whose bytes repeat:
// figures.json, and for each figure its CSV and its SQL. DuckDB needs cgo;
// without it Compute says so and everything else works. The room knows nothing
// of statements, and DuckDB may read the folder's files and nothing besides.
package figures
