// Package attest holds the statement: what one check of one endpoint found, in
// the form that is signed, stored and published.
//
// In comes a filled [Statement] (or the [EditionStatement] that heads a
// published edition); out go its canonical bytes (RFC 8785), and back again,
// strictly: whatever is read was written by somebody else. Everything later
// (graph, scorecard, census) is a view of these bytes.
//
// The package must not know how a server is checked, how bytes are signed
// (package sign), where they are kept (package store) or whether they can be
// believed (package verify).
package attest
