package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// Keys of the per-request metadata (2026-07-28,
// https://modelcontextprotocol.io/specification/2026-07-28/basic).
const (
	MetaProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo         = "io.modelcontextprotocol/clientInfo"
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaServerInfo         = "io.modelcontextprotocol/serverInfo"
)

// Headers of the transport, as net/http writes them.
const (
	HeaderVersion   = "Mcp-Protocol-Version"
	HeaderSession   = "Mcp-Session-Id"
	HeaderMethod    = "Mcp-Method"
	HeaderName      = "Mcp-Name"
	HeaderLastEvent = "Last-Event-Id"
)

// Request is one request to send: an ordinary one by default, a deviant one by
// the fields that override.
type Request struct {
	Method     string
	Params     any             // an object: map[string]any or json.RawMessage; nil for none
	ID         json.RawMessage // nil: the next small counting id
	Notify     bool            // send a notification: no id, no answer awaited
	Version    string          // MCP-Protocol-Version header and, when Modern, the _meta entry; "" for no header
	Modern     bool            // send the 2026-07-28 metadata and headers; a _meta entry of Params overrides, nil removes
	SessionID  string          // Mcp-Session-Id, byte for byte; "" for no header
	Header     http.Header     // overrides, "Host" too; a key without values removes
	Body       []byte          // when not nil: the whole body, sent as it is
	HTTPMethod string          // default POST; others have no body unless Body is set, and await no message
}

// outgoing is a Request made ready.
type outgoing struct {
	method string // of HTTP
	body   []byte
	id     json.RawMessage // that an answer must carry; nil when any will do
	want   int             // responses awaited
}

// prepare builds the body and says which answer to await.
func (c *Client) prepare(r Request) (*outgoing, error) {
	out := &outgoing{method: r.HTTPMethod, body: r.Body}
	if out.method == "" {
		out.method = http.MethodPost
	}
	switch {
	case r.Body != nil:
		out.id, out.want = awaited(r)
	case out.method == http.MethodPost:
		if !r.Notify {
			out.want = 1
			if out.id = r.ID; out.id == nil {
				out.id = c.nextID()
			}
		}
		body, err := c.envelope(r, out.id)
		if err != nil {
			return nil, fmt.Errorf("build the request %q: %w", r.Method, err)
		}
		out.body = body
	}
	if out.method != http.MethodPost {
		out.want = 0
	}
	return out, nil
}

// awaited reads from a given body what will come back: the id of its one
// request, the number of requests of an array, or any one answer to what is
// no JSON-RPC.
func awaited(r Request) (json.RawMessage, int) {
	if r.Notify {
		return nil, 0
	}
	if r.ID != nil {
		return r.ID, 1
	}
	messages, _ := ReadMessages(r.Body)
	if len(messages) == 0 {
		return nil, 1
	}
	var id json.RawMessage
	want, plain := 0, true
	for _, m := range messages {
		switch {
		case m.Method != "" && m.ID == nil: // a notification
		case m.Method == "" && m.ID != nil && len(m.Faults) == 0: // our answer to a request of the server
		default:
			want++
			id, plain = m.ID, plain && m.Method != ""
		}
	}
	if want != 1 || !plain {
		id = nil
	}
	return id, want
}

func (c *Client) envelope(r Request, id json.RawMessage) ([]byte, error) {
	params, err := c.params(r)
	if err != nil {
		return nil, err
	}
	return encode(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id,omitempty"`
		Method  string          `json:"method"`
		Params  any             `json:"params,omitempty"`
	}{"2.0", id, r.Method, params})
}

// params returns what to encode: nil, or the parameters with the metadata of
// the modern era filled in.
func (c *Client) params(r Request) (any, error) {
	if m, ok := r.Params.(map[string]any); ok && m == nil {
		r.Params = nil
	}
	if !r.Modern {
		return r.Params, nil
	}
	members := map[string]any{}
	if r.Params != nil {
		given, err := encode(r.Params)
		if err != nil {
			return nil, err
		}
		object, ok := Object(given)
		if !ok {
			return nil, fmt.Errorf("params are not an object, which the metadata of %q needs", r.Version)
		}
		for name, value := range object {
			members[name] = value
		}
	}
	meta := map[string]any{
		MetaProtocolVersion:    r.Version,
		MetaClientInfo:         c.info(),
		MetaClientCapabilities: map[string]any{},
	}
	if given, ok := r.Params.(map[string]any); ok {
		if override, ok := given["_meta"].(map[string]any); ok {
			for name, value := range override {
				if meta[name] = value; value == nil {
					delete(meta, name)
				}
			}
		}
	} else if raw, ok := members["_meta"].(json.RawMessage); ok {
		override, _ := Object(raw)
		for name, value := range override {
			meta[name] = value
		}
	}
	members["_meta"] = meta
	return members, nil
}

func (c *Client) info() Implementation { return Implementation{c.o.Name, c.o.Version} }

// encode writes JSON without escaping <, > and &, which no reader here needs.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// httpRequest builds the HTTP request, overrides last.
func (c *Client) httpRequest(ctx context.Context, url string, r Request, out *outgoing) (*http.Request, error) {
	var body io.Reader
	if out.body != nil {
		body = bytes.NewReader(out.body)
	}
	req, err := http.NewRequestWithContext(ctx, out.method, url, body)
	if err != nil {
		return nil, fmt.Errorf("build the request to %q: %w", url, err)
	}
	h := req.Header
	switch {
	case out.method == http.MethodGet:
		h.Set("Accept", "text/event-stream")
	case out.body != nil:
		h.Set("Content-Type", "application/json")
		h.Set("Accept", "application/json, text/event-stream")
	}
	if r.Version != "" {
		h.Set(HeaderVersion, r.Version)
	}
	if r.SessionID != "" {
		h.Set(HeaderSession, r.SessionID)
	}
	if r.Modern && r.Method != "" && c.o.Transport != target.SSE {
		h.Set(HeaderMethod, r.Method)
		if name, ok := mcpName(r); ok {
			h.Set(HeaderName, HeaderValue(name))
		}
	}
	for name, values := range r.Header {
		name = http.CanonicalHeaderKey(name)
		switch {
		case name == "Host" && len(values) > 0:
			req.Host = values[0]
		case len(values) > 0:
			h[name] = append([]string(nil), values...)
		case name == "User-Agent":
			h[name] = nil // net/http adds its own to a header that is absent
		default:
			delete(h, name)
		}
	}
	return req, nil
}

// mcpName is the value that the Mcp-Name header mirrors, by method.
func mcpName(r Request) (string, bool) {
	var member string
	switch r.Method {
	case "tools/call", "prompts/get":
		member = "name"
	case "resources/read":
		member = "uri"
	case "tasks/get", "tasks/update", "tasks/cancel":
		member = "taskId"
	default:
		return "", false
	}
	given, err := encode(r.Params)
	if err != nil {
		return "", false
	}
	params, _ := Object(given)
	return stringOf(params[member])
}

// HeaderValue writes a value for Mcp-Name and Mcp-Param-*: as it is when it is
// plain, else in the base64 form of the specification
// (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#value-encoding).
func HeaderValue(value string) string {
	plain := strings.TrimSpace(value) == value &&
		!(strings.HasPrefix(value, "=?base64?") && strings.HasSuffix(value, "?="))
	for i := 0; plain && i < len(value); i++ {
		plain = value[i] >= 0x20 && value[i] < 0x7f
	}
	if plain {
		return value
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(value)) + "?="
}
