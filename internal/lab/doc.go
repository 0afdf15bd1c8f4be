// Package lab runs MCP servers of every kind, good and bad, on loopback: for
// the demo and for tests.
//
// Each server has a host name of its own under the reserved top-level domain
// example and a certificate of the lab's authority; Lab.Resolve and
// Lab.Authority lead a client there without any change to its rules. Honest
// servers are built on the official SDK, so that they are right by somebody
// else's hand; faulty ones are scripted. Lab.Entries lists them all in the
// registry's schema.
//
// The room knows nothing of checks, scores or statements.
package lab
