// Package dataset writes an edition as data: Parquet tables that anybody can
// query, a card that describes them, and the digests of all of it. It also
// proves an edition: [Reproduce] verifies what is published and computes every
// figure again.
//
// In comes an [Edition], which holds public records only; out come files in a
// folder that the caller gives. Equal editions give equal bytes, in whatever
// order their records come: there is no clock, no host name and no version of
// the writer in a table.
//
// Text in the tables is what servers and registries said. It is data: whoever
// shows it escapes it.
//
// It must not know how anything was measured, and it opens no connection.
// Which number is worth showing is SQL, in the folder figures.
package dataset
