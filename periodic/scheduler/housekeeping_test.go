package scheduler

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
)

// prunes is a store that only deletes, and notes when.
type prunes struct {
	Store

	at   []time.Duration // since the start
	keep Retention
	bad  time.Duration // until then it fails
}

func (p *prunes) Prune(_ context.Context, keep Retention) (Pruned, error) {
	began := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // of a bubble of synctest
	p.at, p.keep = append(p.at, time.Since(began)), keep
	if time.Since(began) < p.bad {
		return Pruned{}, errors.New("no")
	}
	return Pruned{Ticks: len(p.at)}, nil
}

// A scheduler deletes what is old some minutes after its start, and then once a day; after a failure
// it tries again in an hour.
func TestHousekeepingOnceADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines storetest.Log
		cfg := Config{Name: "s", Logger: lines.Logger(), Retention: Retention{Jobs: Forever}}.withDefaults()
		store := &prunes{}
		h := newHousekeeping(store, &cfg, shared{})
		if h.first < 5*time.Minute || h.first > 10*time.Minute {
			t.Errorf("the first time is after %s", h.first)
		}
		ctx, cancel := context.WithTimeout(t.Context(), h.first+50*time.Hour)
		defer cancel()
		store.bad = h.first + 90*time.Minute
		h.run(ctx)
		if want := []time.Duration{h.first, h.first + time.Hour, h.first + 2*time.Hour, h.first + 26*time.Hour, h.first + 50*time.Hour}; !slices.Equal(store.at, want[:4]) && !slices.Equal(store.at, want) {
			t.Errorf("it deleted at %s, want %s", store.at, want)
		}
		if want := (Retention{Ticks: 720 * time.Hour, Jobs: Forever, Events: 720 * time.Hour}); store.keep != want {
			t.Errorf("it kept %+v, want %+v", store.keep, want)
		}
		if said := lines.String(); !strings.Contains(said, `level=INFO msg="old rows deleted" ticks=`) || strings.Contains(said, "ticks=0") {
			t.Errorf("the log says %s", said)
		}
	})
}

// Who stands by deletes nothing until it schedules, and then within an hour; and a retention that is too short is refused.
func TestHousekeepingOfAStandbyAndItsBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &prunes{}
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Hour)
		defer cancel()
		const since = 30 * time.Hour
		cfg := Config{Name: "s"}.withDefaults()
		newHousekeeping(store, &cfg, standby{until: time.Now().Add(since)}).run(ctx)
		if len(store.at) != 1 || store.at[0] < since || store.at[0] > since+time.Hour {
			t.Errorf("it deleted at %s, want once, within an hour after %s", store.at, since)
		}
	})
	for _, keep := range []Retention{{Ticks: time.Minute}, {Jobs: -2}, {Events: time.Hour}, {Ticks: 200 * 365 * 24 * time.Hour}} {
		if _, err := New(nil, Config{Name: "s", Retention: keep}); err == nil {
			t.Errorf("%+v was taken", keep)
		}
	}
}

type standby struct {
	shared

	until time.Time
}

func (s standby) schedules() bool { return !time.Now().Before(s.until) }

// Who has lost the lock while jobs of another queue were open asks about them no more, and waits quietly.
func TestNobodyAsksAboutEndsWhileStandingBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		e := newEnds(nil, &Config{Submitters: periodic.Submitters{"other": nil}}, shared{})
		a, times := e.askers["other"], atomic.Int64{}
		a.within(time.Second)
		a.run(ctx, func() bool { times.Add(1); return false })
		if n := times.Load(); n != 1 {
			t.Errorf("it was ready to ask %d times in an hour, want once", n)
		}
	})
}
