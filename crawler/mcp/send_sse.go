package mcp

import (
	"context"
	"fmt"
)

// sendSSE sends one message over HTTP+SSE.
func (c *Client) sendSSE(ctx context.Context, r Request, out *outgoing, a *Answer) {
	s, opened := c.openStream(ctx, r)
	s.mu.Lock()
	if opened {
		a.saw(s.opened.First)
		a.saw(s.opened.Last)
		a.Faults = append(a.Faults, s.opened.Faults...)
	}
	to, failed := s.endpoint, s.err
	if failed != nil {
		defer s.mu.Unlock()
		if get := s.opened; get.Status != 0 {
			a.Status, a.Header, a.MediaType = get.Status, get.Header, get.MediaType
			a.Body, a.Location = get.Body, get.Location
			if a.Status < 200 || a.Status > 299 {
				return // HTTP said why
			}
		}
		a.Err = failed
		return
	}
	s.last = r
	w := &waiting{k: &collector{a: &Answer{}, out: out}, done: make(chan struct{})}
	key := idKey(out.id)
	if out.want > 0 {
		if s.pending[key] != nil {
			s.mu.Unlock()
			a.Err = fmt.Errorf("send %q: a request with id %s still waits for its answer", r.Method, quote(out.id))
			return
		}
		s.pending[key] = w
	}
	s.mu.Unlock()

	// The POST runs beside the wait: there are servers that never answer it.
	posted := make(chan *Answer, 1)
	postCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		p := &Answer{}
		c.exchange(postCtx, to, r, out, p)
		posted <- p
	}()
	post := s.await(ctx, w, out, posted)
	s.mu.Lock()
	if s.pending[key] == w {
		delete(s.pending, key)
	}
	s.mu.Unlock()
	if post == nil {
		cancel()
		post = <-posted
		post.Err = nil // it was cut short by us
	}
	a.merge(post, w, c.failure(ctx, "POST "+r.Method, ctx.Err()))
}

// await waits for the answer on the stream and for the end of the POST; nil
// when the POST did not end.
func (s *stream) await(ctx context.Context, w *waiting, out *outgoing, posted <-chan *Answer) *Answer {
	var post *Answer
	if out.want == 0 {
		select {
		case post = <-posted:
		case <-ctx.Done():
		}
		return post
	}
	select {
	case <-w.done:
		grace, cancel := context.WithTimeout(ctx, postGrace)
		defer cancel()
		select {
		case post = <-posted:
		case <-grace.Done():
		}
		return post
	case <-ctx.Done():
		return nil
	case post = <-posted:
	}
	if post.Err != nil || post.Reply != nil || post.Status < 200 || post.Status > 299 {
		return post // nothing will come on the stream
	}
	select {
	case <-w.done:
	case <-ctx.Done():
	}
	return post
}

// merge puts together what the POST and the stream brought. late is the error
// of an answer that did not come.
func (a *Answer) merge(post *Answer, w *waiting, late error) {
	a.saw(post.First)
	a.saw(post.Last)
	a.Status, a.Header, a.Location = post.Status, post.Header, post.Location
	a.MediaType, a.Body, a.Err = post.MediaType, post.Body, post.Err
	if w.k.out.want == 0 || post.Reply != nil || post.Err != nil {
		a.Reply, a.Extra, a.Stream = post.Reply, post.Extra, post.Stream
		a.Faults = append(a.Faults, post.Faults...)
		return
	}
	onStream := w.k.a
	onStream.Status = post.Status
	if w.k.err == nil && !w.k.done() {
		w.k.err = late
		if post.Status < 200 || post.Status > 299 {
			w.k.err = nil // HTTP said why
		}
	}
	w.k.finish()
	a.Reply, a.Extra, a.Err = onStream.Reply, onStream.Extra, onStream.Err
	a.LastEventID, a.Retry = onStream.LastEventID, onStream.Retry
	a.Faults = append(a.Faults, onStream.Faults...)
	if a.Reply != nil {
		a.Stream, a.MediaType = true, "text/event-stream"
	}
}
