package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// statusError is an answer other than 200.
type statusError struct {
	status     int
	retryAfter string // as sent
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("answered %d %s", e.status, http.StatusText(e.status))
	if e.retryAfter != "" {
		text += fmt.Sprintf(" (Retry-After: %q)", clip(e.retryAfter))
	}
	return text + "; " + e.next()
}

func (e *statusError) next() string {
	switch {
	case e.status == http.StatusTooManyRequests:
		return "wait as long as it asks and run again"
	case e.status == http.StatusUnauthorized, e.status == http.StatusForbidden:
		return "it wants credentials, and none are sent: use a registry that anyone may read"
	case e.status == http.StatusNotFound:
		return "check that this is the base URL of an MCP registry"
	case e.status >= 500:
		return "the registry is failing: run again later"
	case e.status >= 300 && e.status < 400:
		return "it redirects out of reach: give the URL it leads to"
	}
	return "check the URL, or report it to the registry"
}

func (e *statusError) refusesQuery() bool {
	return e.status == http.StatusBadRequest || e.status == http.StatusUnprocessableEntity
}

// get fetches one page. The first request of a walk finds out which route the
// registry knows.
func (w *walk) get(ctx context.Context, search, cursor string) (body []byte, at string, err error) {
	query := "?" + w.query(search, cursor)
	if w.slice.Route != "" {
		at = w.slice.Base + w.slice.Route + query
		body, err = w.fetch(ctx, at)
		return body, at, err
	}
	for _, route := range routes {
		at = w.slice.Base + route + query
		body, err = w.fetch(ctx, at)
		var status *statusError
		if errors.As(err, &status) && status.status == http.StatusNotFound {
			continue
		}
		if err == nil {
			w.slice.Route = route
		}
		return body, at, err
	}
	return nil, at, err
}

func (w *walk) fetch(ctx context.Context, at string) ([]byte, error) {
	if len(w.slice.Pages) >= w.MaxPages {
		return nil, fmt.Errorf("more than %d pages; raise the bound or name a smaller slice", w.MaxPages)
	}
	ctx, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", at, err)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := w.HTTP.Do(req)
	if errors.Is(err, context.Canceled) {
		return nil, fmt.Errorf("the walk was stopped: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot be reached: %w; check the URL and the network", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %w", at, &statusError{resp.StatusCode, resp.Header.Get("Retry-After")})
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, w.MaxPageBytes+1))
	if err != nil {
		return nil, fmt.Errorf("GET %s: reading the page: %w; run again", at, err)
	}
	if int64(len(body)) > w.MaxPageBytes {
		return nil, fmt.Errorf("GET %s: the page is over %d bytes long; ask for fewer entries a page or raise the bound", at, w.MaxPageBytes)
	}
	if w.bytes += int64(len(body)); w.bytes > w.MaxBytes {
		return nil, fmt.Errorf("more than %d bytes in all; raise the bound or name a smaller slice", w.MaxBytes)
	}
	return body, nil
}
