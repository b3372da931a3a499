package relay

import (
	"context"
	"sync/atomic"
)

// workers limits how many workers publish at a time. As many again may wait with
// a batch: a claim of several topics costs hardly more than that of one.
type workers struct {
	places     chan struct{}
	slowPlaces chan struct{} // for topics that are slow to settle
	stuck      *atomic.Int64 // workers that cannot record their settlement, or not soon
	changed    chan struct{} // stuck has changed
}

func newWorkers(n int) workers {
	return workers{places: make(chan struct{}, n), slowPlaces: make(chan struct{}, maxSlow), stuck: new(atomic.Int64), changed: make(chan struct{}, 1)}
}

// room is how many topics may be claimed altogether.
func (w workers) room() int {
	return 2*cap(w.places) + min(int(w.stuck.Load()), maxStuck)
}

// takePlace waits for a place until ctx ends, and reports whether it got one.
func (w workers) takePlace(ctx context.Context) bool {
	select {
	case w.places <- struct{}{}:
		if ctx.Err() != nil {
			w.leavePlace()
			return false
		}
		return true
	case <-ctx.Done():
		return false
	}
}

// leavePlace leaves a place to others.
func (w workers) leavePlace() { <-w.places }

// setStuck counts a worker as stuck, by 1, or as no longer stuck, by -1.
func (w workers) setStuck(by int64) {
	w.stuck.Add(by)
	select {
	case w.changed <- struct{}{}:
	default: // the loop has not seen the last change yet
	}
}
