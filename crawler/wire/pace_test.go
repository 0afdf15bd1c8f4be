package wire

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const ever = 100 * 365 * 24 * time.Hour
	for _, c := range []struct {
		value string
		want  time.Duration
		ok    bool
	}{
		{"2", 2 * time.Second, true},
		{" 120 ", 2 * time.Minute, true},
		{"0", 0, true},
		{"Sun, 01 Mar 2026 12:00:03 GMT", 3 * time.Second, true},
		{"Sunday, 01-Mar-26 12:00:03 GMT", 3 * time.Second, true}, // obsolete forms of RFC 9110, section 5.6.7
		{"Sun Mar  1 12:00:03 2026", 3 * time.Second, true},
		{"Sun, 01 Mar 2026 11:00:00 GMT", 0, true},
		{"99999999999999999999999", ever, true},
		{"9223372036", ever, true},
		{"", 0, false}, {"-1", 0, false}, {"2.5", 0, false}, {"soon", 0, false}, {"2 s", 0, false}, {"٣", 0, false},
	} {
		if got, ok := ParseRetryAfter(c.value, now); got != c.want || ok != c.ok {
			t.Errorf("%q: %v, %v; want %v, %v", c.value, got, ok, c.want, c.ok)
		}
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	f.Add("2")
	f.Add("Sun, 01 Mar 2026 12:00:03 GMT")
	f.Fuzz(func(t *testing.T, s string) {
		if d, ok := ParseRetryAfter(s, time.Unix(1e9, 0)); d < 0 || (!ok && d != 0) {
			t.Fatalf("%q: %v, %v", s, d, ok)
		}
	})
}

// Two requests a second for a host and four for the whole run, by hand.
func TestPace(t *testing.T) {
	c := newClock()
	start := c.now
	p := newPacer(c, 2, 4)
	var at []time.Duration
	for _, host := range []string{"a", "a", "b", "a", "c", "b"} {
		if err := p.wait(t.Context(), host); err != nil {
			t.Fatal(err)
		}
		at = append(at, c.now.Sub(start))
	}
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	// a at 0; a again at 500; b a quarter later; a half a second after its last;
	// c a quarter after that; b both at least half a second after its last and a
	// quarter after c.
	if want := []time.Duration{0, ms(500), ms(750), ms(1000), ms(1250), ms(1500)}; !slices.Equal(at, want) {
		t.Errorf("sent at %v, want %v", at, want)
	}
}

func refused(retryAfter string, status int) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {retryAfter}}}
}

func TestRetryAfterHoldsOneHost(t *testing.T) {
	c := newClock()
	start := c.now
	p := newPacer(c, 0, 10)
	p.heed("busy", refused("30", 429))
	waiting, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.wait(waiting, "busy"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := p.wait(t.Context(), "other"); err != nil || !c.now.Equal(start) {
		t.Errorf("another host waited %v for it (%v)", c.now.Sub(start), err)
	}
	if err := p.wait(t.Context(), "busy"); err != nil || c.now.Sub(start) != 30*time.Second {
		t.Errorf("waited %v (%v)", c.now.Sub(start), err)
	}
}

func TestRetryAfterIsCapped(t *testing.T) {
	for _, r := range []struct {
		answer *http.Response
		want   time.Duration
	}{
		{refused("2", 429), 2 * time.Second},
		{refused("Sun, 01 Mar 2026 12:00:03 GMT", 503), 3 * time.Second},
		{refused("86400", 429), MaxRetryAfter},
		{refused("5", 200), 0},
		{refused("5", 301), 0},
		{refused("nonsense", 429), 0},
	} {
		c := newClock()
		start := c.now
		p := newPacer(c, 0, 0)
		p.heed("h", r.answer)
		if err := p.wait(t.Context(), "h"); err != nil || c.now.Sub(start) != r.want {
			t.Errorf("%d %q: waited %v (%v), want %v", r.answer.StatusCode, r.answer.Header.Get("Retry-After"), c.now.Sub(start), err, r.want)
		}
	}
}

// behaviour/cases.json retry_after_seconds, over the wire; the pace counts for
// every spelling of the host and for all lines of a door.
func TestRetryAfterOverTheWire(t *testing.T) {
	p := listen(t, answers("HTTP/1.1 429 Slow\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n", ok))
	c := newClock()
	start := c.now
	d, err := NewDoor(Options{Clock: c, Resolve: []string{p.at("mcp.test:80")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"http://mcp.test/", "http://MCP.test./"} {
		l, err := d.Open(url, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := fetch(t, l, newRequest(t, "GET", url, "")); err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	if got := c.now.Sub(start); got != 2*time.Second {
		t.Errorf("waited %v", got)
	}
}

func TestAcquire(t *testing.T) {
	d, err := NewDoor(Options{})
	if err != nil {
		t.Fatal(err)
	}
	release, err := d.Acquire(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Acquire(ended, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("a second check of the host: %v", err)
	}
	if other, err := d.Acquire(t.Context(), "b"); err != nil {
		t.Error(err)
	} else {
		other()
	}
	var all sync.WaitGroup
	holders, most := 0, 0
	var mu sync.Mutex
	for range 8 {
		all.Go(func() {
			release, err := d.Acquire(t.Context(), "a")
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			holders++
			most = max(most, holders)
			mu.Unlock()
			mu.Lock()
			holders--
			mu.Unlock()
			release()
			release() // a second call does nothing
		})
	}
	release()
	all.Wait()
	if most != 1 {
		t.Errorf("%d checks of one host at once", most)
	}
}
