// Package oauth reads how a protected server says that one gets in: the
// challenge of a 401, the metadata of the protected resource and the metadata
// of its authorization servers, as the authorization pages of MCP, RFC 9728 and
// RFC 8414 lay down.
//
// In go header values, an endpoint, an issuer and a way to send requests; out
// comes what was found, where, and what came of every other place, each with
// the exchange that shows it. "Absent" and "could not be told" are kept apart.
// The room judges nothing, widens no scope, and never asks for a token.
package oauth
