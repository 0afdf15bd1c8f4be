// Package check judges one MCP server: it runs the phases in order, and each
// check of the catalogue comes out as at least one finding.
//
// In come an endpoint and a Line, the only way to the outside, which records
// what it carries; out comes a Report. A pass, warn or fail cites the recorded
// exchanges that show it (req#N). What could not be told is a skip with its
// reason, never a fail. No tool is ever called and no credential is sent.
//
// What a check looks at, why it matters and what to do about it is data
// (catalogue.yaml); the code decides outcomes and quotes what it saw.
//
// It knows nothing of registries, statements, graphs or publication, and it
// opens no connection itself.
package check
