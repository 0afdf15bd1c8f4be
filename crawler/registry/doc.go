// Package registry reads a namespaced slice of an MCP Registry, and serves
// one.
//
// In come the pages of GET /v0.1/servers, or a listing in a file; out goes a
// Slice: one entry a name, its remotes, each with an endpoint or the reason
// why it is left out, and the pages as they were served. The embedded registry
// answers the read half of the same API for demonstrations and tests.
//
// Everything a registry says is untrusted: entries are read field by field,
// one bad entry never stops a page, and pages, entries and bytes are bounded.
// Nothing a listing gives to be sent (headers, variables) is ever sent.
//
// The package must not know how a server is checked, nor open a connection:
// the HTTP client is handed in. The API is described in
// https://github.com/modelcontextprotocol/registry/blob/main/docs/reference/api/openapi.yaml
// and its entries in
// https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json.
package registry
