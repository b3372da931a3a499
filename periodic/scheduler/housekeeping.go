package scheduler

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// When a scheduler deletes what is old: some minutes after its start, when it has caught up, and then once a
// day; what failed, or fell due while it stood by, an hour later.
const (
	firstPruning = 5 * time.Minute
	nextPruning  = 24 * time.Hour
	pruneAgain   = time.Hour
)

// housekeeping deletes what is old, in its own goroutine.
type housekeeping struct {
	cfg   *Config
	store Store
	role  role
	first time.Duration
}

func newHousekeeping(store Store, cfg *Config, r role) housekeeping {
	return housekeeping{cfg, store, r, firstPruning + rand.N(firstPruning)}
}

// run deletes from time to time, while this scheduler schedules, until ctx ends.
func (h housekeeping) run(ctx context.Context) {
	timer := time.NewTimer(h.first)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		wait := nextPruning
		if !h.role.schedules() || !h.prune(ctx) {
			wait = pruneAgain
		}
		timer.Reset(wait)
	}
}

// prune deletes what is old now, and reports whether that could be done.
func (h housekeeping) prune(ctx context.Context) bool {
	pruned, err := h.store.Prune(ctx, h.cfg.Retention)
	if pruned != (Pruned{}) {
		h.cfg.observe(Event{Kind: EventPruned, Pruned: pruned})
	}
	if err != nil && ctx.Err() == nil {
		h.cfg.fail("delete old rows", err)
	}
	return err == nil
}

// DefaultRetention is how long what is over is kept.
const DefaultRetention = 30 * 24 * time.Hour

// Forever as a field of [Retention] deletes nothing.
const Forever time.Duration = -1

// Bounds of [Retention]. Whoever checks the versions of events looks at those of a day.
const (
	leastRetention       = time.Hour
	leastEventsRetention = 24 * time.Hour
	mostRetention        = 36_500 * 24 * time.Hour
)

// Retention says how long what is over is kept before a scheduler deletes it: 0: 30 days; [Forever].
type Retention struct {
	// Ticks: since they were decided. The newest one of each task stays. At least 1 h.
	Ticks time.Duration `yaml:"ticks" form:"orzero"`
	// Jobs: since they ended, with their logs. Those in a table that was there before nextrun
	// came, as Docspell's, stay. At least 1 h.
	Jobs time.Duration `yaml:"jobs" form:"orzero"`
	// Events: since they were published. The newest one of each aggregate stays. At least 24 h.
	Events time.Duration `yaml:"events" form:"orzero"`
}

// WithDefaults fills in what is not set.
func (r Retention) WithDefaults() Retention {
	service.SetDefault(&r.Ticks, DefaultRetention)
	service.SetDefault(&r.Jobs, DefaultRetention)
	service.SetDefault(&r.Events, DefaultRetention)
	return r
}

// Validate returns an error that names every field that is out of bounds.
func (r Retention) Validate() error {
	r = r.WithDefaults()
	p := &service.Check{Config: "scheduler.Retention"}
	within := func(name string, d, least time.Duration) {
		p.Field(d == Forever || d >= least && d <= mostRetention, name, d, fmt.Sprintf("%s to %s, or Forever", least, mostRetention))
	}
	within("Ticks", r.Ticks, leastRetention)
	within("Jobs", r.Jobs, leastRetention)
	within("Events", r.Events, leastEventsRetention)
	return p.Err()
}

// Pruned is how many rows were deleted.
type Pruned struct{ Ticks, Jobs, Events int }
