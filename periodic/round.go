package periodic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/internal/batch"
)

// idle is why a round ended.
type idle struct {
	peek   backend.Peek
	locked bool // due rows are left because somebody else has locked them
}

// round schedules batch after batch until nothing is due or running ends.
func (l *loop) round(running, working context.Context) (idle, error) {
	for {
		if err := l.catchUp(working); err != nil {
			return idle{}, err
		}
		peek, err := l.peek(working)
		if err != nil {
			return idle{}, err
		}
		l.shared = peek.Shared
		l.pulse.Beat(nil) // a round may have to submit for a long time
		if l.aside.Tasks.Compare(peek.Versions) {
			continue // peek left out tasks that are no longer set aside
		}
		l.retryAside(running)
		cleared, locked, err := l.marks.clearExpired(working, &peek)
		if err != nil {
			return idle{}, err
		}
		if cleared {
			continue
		}
		tended, err := l.waiting(working, peek)
		if err != nil {
			return idle{}, err
		}
		if (peek.Due || tended.Ready) && running.Err() == nil {
			l.progress = false
			if err := l.drain(running, working); err != nil {
				return idle{}, err
			}
			if l.progress {
				continue
			}
			locked = true
		}
		if tended.More {
			continue
		}
		if locked {
			l.observe(Event{Kind: EventLocked})
		}
		return idle{peek: peek, locked: locked || tended.Again}, nil
	}
}

// catchUp absorbs findings, returns their errors, and removes stale marks.
func (l *loop) catchUp(ctx context.Context) error {
	l.absorbAll()
	err := l.failed
	l.failed = nil
	return errors.Join(err, l.marks.remove(ctx))
}

// peek reads what there is to do, and compares the clocks.
func (l *loop) peek(ctx context.Context) (backend.Peek, error) {
	asked := time.Now()
	without := l.aside.Apart()
	p, err := l.store.Peek(ctx, without)
	if err != nil && !without.Queued && l.search.Faults.Isolatable(err) {
		without.Queued = true
		cause := err
		if p, err = l.store.Peek(ctx, without); err == nil {
			l.queued.apart(cause)
		}
	}
	if err == nil {
		if skew, report := l.clock.compare(asked, time.Now(), p.Now); report {
			l.observe(Event{Kind: EventClock, Skew: skew})
		}
	}
	return p, err
}

// waiting looks after what waits for something else than its time: a queue that the
// scheduler can use, or the end of a job.
func (l *loop) waiting(ctx context.Context, peek backend.Peek) (backend.Tended, error) {
	if peek.Stray {
		l.stray(ctx)
	}
	if peek.Open {
		l.queued.follow(ctx)
	}
	if peek.Ready || l.queued.untended {
		return l.queued.tend(ctx)
	}
	return backend.Tended{}, nil
}

// stray sets the problem of tasks that wait because this scheduler does not know
// their sink, or because that cannot be used, and that no other scheduler has taken.
func (l *loop) stray(ctx context.Context) {
	sinks := &l.aside.Sinks
	stray, err := l.store.Stray(ctx, sinks.Usable(), func(sink Sink) string {
		if err := sinks.Broken(sink); err != nil {
			return fmt.Sprintf("the ticks wait: %v", err)
		}
		return batch.NoQueue(sink)
	})
	if err != nil {
		l.cfg.fail("look for tasks whose sink cannot be used", err)
		return
	}
	for _, t := range stray {
		if sinks.Broken(t.Sink) == nil { // else the sink is reported, once
			l.observe(Event{Kind: EventProblem, Task: &t, Problem: batch.NoQueue(t.Sink)})
		}
	}
}

// The database's clock judges whether a task is due (guarantee G10). A host whose
// clock differs schedules correctly, but its log lines and its jobs use the wrong
// time. Therefore the scheduler reports the difference.

// skewThreshold: larger differences of the clocks are reported.
const skewThreshold = time.Second

// clock watches the difference between the database's clock and the host's.
type clock struct{ reported bool }

// compare returns how far the database's clock is ahead, and whether to report
// it: once, until the clocks have agreed again. How much of the round trip the
// reply took is unknown.
func (c *clock) compare(asked, answered, database time.Time) (skew time.Duration, report bool) {
	way := answered.Sub(asked) / 2
	skew = database.Sub(asked.Add(way))
	sure := skew.Abs() - way
	switch {
	case sure > skewThreshold && !c.reported:
		c.reported = true
		return skew, true
	case sure <= skewThreshold/2:
		c.reported = false
	}
	return skew, false
}
