package relay

import (
	"context"
	"sync/atomic"
)

// workers limits how many workers publish at a time. As many again may wait with
// a batch: a claim of several topics costs hardly more than that of one.
type workers struct {
	slots   chan struct{}
	slow    chan struct{} // of topics that are slow to settle
	stuck   *atomic.Int64 // workers that cannot record their settlement, or not soon
	changed chan struct{} // stuck has changed
}

func newWorkers(n int) workers {
	return workers{slots: make(chan struct{}, n), slow: make(chan struct{}, maxSlow), stuck: new(atomic.Int64), changed: make(chan struct{}, 1)}
}

// room is how many topics may be claimed altogether.
func (w workers) room() int {
	return 2*cap(w.slots) + min(int(w.stuck.Load()), maxStuck)
}

// enter waits for a slot until ctx ends, and reports whether it got one.
func (w workers) enter(ctx context.Context) bool {
	select {
	case w.slots <- struct{}{}:
		if ctx.Err() != nil {
			w.leave()
			return false
		}
		return true
	case <-ctx.Done():
		return false
	}
}

// leave gives a slot back.
func (w workers) leave() { <-w.slots }

// setStuck counts a worker as stuck, by 1, or as no longer stuck, by -1.
func (w workers) setStuck(by int64) {
	w.stuck.Add(by)
	select {
	case w.changed <- struct{}{}:
	default: // the loop has not seen the last change yet
	}
}
