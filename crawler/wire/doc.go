// Package wire is the only door out: every contact with a server under test
// and with a registry goes through it.
//
// A Door holds the rules of a run: how fast hosts are asked, which names lead
// where, which authorities are trusted. A Line is one conversation through it:
// it may contact one host, and the authorization servers that this host names,
// and records every exchange, so that findings can cite req#N. What is outside
// the scope of a line is refused before anything is sent; the address is judged
// once more at the moment of dialling, so that no redirect, DNS answer or
// spelling of an address gets round it.
//
// In goes an http.Request, out come a response, bounded in size and time, and
// exchanges. The room knows nothing of MCP.
package wire
