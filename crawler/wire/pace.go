package wire

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// minRate keeps the time between two requests a duration, in requests per
// second.
const minRate = 1e-6

// MaxRetryAfter bounds how long one answer can keep a host waiting.
const MaxRetryAfter = 60 * time.Second

// pacer gives each request its moment: never nearer to the one before it on
// the same host, or in the whole run, than the rates allow.
type pacer struct {
	clock            Clock
	perHost, overall time.Duration // between two requests; 0: no cap

	mu   sync.Mutex
	next map[string]time.Time
	all  time.Time
}

func newPacer(clock Clock, perHost, overall float64) *pacer {
	return &pacer{clock: clock, perHost: interval(perHost), overall: interval(overall), next: map[string]time.Time{}}
}

func interval(perSecond float64) time.Duration {
	if perSecond <= 0 {
		return 0
	}
	return time.Duration(float64(time.Second) / perSecond)
}

// wait returns when a request to host may be sent, and takes that moment. Who
// waits for one host keeps no other waiting, and a Retry-After that comes in
// the meantime counts too.
func (p *pacer) wait(ctx context.Context, host string) error {
	for {
		p.mu.Lock()
		now := p.clock.Now()
		at := p.next[host]
		if p.all.After(at) {
			at = p.all
		}
		if !at.After(now) {
			if p.perHost > 0 {
				p.next[host] = now.Add(p.perHost)
			}
			if p.overall > 0 {
				p.all = now.Add(p.overall)
			}
			p.mu.Unlock()
			return ctx.Err()
		}
		p.mu.Unlock()
		if err := p.clock.Wait(ctx, at.Sub(now)); err != nil {
			return err
		}
	}
}

// heed keeps a host waiting as its answer asks.
func (p *pacer) heed(host string, resp *http.Response) {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return
	}
	now := p.clock.Now()
	d, ok := ParseRetryAfter(resp.Header.Get("Retry-After"), now)
	if !ok {
		return
	}
	until := now.Add(min(d, MaxRetryAfter))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next[host].Before(until) {
		p.next[host] = until
	}
}

// ParseRetryAfter reads both forms of Retry-After (RFC 9110, section 10.2.3):
// seconds, or a date. A moment that has passed is 0.
func ParseRetryAfter(value string, now time.Time) (time.Duration, bool) {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0, false
	}
	if strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds > int64(100*365*24*time.Hour/time.Second) {
			return 100 * 365 * 24 * time.Hour, true // more digits than any clock has
		}
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return max(at.Sub(now), 0), true
}
