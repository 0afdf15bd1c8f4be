// Package crawler groups the rooms that have contact with the outside: what
// to ask (target, registry), how to ask (wire, mcp, oauth) and where MCP
// answers (discover). It judges nothing; no part of it imports the engine.
package crawler
