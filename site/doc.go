// Package site writes the public face of an edition: static files that need no
// server, no script and nothing from elsewhere to be read.
//
// In come an edition, its figures, what each server inherits in the graph and
// which policies are violated; out comes a folder of HTML pages with a JSON
// file beside each server's page, an index for programs, one style sheet and
// one small script of our own. Equal input gives equal bytes.
//
// Every string that a server or a registry controls is data here: it is
// escaped, bounded, shown with its control and invisible characters as code
// points, and never becomes a link unless it is an http(s) URL.
//
// The room must not know how a check is made, how a statement is signed or
// what was held back. It opens no connection and reads no clock.
package site
