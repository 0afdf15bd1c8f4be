package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Clock tells the time and waits; tests bring their own.
type Clock interface {
	Now() time.Time
	Wait(ctx context.Context, until time.Time) error
}

// SystemClock is the machine's.
type SystemClock struct{}

// Now is the machine's time.
func (SystemClock) Now() time.Time { return time.Now() }

// Wait returns at a moment, or with ctx's error when ctx ends before. It looks
// at the wall clock once a minute at least: a machine that slept wakes late.
func (SystemClock) Wait(ctx context.Context, until time.Time) error {
	for {
		left := time.Until(until)
		if left <= 0 {
			return ctx.Err()
		}
		timer := time.NewTimer(min(left, time.Minute))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// Serve runs a census whenever one is due: at once when a moment of the
// schedule has passed since the last finished run, however many did, and then
// at each moment. Runs never overlap. A run that fails is told to report and
// tried again at the next moment.
//
// The schedule is a cron expression of five fields or a descriptor such as
// @weekly, with CRON_TZ=Zone before it for a time zone other than UTC.
func Serve(ctx context.Context, schedule string, clock Clock, data string, run func(context.Context) error, report func(error)) error {
	s, err := parseSchedule(schedule)
	if err != nil {
		return err
	}
	path := filepath.Join(data, "schedule", "last")
	last, err := readLast(path)
	if err != nil {
		return err
	}
	for {
		now := clock.Now().UTC()
		if last.After(now) {
			// The clock was set back: what it says now is all there is to go by.
			last = now
		}
		due := now
		if !last.IsZero() {
			due = s.Next(last)
		}
		if due.IsZero() {
			return fmt.Errorf("the schedule %q has no moment left", schedule)
		}
		if due.After(now) {
			if err := clock.Wait(ctx, due); err != nil {
				return err
			}
		}
		began := clock.Now().UTC()
		if err := run(ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			report(err)
		}
		last = began
		if err := writeFile(path, []byte(last.Format(time.RFC3339)+"\n"), 0o600); err != nil {
			return fmt.Errorf("write the time of the last run: %w", err)
		}
	}
}

func parseSchedule(spec string) (cron.Schedule, error) {
	if !strings.HasPrefix(spec, "CRON_TZ=") && !strings.HasPrefix(spec, "TZ=") {
		spec = "CRON_TZ=UTC " + spec
	}
	s, err := cron.ParseStandard(spec)
	if err != nil {
		return nil, fmt.Errorf("schedule %q: %w: write five fields such as \"0 3 * * 1\", or @daily", spec, err)
	}
	return s, nil
}

func readLast(path string) (time.Time, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read the time of the last run: %w", err)
	}
	last, err := time.Parse(time.RFC3339, strings.TrimSpace(string(raw)))
	if err != nil {
		return time.Time{}, fmt.Errorf("the time of the last run in %q is damaged: delete the file to run at once", path)
	}
	return last, nil
}
