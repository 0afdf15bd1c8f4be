package mcp

import (
	"encoding/json"
	"net/http"
)

// readDiscover reads the result of server/discover
// (https://modelcontextprotocol.io/specification/2026-07-28/server/discover);
// nil when it is no object with a list of supportedVersions, whatever else is
// missing: a judge names that from Raw.
func readDiscover(raw json.RawMessage) *DiscoverResult {
	members, ok := Object(raw)
	if !ok || kindOf(members["supportedVersions"]) != '[' {
		return nil
	}
	d := &DiscoverResult{
		SupportedVersions: stringList(members["supportedVersions"]),
		TTLMs:             members["ttlMs"],
		CacheScope:        members["cacheScope"],
		Raw:               raw,
	}
	d.Capabilities, _ = Object(members["capabilities"])
	d.Instructions, _ = stringOf(members["instructions"])
	meta, _ := Object(members["_meta"])
	d.ServerInfo = readImplementation(meta[MetaServerInfo])
	return d
}

// readInitialize reads the result of initialize
// (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle);
// nil when it names no protocolVersion.
func readInitialize(raw json.RawMessage, header http.Header) *InitializeResult {
	members, ok := Object(raw)
	if !ok {
		return nil
	}
	version, ok := stringOf(members["protocolVersion"])
	if !ok || version == "" || len(version) > maxStringLen {
		return nil
	}
	r := &InitializeResult{ProtocolVersion: version, SessionID: header.Get(HeaderSession), Raw: raw}
	r.Capabilities, _ = Object(members["capabilities"])
	r.Instructions, _ = stringOf(members["instructions"])
	r.ServerInfo = readImplementation(members["serverInfo"])
	return r
}

func readImplementation(raw json.RawMessage) *Implementation {
	members, ok := Object(raw)
	if !ok {
		return nil
	}
	info := &Implementation{}
	info.Name, _ = stringOf(members["name"])
	info.Version, _ = stringOf(members["version"])
	return info
}
