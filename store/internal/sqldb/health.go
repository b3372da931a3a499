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
	nanos  atomic.Int64 // that the database's clock is ahead of the host's
}

// outcome notes whether the database could be reached.
func (h *health) outcome(err error, writing bool) error {
	switch {
	case err == nil:
		h.outage.Reached(writing)
	case errors.Is(err, ErrUnavailable):
		return h.outage.Failed(err, writing)
	}
	return err
}

// measure compares the clocks.
func (h *health) measure(asked, answered, database time.Time) {
	middle := asked.Add(answered.Sub(asked) / 2)
	h.nanos.Store(int64(database.Sub(middle)))
}

func (h *health) skew() time.Duration { return time.Duration(h.nanos.Load()) }
