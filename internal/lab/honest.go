package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// tool is one tool of a lab server.
type tool struct {
	name, about string
	hints       *mcp.ToolAnnotations
	schema      string // empty: an object with one string member
	output      string // empty: none
}

const textInput = `{"type":"object","properties":{"text":{"type":"string","description":"What to work on."}},"required":["text"],"additionalProperties":false}`
const textOutput = `{"type":"object","properties":{"text":{"type":"string","description":"The result."}},"required":["text"],"additionalProperties":false}`

func yes() *bool { v := true; return &v }
func no() *bool  { v := false; return &v }

func reads() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: no()}
}

func destroys() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{DestructiveHint: yes(), OpenWorldHint: no()}
}

// names lists the tools' names in the order that the SDK lists them.
func names(tools []tool) []string {
	out := make([]string, len(tools))
	for i, t := range tools {
		out[i] = t.name
	}
	return out
}

// sdkServer is a server on the official SDK with tools that answer a fixed
// text: no lab server does anything when called.
func sdkServer(name string, versions []string, tools []tool) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1.0.0"}, &mcp.ServerOptions{
		Instructions:              "A lab server. Its tools read fixed data.",
		Capabilities:              &mcp.ServerCapabilities{},
		SupportedProtocolVersions: versions,
	})
	for _, t := range tools {
		definition := &mcp.Tool{Name: t.name, Description: t.about, Annotations: t.hints, InputSchema: json.RawMessage(textInput)}
		if t.schema != "" {
			definition.InputSchema = json.RawMessage(t.schema)
		}
		if t.output != "" {
			definition.OutputSchema = json.RawMessage(t.output)
		}
		s.AddTool(definition, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{
				Content:           []mcp.Content{&mcp.TextContent{Text: `{"text":"fixed"}`}},
				StructuredContent: map[string]any{"text": "fixed"},
			}, nil
		})
	}
	return s
}

// dual answers both eras, each request on its own.
func dual(name string, tools []tool) http.Handler {
	return streamable(sdkServer(name, nil, tools), true)
}

// legacySessions answers initialize only, with sessions. server/discover is
// unknown to it, as to servers of before 2026-07-28.
func legacySessions(name string, tools []tool) http.Handler {
	versions := []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
	return without("server/discover", http.StatusOK, streamable(sdkServer(name, versions, tools), false))
}

// discoverOnly answers server/discover but lists legacy versions only, as the
// SDK's servers with sessions do.
func discoverOnly(name string, tools []tool) http.Handler {
	return streamable(sdkServer(name, nil, tools), false)
}

// modernOnly answers 2026-07-28 and no initialize: a removed method is 404
// with -32601.
func modernOnly(name string, tools []tool) http.Handler {
	return without("initialize", http.StatusNotFound, streamable(sdkServer(name, []string{"2026-07-28"}, tools), true))
}

func streamable(s *mcp.Server, stateless bool) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: stateless, DisableLocalhostProtection: true})
}

// sse is the transport of 2024-11-05.
func sse(name string, tools []tool) http.Handler {
	s := sdkServer(name, []string{"2024-11-05"}, tools)
	return mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, &mcp.SSEOptions{DisableLocalhostProtection: true})
}

// without answers one method with -32601 and the given status, and passes
// everything else on.
func without(method string, status int, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err != nil {
			http.Error(w, "unreadable body", http.StatusBadRequest)
			return
		}
		var message struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(body, &message) == nil && message.Method == method {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, message.ID)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// protected asks for a token that nobody has, and says where one would come
// from (RFC 9728).
func protected(endpoint, issuer string, next http.Handler) http.Handler {
	u, err := url.Parse(endpoint)
	if err != nil {
		panic(err) // a constant of this package
	}
	metadata := "https://" + u.Host + "/.well-known/oauth-protected-resource" + u.Path
	refuse := func(context.Context, string, *http.Request) (*auth.TokenInfo, error) {
		return nil, auth.ErrInvalidToken
	}
	mux := http.NewServeMux()
	mux.Handle(u.Path, auth.RequireBearerToken(refuse, &auth.RequireBearerTokenOptions{ResourceMetadataURL: metadata})(next))
	mux.Handle("/.well-known/oauth-protected-resource"+u.Path, auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource:               endpoint,
		AuthorizationServers:   []string{issuer},
		BearerMethodsSupported: []string{"header"},
	}))
	return mux
}

// issuer is an authorization server's metadata (RFC 8414); it has no users.
func issuer(base string, members map[string]any) http.Handler {
	document := map[string]any{
		"issuer":                                base,
		"authorization_endpoint":                base + "/authorize",
		"token_endpoint":                        base + "/token",
		"registration_endpoint":                 base + "/register",
		"response_types_supported":              []string{"code"},
		"grant_types_supported":                 []string{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported":      []string{"S256"},
		"client_id_metadata_document_supported": true,
	}
	for key, value := range members {
		document[key] = value
	}
	raw, err := json.Marshal(document)
	if err != nil {
		panic(err) // only strings and lists of them
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(raw) //nolint:errcheck // the client may have gone
	})
	return mux
}
