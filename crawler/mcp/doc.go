// Package mcp speaks the Model Context Protocol on the wire: JSON-RPC 2.0 over
// Streamable HTTP (2025-03-26 to 2026-07-28) and over HTTP+SSE (2024-11-05),
// with and without initialize.
//
// In come the URL of an endpoint and something that sends HTTP requests (a
// scoped, recorded line of package wire). Out go answers with everything that
// a judge needs to see and that an SDK would hide or repair: status, headers,
// raw messages, the era probes, and each deviation as a Fault. Deviant
// requests (another body, a missing header, a made-up session) can be sent as
// well as ordinary ones.
//
// The package must not know what a check is, which answer is good, or how
// requests are paced, scoped and recorded. It opens no connection itself and
// calls no tool of its own accord.
package mcp
