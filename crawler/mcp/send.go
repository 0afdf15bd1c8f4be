package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/crawler/wire"
)

const (
	maxExtra    = 1000     // messages of the server kept beside the reply
	maxReplies  = 16       // requests of the server answered within one stream
	maxResidue  = 64 << 10 // bytes of a stream that were no message
	streamShare = 2        // a stream may hold this many times MaxMessage in all
)

// Send sends one request and reads what comes back. It never returns nil. The
// time limit covers everything from the connection to the last byte used; a
// response is used as soon as it is there, however long the stream stays open.
// Requests of the server within a stream are answered when the request was not
// a modern one: ping with {}, anything else with -32601.
//
// An answer without Reply and without Err is one of HTTP only, such as 202 to
// a notification or 401.
func (c *Client) Send(ctx context.Context, r Request) *Answer {
	a := &Answer{Method: r.Method}
	out, err := c.prepare(r)
	if err != nil {
		a.Err = err
		return a
	}
	a.SentID = out.id
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	if c.o.Transport == target.SSE && out.method == http.MethodPost {
		c.sendSSE(ctx, r, out, a)
	} else {
		c.exchange(ctx, c.url, r, out, a)
	}
	return a
}

// exchange makes one HTTP exchange and fills in the answer.
func (c *Client) exchange(ctx context.Context, url string, r Request, out *outgoing, a *Answer) {
	what := strings.TrimSpace(out.method + " " + r.Method)
	resp := c.contact(ctx, url, r, out, a, what)
	if resp == nil {
		return
	}
	defer resp.Body.Close()
	k := &collector{a: a, out: out}
	if a.Stream {
		if out.want > 0 {
			c.readStream(ctx, url, r, resp.Body, k, what)
		}
		return
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, c.o.MaxMessage+1))
	if int64(len(data)) > c.o.MaxMessage || errors.Is(err, wire.ErrTooLarge) {
		data = data[:min(int64(len(data)), c.o.MaxMessage)]
		a.Faults = append(a.Faults, Fault{FaultTruncated, fmt.Sprintf("cut at %d bytes", len(data))})
		err = nil
	}
	a.Body = data
	if err != nil {
		a.Err = c.failure(ctx, what, err)
		return
	}
	k.readBody(data)
	k.finish()
}

// contact sends the request and reads the head of the response; nil after an
// error, which the answer then holds.
func (c *Client) contact(ctx context.Context, url string, r Request, out *outgoing, a *Answer, what string) *http.Response {
	req, err := c.httpRequest(ctx, url, r, out)
	if err != nil {
		a.Err = err
		return nil
	}
	resp, err := c.do.Do(req)
	if err != nil {
		a.saw(wire.RefOf(err))
		a.Err = c.failure(ctx, what, err)
		return nil
	}
	for hop := resp; hop != nil; { // the redirects that the Doer followed
		a.saw(wire.Ref(hop))
		if hop.Request == nil {
			break
		}
		hop = hop.Request.Response
	}
	a.Status = resp.StatusCode
	a.Header = resp.Header
	a.MediaType = mediaType(resp.Header.Get("Content-Type"))
	a.Stream = a.MediaType == "text/event-stream"
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		a.Location = resp.Header.Get("Location")
	}
	return resp
}

// saw widens the range of exchanges behind the answer.
func (a *Answer) saw(n int) {
	if n <= 0 {
		return
	}
	if a.First == 0 || n < a.First {
		a.First = n
	}
	a.Last = max(a.Last, n)
}

// mediaType is the type without parameters, in lower case.
func mediaType(header string) string {
	value, _, _ := strings.Cut(header, ";")
	return strings.ToLower(strings.TrimSpace(value))
}

// readBody reads a body that is no stream.
func (k *collector) readBody(data []byte) {
	a := k.a
	if len(bytes.TrimSpace(data)) == 0 {
		return
	}
	ok := a.Status >= 200 && a.Status < 300
	typed := a.MediaType == "application/json"
	wrongType := Fault{FaultContentType, fmt.Sprintf("a message was due, and the content type is %q", clip(a.Header.Get("Content-Type")))}
	messages, faults := ReadMessages(data)
	if len(messages) == 0 {
		switch {
		case typed:
			a.Faults = append(a.Faults, faults...)
		case ok && k.out.want > 0:
			a.Faults = append(a.Faults, wrongType)
		}
		return
	}
	used := false
	for _, m := range messages {
		// Outside 2xx, and where no message was due, JSON of another kind is
		// the server's right: an OAuth error, null, {}.
		if !m.versioned && (!ok || k.out.want == 0) {
			continue
		}
		if len(m.Faults) > 0 && m.Faults[0].Kind == FaultShape && m.ID == nil && m.Method == "" && !m.versioned {
			a.Faults = append(a.Faults, m.Faults...)
			continue
		}
		used = true
		k.add(m)
	}
	if used || (ok && k.out.want > 0) {
		a.Faults = append(a.Faults, faults...)
		if !typed {
			a.Faults = append(a.Faults, wrongType)
		}
	}
}

// readStream reads an event stream until the answer is there.
func (c *Client) readStream(ctx context.Context, url string, r Request, body io.Reader, k *collector, what string) {
	a := k.a
	events := NewEventReader(body, c.o.MaxMessage)
	events.total = streamShare * c.o.MaxMessage
	replies := 0
	for !k.done() {
		event, err := events.Next()
		a.LastEventID, a.Retry = events.LastID(), events.Retry()
		if err != nil {
			c.streamEnded(ctx, k, err, what)
			break
		}
		for _, m := range k.readEvent(event) {
			if m.Method != "" && m.ID != nil && !r.Modern && replies < maxReplies {
				replies++
				a.saw(c.reply(ctx, url, r, m).Last)
			}
		}
	}
	k.finish()
}

