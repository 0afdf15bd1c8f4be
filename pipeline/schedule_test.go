package pipeline

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// fakeClock jumps to every moment that is waited for, and ends after a number
// of waits.
type fakeClock struct {
	now   time.Time
	waits int
}

var errEnough = errors.New("enough")

func (c *fakeClock) Now() time.Time { return c.now }

func (c *fakeClock) Wait(_ context.Context, until time.Time) error {
	if c.waits--; c.waits < 0 {
		return errEnough
	}
	c.now = until
	return nil
}

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

// runsOf serves until the clock has had enough and returns when runs began.
func runsOf(t *testing.T, data, schedule string, clock *fakeClock, fail bool) []string {
	t.Helper()
	var began []string
	err := Serve(context.Background(), schedule, clock, data, func(context.Context) error {
		began = append(began, clock.now.UTC().Format(time.RFC3339))
		clock.now = clock.now.Add(10 * time.Minute)
		if fail {
			return errors.New("no registry")
		}
		return nil
	}, func(error) {})
	if !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
	return began
}

func TestServe(t *testing.T) {
	const weekly = "0 3 * * 1" // Mondays at 3 in the morning, UTC
	t.Run("first run at once, then on schedule", func(t *testing.T) {
		got := runsOf(t, t.TempDir(), weekly, &fakeClock{now: at("2026-12-01T12:00:00Z"), waits: 2}, false)
		want := []string{"2026-12-01T12:00:00Z", "2026-12-07T03:00:00Z", "2026-12-14T03:00:00Z"}
		if !slices.Equal(got, want) {
			t.Errorf("ran at %q, want %q", got, want)
		}
	})
	t.Run("missed runs are made up once", func(t *testing.T) {
		data := t.TempDir()
		runsOf(t, data, weekly, &fakeClock{now: at("2026-12-01T12:00:00Z")}, false)
		// The machine was off over three Mondays.
		got := runsOf(t, data, weekly, &fakeClock{now: at("2026-12-23T08:00:00Z"), waits: 1}, false)
		want := []string{"2026-12-23T08:00:00Z", "2026-12-28T03:00:00Z"}
		if !slices.Equal(got, want) {
			t.Errorf("ran at %q, want %q", got, want)
		}
	})
	t.Run("a failed run waits for the next moment", func(t *testing.T) {
		got := runsOf(t, t.TempDir(), "@daily", &fakeClock{now: at("2026-12-01T12:00:00Z"), waits: 1}, true)
		want := []string{"2026-12-01T12:00:00Z", "2026-12-02T00:00:00Z"}
		if !slices.Equal(got, want) {
			t.Errorf("ran at %q, want %q", got, want)
		}
	})
	t.Run("a clock set back repeats nothing at once", func(t *testing.T) {
		data := t.TempDir()
		runsOf(t, data, weekly, &fakeClock{now: at("2026-12-21T03:00:00Z")}, false)
		got := runsOf(t, data, weekly, &fakeClock{now: at("2026-12-16T00:00:00Z"), waits: 1}, false)
		if want := []string{"2026-12-21T03:00:00Z"}; !slices.Equal(got, want) {
			t.Errorf("ran at %q, want %q", got, want)
		}
	})
	t.Run("daylight saving", func(t *testing.T) {
		// Berlin leaves summer time on 2026-10-25: 9 in the morning is 7 in
		// UTC before, 8 after.
		got := runsOf(t, t.TempDir(), "CRON_TZ=Europe/Berlin 0 9 * * *", &fakeClock{now: at("2026-10-24T00:00:00Z"), waits: 3}, false)
		want := []string{"2026-10-24T00:00:00Z", "2026-10-24T07:00:00Z", "2026-10-25T08:00:00Z", "2026-10-26T08:00:00Z"}
		if !slices.Equal(got, want) {
			t.Errorf("ran at %q, want %q", got, want)
		}
	})
}

func TestServeRefusesASchedule(t *testing.T) {
	for _, spec := range []string{"", "often", "61 * * * *", "CRON_TZ=Nowhere/City 0 0 * * *"} {
		if err := Serve(context.Background(), spec, &fakeClock{}, t.TempDir(), nil, nil); err == nil {
			t.Errorf("schedule %q was taken", spec)
		}
	}
}
