package mcp

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// ResolveEndpoint returns where the messages of an HTTP+SSE endpoint go: the
// data of its endpoint event, resolved against the URL of the stream. Another
// scheme, host or port than the stream's is an error, with the host in it.
func ResolveEndpoint(base, data string) (string, error) {
	b, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("the stream's URL %q: %w", clip(base), err)
	}
	ref, err := url.Parse(strings.TrimSpace(data))
	if err != nil || strings.TrimSpace(data) == "" {
		return "", fmt.Errorf("the endpoint event holds no URL: %q", clip(data))
	}
	u := b.ResolveReference(ref)
	if u.Host == "" || u.User != nil || u.Scheme != b.Scheme || origin(u) != origin(b) {
		return "", fmt.Errorf("the endpoint event names %q on %q, not the host of the stream %q", clip(u.Scheme), clip(u.Host), clip(b.Host))
	}
	u.Fragment = ""
	return u.String(), nil
}

func origin(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	case u.Scheme == "http":
		port = "80"
	}
	return strings.ToLower(u.Hostname()) + ":" + port
}

// findEndpoint asks once by GET whether an HTTP+SSE endpoint is here. It
// returns the exchange and the data of the endpoint event, "" without one.
func (c *Client) findEndpoint(ctx context.Context) (*Answer, string) {
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout/3)
	defer cancel()
	a := &Answer{}
	resp := c.contact(ctx, c.url, Request{}, &outgoing{method: http.MethodGet}, a, "GET")
	if resp == nil {
		return a, ""
	}
	defer resp.Body.Close()
	if !a.Stream || a.Status < 200 || a.Status > 299 {
		return a, ""
	}
	events := NewEventReader(resp.Body, c.o.MaxMessage)
	events.total = c.o.MaxMessage
	event, err := events.Next()
	if err != nil || event.Name != "endpoint" {
		return a, ""
	}
	return a, string(event.Data)
}
