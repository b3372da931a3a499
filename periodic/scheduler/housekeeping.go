package scheduler

import (
	"context"
	"math/rand/v2"
	"time"
)

// When a scheduler deletes what is old: some minutes after its start, when it has caught up, and then once a
// day; what failed an hour later.
const (
	firstPruning = 5 * time.Minute
	nextPruning  = 24 * time.Hour
	pruneAgain   = time.Hour
)

// housekeeping deletes what is old, in a goroutine of its own.
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
		if h.role.schedules() && !h.prune(ctx) {
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
