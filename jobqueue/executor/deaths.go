package executor

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// An executor beats, and each time looks at the beats of the others that have jobs. The rhythm is the same
// everywhere: who looks has to know how often the others beat.
const (
	// busyBeat is how often an executor beats while any job runs, here or elsewhere: six looks, and what follows,
	// fit into 12 s.
	busyBeat = 1900 * time.Millisecond
	idleBeat = 30 * time.Second
	// deadlyLooks is at how many looks in a row the beat of a worker must have been the same until it counts as dead.
	deadlyLooks = 6
	// maxGap is how far apart they may be. A longer gap says that the observer stood still itself.
	maxGap = 4 * time.Second
)

// tempo is how often an executor does what the others rely on; only tests change it.
type tempo struct {
	beat    time.Duration // while jobs run
	compare time.Duration
}

// deathWatch is what the looks of an executor found.
type deathWatch struct {
	at    time.Time        // of the last look
	beats map[string]int64 // of the others that had jobs then
	looks map[string]int   // at how many looks in a row the beat was that
}

// look takes the beats that a look found, and returns the workers that are dead. Their count starts again: one that is not
// taken over now, because somebody holds its row, needs as many looks again.
func (w *deathWatch) look(at time.Time, beats map[string]int64) (dead map[string]int64) {
	if at.Sub(w.at) > maxGap {
		w.forget()
	}
	dead, looks := map[string]int64{}, map[string]int{}
	for id, beat := range beats {
		looks[id] = 1
		if before, seen := w.beats[id]; seen && before == beat {
			looks[id] += w.looks[id]
		}
		if looks[id] >= deadlyLooks {
			dead[id] = beat
			delete(looks, id)
		}
	}
	w.at, w.beats, w.looks = at, beats, looks
	return dead
}

// forget makes the next look the first one.
func (w *deathWatch) forget() { w.beats, w.looks = nil, nil }

// keepBeating says that the executor lives until ctx ends, and tells the loop who has died.
func (e *Executor) keepBeating(ctx context.Context) {
	who, again, down := e.about(), service.Backoff{Least: 50 * time.Millisecond, Most: time.Second}, false
	var w deathWatch
	last, next := time.Time{}, time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			if !down { // otherwise housekeeping deletes the row
				_ = e.store.Leave(ctx, e.worker)
			}
			return
		case <-e.stirred: // jobs may run now
			if soon := last.Add(e.tempo.beat); soon.Before(next) {
				next = soon
			}
		case <-timer.C:
			last = time.Now()
			others, err := e.store.Beat(ctx, who, w.beats)
			if err == nil {
				again.Reset()
				down = false
				e.inbox.beaten(w.look(last, others))
				next = last.Add(e.rhythm(others))
			} else {
				w.forget()
				if !down && ctx.Err() == nil && e.store.Fault(err) != service.FaultDatabase { // of an outage the loop tells
					e.emit(Event{Kind: EventTrouble, Err: err})
				}
				down = true
				next = time.Now().Add(again.Next())
			}
		}
		timer.Reset(time.Until(next))
	}
}

// rhythm is how long to wait for the next beat.
func (e *Executor) rhythm(others map[string]int64) time.Duration {
	if len(others) > 0 || e.busy.Load() {
		return e.tempo.beat
	}
	return idleBeat
}

// stir makes the executor beat soon: jobs may run now.
func (e *Executor) stir() {
	select {
	case e.stirred <- struct{}{}:
	default: // it is going to
	}
}

// about is what others can read about the executor.
func (e *Executor) about() exchange.Service {
	who := exchange.Service{Worker: e.worker, Places: e.cfg.PoolSize, Groups: e.cfg.Groups}
	for _, name := range e.Tasks() {
		limits := e.handlers[name].limits
		who.Handlers = append(who.Handlers, exchange.HandlerLimits{Name: name, Attempts: e.cfg.limited(limits).attempts()})
	}
	return who
}
