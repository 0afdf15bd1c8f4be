// Package discover asks a host that somebody named where it speaks MCP.
//
// In goes one target and a line to it; out come the endpoints that proved
// themselves by an initialize or server/discover result, with the exchanges
// that showed it, those that ask for credentials, and the hosts that were
// pointed at and not contacted. A document at a well-known place is a pointer,
// never a proof. The room judges nothing and asks no host that was not named.
package discover
