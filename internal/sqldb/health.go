package sqldb

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// health is what the transactions of a database have found out about it.
type health struct {
	outage service.Outage
	clock  atomic.Pointer[skew] // nil: not measured yet
}

// skew is how far the database's clock is ahead of the host's.
type skew struct {
	ahead time.Duration
	way   time.Duration // it is as exact as this
	at    time.Time
}

// skewMemory is for how long an exact measurement is better than a newer, coarser one.
const skewMemory = 10 * time.Second

// outcome notes whether the database could be reached, by work that began at a time.
func (h *health) outcome(err error, writing bool, began time.Time) error {
	switch {
	case err == nil:
		h.outage.Reached(writing, began)
	case errors.Is(err, ErrUnavailable):
		return h.outage.Failed(err, writing, began)
	}
	return err
}

// measure compares the clocks.
func (h *health) measure(asked, answered, database time.Time) {
	way := answered.Sub(asked) / 2
	found := skew{database.Sub(asked.Add(way)), way, answered}
	last := h.clock.Load()
	if last != nil && way > last.way && answered.Sub(last.at) < skewMemory && (found.ahead-last.ahead).Abs() <= way+last.way {
		return
	}
	h.clock.Store(&found)
}

func (h *health) skew() time.Duration {
	if last := h.clock.Load(); last != nil {
		return last.ahead
	}
	return 0
}