func (c *Client) streamEnded(ctx context.Context, k *collector, err error, what string) {
	a := k.a
	switch {
	case errors.Is(err, ErrEventTooLong) || errors.Is(err, wire.ErrTooLarge):
		a.Faults = append(a.Faults, Fault{FaultTruncated, err.Error()})
	case errors.Is(err, ErrUnfinished):
		a.Faults = append(a.Faults, Fault{FaultUnfinished, err.Error()})
	case err != io.EOF:
		k.err = c.failure(ctx, what, err)
		return
	}
	k.err = fmt.Errorf("%s: the event stream ended before the answer came", what)
}

// reply answers a request of the server. It gets a third of the time limit, so
// that a server that takes no answers can't use up the whole of it.
func (c *Client) reply(ctx context.Context, url string, r Request, m *Message) *Answer {
	var answer any = struct{}{}
	member := "result"
	if m.Method != "ping" {
		member = "error"
		answer = map[string]any{"code": CodeMethodNotFound, "message": "Method not found"}
	}
	body, err := encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, member: answer})
	a := &Answer{}
	if err != nil {
		a.Err = err
		return a
	}
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout/3)
	defer cancel()
	r = Request{Version: r.Version, SessionID: r.SessionID, Header: r.Header, Body: body, Notify: true}
	c.exchange(ctx, url, r, &outgoing{method: http.MethodPost, body: body}, a)
	return a
}

// collector sorts the messages of one answer.
type collector struct {
	a     *Answer
	out   *outgoing
	got   int
	stray []*Message // responses with another id
	err   error      // why no more will come
}

// done says whether everything awaited is there.
func (k *collector) done() bool { return k.got >= k.out.want }

// readEvent reads the messages of an event and returns them.
func (k *collector) readEvent(event *Event) []*Message {
	if len(bytes.TrimSpace(event.Data)) == 0 {
		return nil
	}
	if event.Name != "" && event.Name != "message" {
		k.once(FaultEventName, fmt.Sprintf("the event is named %q", clip(event.Name)))
	}
	messages, faults := ReadMessages(event.Data)
	for _, f := range faults {
		k.once(f.Kind, f.Detail)
	}
	if len(messages) == 0 {
		if room := maxResidue - len(k.a.Body); room > 0 {
			k.a.Body = append(k.a.Body, event.Data[:min(room, len(event.Data))]...)
			k.a.Body = append(k.a.Body, '\n')
		}
	}
	for _, m := range messages {
		k.add(m)
	}
	return messages
}

// once keeps the first fault of a kind: a stream could repeat it for ever.
func (k *collector) once(kind, detail string) {
	for _, f := range k.a.Faults {
		if f.Kind == kind {
			return
		}
	}
	k.a.Faults = append(k.a.Faults, Fault{kind, detail})
}

func (k *collector) add(m *Message) {
	if m.Method != "" || k.out.want == 0 && m.ID == nil && m.Error == nil {
		k.extra(m)
		return
	}
	match := idSame
	if k.out.id != nil {
		match = matchID(k.out.id, m.ID)
	}
	switch match {
	case idOther:
		k.stray = append(k.stray, m)
		if len(k.stray) > maxExtra {
			k.stray = k.stray[:maxExtra]
		}
		if m.Error != nil && kindOf(m.ID) != 's' && kindOf(m.ID) != 'n' {
			k.got++ // an error without an id: nothing better will come
		}
		return
	case idType:
		m.fault(FaultIDType, fmt.Sprintf("id %s came back as %s", quote(k.out.id), quote(m.ID)))
	case idForm:
		m.fault(FaultIDForm, fmt.Sprintf("id %s came back as %s", quote(k.out.id), quote(m.ID)))
	}
	k.got++
	if k.a.Reply != nil {
		k.extra(m)
		return
	}
	k.a.Reply = m
}

func (k *collector) extra(m *Message) {
	if len(k.a.Extra) < maxExtra {
		k.a.Extra = append(k.a.Extra, m)
	}
}

// finish settles for a response with another id when no better one came.
func (k *collector) finish() {
	a := k.a
	if a.Reply == nil && len(k.stray) > 0 {
		a.Reply = k.stray[0]
		k.stray = k.stray[1:]
		if !undispatched(a.Status, a.Reply) {
			a.Reply.fault(FaultIDWrong, fmt.Sprintf("id %s came back as %s", quote(k.out.id), quoteOrMissing(a.Reply.ID)))
		}
	}
	for _, m := range k.stray {
		k.extra(m)
	}
	if a.Reply == nil {
		a.Err = k.err
		return
	}
	a.Faults = append(a.Faults, a.Reply.Faults...)
}

// undispatched says whether an error came from in front of the dispatcher,
// where the id was not known or not read: HTTP refused the request, or
// JSON-RPC 2.0 demands a null id.
func undispatched(status int, m *Message) bool {
	if m.Error == nil {
		return false
	}
	null := m.ID == nil || kindOf(json.RawMessage(m.ID)) == '0'
	return status >= 400 || null && (m.Error.Code == CodeParse || m.Error.Code == CodeInvalidRequest)
}
