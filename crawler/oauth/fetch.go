package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/lustrum-mcp/lustrum/crawler/wire"
)

// Doer sends requests; *wire.Line is one.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// State says what looking for metadata came to.
type State string

// The states. Only Found and Absent say something about the server; Absent is
// that every place was asked and every one answered that nothing is there.
const (
	Found        State = "found"
	Absent       State = "absent"
	Inconclusive State = "inconclusive" // a place gave no answer that tells
	Blocked      State = "blocked"      // a place may not be asked, and all others have nothing
)

// Attempt is what came of one place.
type Attempt struct {
	URL     string
	Ref     int    // the exchange that shows it; 0 when nothing was sent
	Outcome string // in words; may quote the server, so escape it where it is shown
	// Open says that the place may hold metadata all the same: no answer, a
	// server error, a rate limit, a host that may not be asked.
	Open bool
	// Blocked says that the scope or the address guard refused the request, so
	// that nothing was sent (wire.ErrBlocked). Such a place is open as well.
	Blocked bool
}

func (a Attempt) String() string { return a.URL + ": " + a.Outcome }

// Search is the way to a document.
type Search struct {
	State    State
	URL      string // where the document was found, before redirects
	Ref      int    // the exchange that shows the document, 0 when none was found
	Attempts []Attempt
	Faults   []Fault // of the document that was found
}

// Refs returns the first and the last exchange of the search, 0 when nothing
// was sent.
func (s *Search) Refs() (first, last int) {
	for _, a := range s.Attempts {
		if a.Ref == 0 {
			continue
		}
		if first == 0 || a.Ref < first {
			first = a.Ref
		}
		last = max(last, a.Ref)
	}
	return first, last
}

// Why says why a search is inconclusive or blocked, "" when it is neither.
func (s *Search) Why() string {
	if s.State != Inconclusive && s.State != Blocked {
		return ""
	}
	for _, a := range s.Attempts {
		if a.Open && a.Blocked == (s.State == Blocked) {
			return a.String()
		}
	}
	return "no place was asked"
}

// search asks one place after the other until take accepts a document. take
// returns what is wrong with one that it does not accept.
func search(ctx context.Context, do Doer, places []string, take func(url string, d *document) (miss string)) Search {
	s := Search{State: Absent}
	for _, place := range places {
		a, d := ask(ctx, do, place)
		if d != nil {
			if a.Outcome = take(place, d); a.Outcome == "" {
				a.Outcome = "found"
				s.State, s.URL, s.Ref, s.Faults = Found, place, a.Ref, d.faults
				s.Attempts = append(s.Attempts, a)
				return s
			}
		}
		s.Attempts = append(s.Attempts, a)
		switch {
		case !a.Open:
		case !a.Blocked:
			s.State = Inconclusive
		case s.State == Absent:
			s.State = Blocked
		}
		if ctx.Err() != nil {
			s.State = Inconclusive
			break
		}
	}
	if len(places) == 0 {
		s.State = Inconclusive
	}
	return s
}

// ask gets one document. It is nil when there is none, and then the attempt
// says why.
func ask(ctx context.Context, do Doer, place string) (Attempt, *document) {
	a := Attempt{URL: place}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		a.Outcome = "not a URL that can be asked"
		return a, nil
	}
	req.Header.Set("Accept", "application/json")
	resp, err := do.Do(req)
	if err != nil {
		a.Ref, a.Open, a.Outcome = wire.RefOf(err), true, "no answer: "+err.Error()
		if errors.Is(err, wire.ErrBlocked) {
			a.Blocked, a.Outcome = true, "not asked: "+err.Error()
		}
		return a, nil
	}
	defer resp.Body.Close()
	a.Ref = wire.Ref(resp)
	if a.Outcome, a.Open = status(resp.StatusCode); a.Outcome != "" {
		return a, nil
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		a.Open, a.Outcome = true, "the answer broke off: "+err.Error()
		return a, nil
	}
	given := resp.Header.Get("Content-Type")
	typed := isJSON(given)
	if len(raw) > maxDocument {
		a.Open, a.Outcome = typed, fmt.Sprintf("a document of %q that is over %d bytes and was not read", clip(given), maxDocument)
		return a, nil
	}
	d, err := readDocument(raw)
	switch {
	case errors.Is(err, errTooDeep):
		a.Open, a.Outcome = true, "the document is "+err.Error()+" and was not read"
	case err != nil && !typed:
		a.Outcome = fmt.Sprintf("HTTP 200 with %q, which is not application/json, and %v", clip(given), err)
	case err != nil:
		a.Outcome = "HTTP 200 and " + err.Error()
	case !typed:
		d.fault(true, "sent as %q and not as application/json", clip(given))
	}
	return a, d
}

// isJSON reports whether a Content-Type is the one that RFC 9728, section 3.2
// and RFC 8414, section 3.2 demand. Many clients read what comes as another
// one, so that is a fault and does not make a document absent. A faulty
// parameter does not hide what the type is.
func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return media == "application/json" && (err == nil || errors.Is(err, mime.ErrInvalidMediaParameter))
}

// status reads a status other than 200: what it says, and whether metadata may
// be there all the same.
func status(code int) (outcome string, open bool) {
	switch {
	case code == http.StatusOK:
		return "", false
	case code == http.StatusRequestTimeout || code == http.StatusTooEarly || code == http.StatusTooManyRequests || code >= 500:
		return fmt.Sprintf("HTTP %d", code), true
	case code >= 300 && code < 400:
		return fmt.Sprintf("HTTP %d, a redirect that is not followed", code), true
	}
	return fmt.Sprintf("HTTP %d", code), false
}
