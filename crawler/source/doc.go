// Package source reads which hosts an operator names, out of the files where
// they stand already.
//
// In come targets files, configurations of MCP clients (JSON with comments, or
// YAML) and of gateways (YAML or JSON); out come targets, each with file, line
// and the name that it has there, and what was left out and why: programs,
// disabled servers, placeholders. Only addresses are kept: headers, variables
// and arguments are never looked at, secrets in a URL are dropped. What names
// more than one host stops the reading, since nothing may be contacted on the
// strength of a file that is partly understood.
//
// The package opens files and nothing else. It must not know how a target is
// contacted.
package source
