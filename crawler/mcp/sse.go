package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// HTTP+SSE, the transport of revision 2024-11-05
// (https://modelcontextprotocol.io/specification/2024-11-05/basic/transports):
// a GET opens an event stream whose first event, named endpoint, says where
// messages are POSTed; every answer comes back on the stream.

const (
	// postGrace is how long the status of a POST is waited for once its answer
	// is there: some servers send it after the answer.
	postGrace = 2 * time.Second
	// streamLife bounds all bytes of one HTTP+SSE stream, in units of
	// MaxMessage. It serves a whole run.
	streamLife = 16
)

// stream is an open HTTP+SSE stream. One goroutine reads it, one answers the
// requests of the server.
type stream struct {
	c      *Client
	cancel context.CancelFunc
	ready  chan struct{} // closed when endpoint or the failure is known
	ended  sync.WaitGroup
	asks   chan *Message // requests of the server to answer

	mu       sync.Mutex
	opened   *Answer // the GET
	endpoint string
	err      error // why the stream is of no more use
	pending  map[string]*waiting
	last     Request // the last request sent, whose headers a reply shares
}

// waiting is a request whose answer has not come.
type waiting struct {
	k    *collector
	done chan struct{}
}

// openStream returns the open stream and whether this call opened it.
func (c *Client) openStream(ctx context.Context, r Request) (*stream, bool) {
	c.mu.Lock()
	s, opened := c.stream, false
	if s == nil {
		// The stream outlives the request that opens it; Close ends it.
		streamCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		s = &stream{c: c, cancel: cancel, ready: make(chan struct{}), asks: make(chan *Message, maxReplies),
			pending: map[string]*waiting{}, opened: &Answer{}, last: r}
		c.stream, opened = s, true
		s.ended.Add(2)
		go s.run(streamCtx, Request{HTTPMethod: http.MethodGet, Header: r.Header})
		go s.answer(streamCtx)
	}
	c.mu.Unlock()
	select {
	case <-s.ready:
	case <-ctx.Done():
		s.fail(c.failure(ctx, "GET, waiting for the endpoint event", ctx.Err()))
	}
	return s, opened
}

// streamLost says whether an HTTP+SSE stream was opened and has ended.
func (c *Client) streamLost() bool {
	c.mu.Lock()
	s := c.stream
	c.mu.Unlock()
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil
}

func (s *stream) close() {
	s.cancel()
	s.fail(errors.New("the client closed the event stream"))
	s.ended.Wait()
}

// fail ends the use of the stream; the first reason stays.
func (s *stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.err = err
	if s.endpoint == "" {
		close(s.ready)
	}
	for key, w := range s.pending {
		delete(s.pending, key)
		w.k.err = err
		close(w.done)
	}
	s.cancel()
}

// run reads the stream to its end.
func (s *stream) run(ctx context.Context, r Request) {
	defer s.ended.Done()
	get := &Answer{}
	resp := s.c.contact(ctx, s.c.url, r, &outgoing{method: http.MethodGet}, get, "GET")
	if resp != nil {
		defer resp.Body.Close()
	}
	s.mu.Lock()
	s.opened = get
	s.mu.Unlock()
	if get.Err != nil {
		s.fail(get.Err)
		return
	}
	if get.Status < 200 || get.Status > 299 || !get.Stream {
		// Without a stream the head and a part of the body are all there is.
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxResidue))
		s.mu.Lock()
		get.Body = body
		s.mu.Unlock()
		s.fail(fmt.Errorf("GET was answered with status %d and content type %q, not with an event stream", get.Status, clip(get.MediaType)))
		return
	}
	base := s.c.url
	if resp.Request != nil && resp.Request.URL != nil {
		base = resp.Request.URL.String() // after redirects
	}
	events := NewEventReader(resp.Body, s.c.o.MaxMessage)
	events.total = streamLife * s.c.o.MaxMessage
	for {
		event, err := events.Next()
		if err != nil {
			s.fail(fmt.Errorf("the event stream ended: %w", err))
			return
		}
		if event.Name == "endpoint" {
			if !s.setEndpoint(base, string(event.Data)) {
				return
			}
			continue
		}
		s.dispatch(event, events)
	}
}

// setEndpoint takes the first endpoint event; a later one is not followed.
func (s *stream) setEndpoint(base, data string) bool {
	to, err := ResolveEndpoint(base, data)
	s.mu.Lock()
	if s.endpoint != "" || s.err != nil {
		usable := s.err == nil
		s.mu.Unlock()
		return usable
	}
	if err == nil {
		s.endpoint = to
		close(s.ready)
		s.mu.Unlock()
		return true
	}
	s.opened.Faults = append(s.opened.Faults, Fault{FaultEndpointHost, err.Error()})
	s.mu.Unlock()
	s.fail(err)
	return false
}

// dispatch hands each message of an event to the request that awaits it.
func (s *stream) dispatch(event *Event, events *EventReader) {
	probe := &collector{a: &Answer{}, out: &outgoing{want: maxBatch + 1}}
	messages := probe.readEvent(event)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.pending {
		w.k.a.LastEventID, w.k.a.Retry = events.LastID(), events.Retry()
		for _, f := range probe.a.Faults {
			w.k.once(f.Kind, f.Detail)
		}
	}
	for _, m := range messages {
		if m.Method == "" {
			s.settle(m)
			continue
		}
		for _, w := range s.pending {
			w.k.extra(m)
		}
		if m.ID != nil {
			select {
			case s.asks <- m:
			default: // more at once than are answered
			}
		}
	}
}

// settle gives a response to the request with its id, else to the only one
// there is.
func (s *stream) settle(m *Message) {
	for _, kind := range []string{string(kindOf(m.ID)), "n", "s"} {
		if kindOf(m.ID) != 'n' && kindOf(m.ID) != 's' {
			break
		}
		if w := s.pending[kind+idText(m.ID)]; w != nil {
			s.give(kind+idText(m.ID), w, m)
			return
		}
	}
	if len(s.pending) == 1 {
		for key, w := range s.pending {
			s.give(key, w, m)
		}
	}
}

func (s *stream) give(key string, w *waiting, m *Message) {
	w.k.add(m)
	if w.k.done() {
		delete(s.pending, key)
		close(w.done)
	}
}

// answer replies to requests of the server, a bounded number in all.
func (s *stream) answer(ctx context.Context) {
	defer s.ended.Done()
	for n := 0; n < 4*maxReplies; n++ {
		select {
		case <-ctx.Done():
			return
		case m := <-s.asks:
			s.mu.Lock()
			to, like := s.endpoint, s.last
			s.mu.Unlock()
			if to != "" && !like.Modern {
				s.c.reply(ctx, to, like, m)
			}
		}
	}
}
