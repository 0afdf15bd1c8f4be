package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Protocol revisions (https://modelcontextprotocol.io/specification).
const (
	V20241105 = "2024-11-05"
	V20250326 = "2025-03-26"
	V20250618 = "2025-06-18"
	V20251125 = "2025-11-25"
	V20260728 = "2026-07-28"

	LatestLegacy = V20251125
	LatestModern = V20260728
)

// Revisions lists every published revision, oldest first.
var Revisions = []string{V20241105, V20250326, V20250618, V20251125, V20260728}

// Modern reports whether a revision uses per-request metadata: 2026-07-28 and
// later. Unknown strings that are not dates are not modern.
func Modern(version string) bool {
	return len(version) == len(V20260728) && version >= V20260728 && version[4] == '-' && version[7] == '-'
}

// Fault is one deviation from JSON-RPC 2.0 or from the transport that did not
// stop the reading. Kind is a short stable word, Detail a sentence that may
// quote the server.
type Fault struct {
	Kind   string
	Detail string
}

// Kinds of faults.
const (
	FaultNotJSON      = "not-json"         // the body or the event is not JSON
	FaultIDType       = "id-type"          // "1" for 1, or the like
	FaultIDWrong      = "id-wrong"         // another id, or none
	FaultVersion      = "jsonrpc-version"  // jsonrpc is not "2.0"
	FaultBoth         = "result-and-error" // both members present
	FaultNeither      = "no-result"        // neither member present
	FaultError        = "error-malformed"  // error is not {code, message}
	FaultDuplicate    = "duplicate-member" // the last one is used, everywhere
	FaultUnknown      = "unknown-member"   // such as Result beside result
	FaultEventName    = "event-name"       // an event named other than message
	FaultContentType  = "content-type"     // neither JSON nor an event stream
	FaultTruncated    = "truncated"        // cut at the limit of decoded bytes
	FaultCursorStuck  = "cursor-stuck"     // pagination does not advance
	FaultCursorNull   = "cursor-null"      // nextCursor is null
	FaultNullEntry    = "null-entry"       // an entry of a list is not an object
	FaultEndpointHost = "endpoint-host"    // the endpoint event names another host
	FaultIDForm       = "id-form"          // the same number written otherwise, 1.0 for 1
	FaultShape        = "message-shape"    // not an object, or a member of the wrong type
	FaultEncoding     = "encoding"         // a byte order mark, or bytes that are not UTF-8
	FaultDepth        = "too-deep"         // nested deeper than MaxDepth; not read
	FaultBatch        = "batch"            // an array of messages, legal in 2025-03-26 only
	FaultUnfinished   = "unfinished-event" // the stream ended inside an event, which is dropped
	FaultCursorType   = "cursor-type"      // nextCursor is neither a string nor null
)

// RPCError is a JSON-RPC error object.
type RPCError struct {
	Code    int64
	Message string
	Data    json.RawMessage
}

// Error makes an RPCError usable as a Go error; the message is the server's
// and is quoted.
func (e *RPCError) Error() string {
	return fmt.Sprintf("JSON-RPC error %d %q", e.Code, clip(e.Message))
}

// Supported returns data.supported of an UnsupportedProtocolVersionError, or
// the like of another error: strings only, at most maxVersions.
func (e *RPCError) Supported() []string {
	if e == nil {
		return nil
	}
	data, _ := Object(e.Data)
	return stringList(data["supported"])
}

// JSON-RPC and MCP error codes.
const (
	CodeParse              = -32700
	CodeInvalidRequest     = -32600
	CodeMethodNotFound     = -32601
	CodeInvalidParams      = -32602
	CodeInternal           = -32603
	CodeHeaderMismatch     = -32020
	CodeMissingCapability  = -32021
	CodeUnsupportedVersion = -32022
)

// Message is one JSON-RPC message, read by exact member names: encoding/json
// would match "Result" to result, and two readers would see two servers.
type Message struct {
	Raw    json.RawMessage
	ID     json.RawMessage // nil when absent, the four bytes null when null
	Method string          // empty in a response
	Params json.RawMessage
	Result json.RawMessage // nil when absent
	Error  *RPCError
	Faults []Fault

	versioned bool // has a jsonrpc member of any value
	null      bool // no object, but the JSON value null
}

// Answer is everything that one request brought back.
type Answer struct {
	First, Last int // the exchanges behind it, req#First to req#Last; 0 when nothing was sent
	Method      string
	SentID      json.RawMessage // nil for a notification
	Status      int             // 0 when there was no response
	Header      http.Header
	MediaType   string // lower case, without parameters
	Stream      bool   // the answer came as an event stream
	Reply       *Message
	Extra       []*Message    // notifications and requests of the server, in order; bounded
	LastEventID string        // of the stream, as far as it was read
	Retry       time.Duration // asked for by the stream; 0 when not
	Body        []byte        // as read, bounded; for a stream only what was no message
	Location    string        // of a redirect that was not followed
	Faults      []Fault       // of the transport and of Reply together
	Err         error         // transport error, time-out, refusal by the scope
}

// Result returns the result of the reply, nil when there is none.
func (a *Answer) Result() json.RawMessage {
	if a == nil || a.Reply == nil {
		return nil
	}
	return a.Reply.Result
}

// RPCError returns the error of the reply, nil when there is none.
func (a *Answer) RPCError() *RPCError {
	if a == nil || a.Reply == nil {
		return nil
	}
	return a.Reply.Error
}

// Era says which handshakes an endpoint answers.
type Era string

// Eras, decided by Probe from two independent requests.
const (
	EraModern       Era = "modern"
	EraLegacy       Era = "legacy"
	EraDual         Era = "dual"
	EraDiscoverOnly Era = "discover-only-legacy" // answers server/discover but lists legacy versions only
	EraInconsistent Era = "inconsistent"
	EraNone         Era = "none"
)

// Implementation is a server's or client's name for itself. It is not
// verified by the protocol.
type Implementation struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// DiscoverResult is the result of server/discover (2026-07-28).
type DiscoverResult struct {
	SupportedVersions []string
	Capabilities      map[string]json.RawMessage // nil when absent
	Instructions      string
	ServerInfo        *Implementation // from _meta; nil when absent
	TTLMs             json.RawMessage // as given
	CacheScope        json.RawMessage
	Raw               json.RawMessage
}

// InitializeResult is the result of initialize (2025-11-25 and earlier).
type InitializeResult struct {
	ProtocolVersion string
	Capabilities    map[string]json.RawMessage
	Instructions    string
	ServerInfo      *Implementation
	SessionID       string
	Raw             json.RawMessage
}

// Probe is what the two era probes showed.
type Probe struct {
	Era        Era
	Why        string  // one sentence, quoting what decided it
	Discover   *Answer // nil when not sent (HTTP+SSE)
	Initialize *Answer
	Discovered *DiscoverResult   // nil without a usable result
	Initiated  *InitializeResult // nil without a usable result
	Notified   *Answer           // notifications/initialized
	Protected  bool              // both probes met 401 or 403
	More       []*Answer         // what else had to be asked: a refused first server/discover, a request in a revision that does not exist, a GET
	Unlisted   string            // the revision initialize answered, when server/discover lists legacy revisions but not this one
	Endpoint   string            // where an HTTP+SSE endpoint, found by GET, wants its messages; not asked
}

// Walk is a list read to its end.
type Walk struct {
	Items   []json.RawMessage // objects only, no page twice
	Pages   int
	Answers []*Answer
	Faults  []Fault
	Err     error // the first page failed, or a later one; Items holds what came before
}
