package wire

import (
	"errors"
	"net/http"
	"time"
)

// Exchange is one recorded contact: an HTTP request and what came back, or a
// bare connection (Method "CONNECT") made to look at a network path. Secrets
// are masked before anything is stored.
type Exchange struct {
	N              int         `json:"n"` // 1-based; findings cite it as req#N
	Started        time.Time   `json:"started"`
	Method         string      `json:"method"`
	URL            string      `json:"url"`
	RequestHeader  http.Header `json:"request_header,omitempty"`
	RequestBody    *Body       `json:"request_body,omitempty"`
	RemoteAddr     string      `json:"remote_addr,omitempty"`
	TLS            *TLSFacts   `json:"tls,omitempty"`
	Status         int         `json:"status,omitempty"` // 0: no response
	ResponseHeader http.Header `json:"response_header,omitempty"`
	ResponseBody   *Body       `json:"response_body,omitempty"`
	FirstByteMS    float64     `json:"first_byte_ms,omitempty"`
	TotalMS        float64     `json:"total_ms"`
	Error          string      `json:"error,omitempty"`
}

// Body is what was sent or read of one body, after decoding.
type Body struct {
	Size      int64  `json:"size"`                // decoded bytes seen
	WireSize  int64  `json:"wire_size,omitempty"` // before decoding, when that differs
	SHA256    string `json:"sha256"`              // hex, of all bytes seen
	Data      []byte `json:"data,omitempty"`      // the first MaxRecordedBody bytes
	Truncated bool   `json:"truncated,omitempty"` // cut at a limit; Size is what was read
}

// MaxRecordedBody is how much of a body a recording keeps, in bytes.
const MaxRecordedBody = 64 << 10

// TLSFacts is what a handshake showed.
type TLSFacts struct {
	Version   string    `json:"version"` // "TLS 1.3"
	Subject   string    `json:"subject,omitempty"`
	Issuer    string    `json:"issuer,omitempty"`
	DNSNames  []string  `json:"dns_names,omitempty"`
	NotBefore time.Time `json:"not_before"`
	NotAfter  time.Time `json:"not_after"`
}

// Error is a contact that failed; N is the exchange that shows it, 0 when the
// request was refused before anything was sent.
type Error struct {
	N   int
	Err error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// ErrBlocked is wrapped by the error of a request that the scope or the
// address guard refused: nothing was sent to that host.
var ErrBlocked = errors.New("outside the scope of this run")

type refKey struct{}

// Ref returns the number of the exchange that produced a response, 0 when it
// was not recorded.
func Ref(resp *http.Response) int {
	if resp == nil || resp.Request == nil {
		return 0
	}
	n, _ := resp.Request.Context().Value(refKey{}).(int)
	return n
}

// RefOf returns the number of the exchange behind an error, 0 when there is
// none.
func RefOf(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.N
	}
	return 0
}
