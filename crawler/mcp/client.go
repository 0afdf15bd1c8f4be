package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// Doer sends one HTTP request. It must end the request and the reading of the
// response body when the request's context ends, as net/http does, and it
// decides about redirects.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Options of a Client; the zero value of each means its default.
type Options struct {
	Transport  string        // target.StreamableHTTP (default) or target.SSE
	Name       string        // clientInfo.name, default "lustrum"
	Version    string        // clientInfo.version, default "dev"
	Timeout    time.Duration // for one request and all of its answer, default 15 s; no traffic extends it
	MaxPages   int           // of one list, default 1000
	MaxItems   int           // of one list, default 20,000
	MaxMessage int64         // decoded bytes of one event or JSON body, default 16 MiB
}

// Defaults of Options.
const (
	DefaultTimeout    = 15 * time.Second
	DefaultMaxPages   = 1000
	DefaultMaxItems   = 20_000
	DefaultMaxMessage = 16 << 20
)

// Client talks to one endpoint. It may be used by several goroutines; Close it
// when its transport is HTTP+SSE.
type Client struct {
	url string
	do  Doer
	o   Options
	ids atomic.Int64

	mu     sync.Mutex
	stream *stream // HTTP+SSE only: the open event stream
}

// NewClient returns a client for an endpoint. Nothing is sent yet; an unusable
// URL shows as the error of each answer.
func NewClient(url string, do Doer, o Options) *Client {
	if o.Transport == "" {
		o.Transport = target.StreamableHTTP
	}
	if o.Name == "" {
		o.Name = "lustrum"
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxPages <= 0 {
		o.MaxPages = DefaultMaxPages
	}
	if o.MaxItems <= 0 {
		o.MaxItems = DefaultMaxItems
	}
	if o.MaxMessage <= 0 {
		o.MaxMessage = DefaultMaxMessage
	}
	return &Client{url: url, do: do, o: o}
}

// URL is the endpoint's URL as given.
func (c *Client) URL() string { return c.url }

// Transport is target.StreamableHTTP or target.SSE.
func (c *Client) Transport() string { return c.o.Transport }

// Close ends the event stream of HTTP+SSE and waits until nothing reads it any
// more. It is safe to call twice; a Send after it opens another stream.
func (c *Client) Close() {
	c.mu.Lock()
	s := c.stream
	c.stream = nil
	c.mu.Unlock()
	if s != nil {
		s.close()
	}
}

// nextID counts from 1: ids beyond 2^53, and ids from a clock, break servers
// that read numbers as floating point.
func (c *Client) nextID() json.RawMessage {
	return strconv.AppendInt(nil, c.ids.Add(1), 10)
}

// failure words a transport error of a request; the cause stays in the chain,
// and context.DeadlineExceeded is in it when the time limit was the reason.
func (c *Client) failure(ctx context.Context, what string, err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: not done within the limit of %s: %w", what, c.o.Timeout, err)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s: not done within the limit of %s: %w (%w)", what, c.o.Timeout, err, ctx.Err())
	}
	return fmt.Errorf("%s: %w", what, err)
}
