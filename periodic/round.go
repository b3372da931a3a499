package periodic

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/periodic/backend"
)

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
		if l.aside.compare(peek.Versions) {
			continue // peek left out tasks that are no longer set aside
		}
		l.retryAside(running)
		cleared, locked, err := l.clearExpired(working, &peek)
		if err != nil {
			return idle{}, err
		}
		if cleared {
			continue
		}
		if peek.Stray {
			l.findStray(working)
		}
		if peek.Open {
			l.followOpen(working)
		}
		var tended backend.Tended
		if peek.Ready || l.untended {
			if tended, err = l.tend(working); err != nil {
				return idle{}, err
			}
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

// absorbAll absorbs the findings that have arrived, without waiting for more.
func (l *loop) absorbAll() {
	for {
		select {
		case f := <-l.beside:
			l.absorb(f)
		default:
			return
		}
	}
}

// catchUp absorbs findings, returns their errors, and removes stale marks.
func (l *loop) catchUp(ctx context.Context) error {
	l.absorbAll()
	err := l.failed
	l.failed = nil
	return errors.Join(err, l.unmarkStale(ctx))
}

// peek reads what there is to do, and compares the clocks.
func (l *loop) peek(ctx context.Context) (backend.Peek, error) {
	asked := time.Now()
	without := l.aside.apart()
	p, err := l.store.Peek(ctx, without)
	if err != nil && !without.Queued && l.commit.isolatable(err) {
		without.Queued = true
		cause := err
		if p, err = l.store.Peek(ctx, without); err == nil {
			l.queuedApart(cause)
		}
	}
	if err == nil {
		if skew, report := l.clock.compare(asked, time.Now(), p.Now); report {
			l.observe(Event{Kind: EventClock, Skew: skew})
		}
	}
	return p, err
}

// clearExpired removes expired marks. It reports whether it did, or could not
// because somebody else has locked the rows.
func (l *loop) clearExpired(ctx context.Context, peek *backend.Peek) (cleared, locked bool, err error) {
	if peek.Marked.IsZero() || !l.expired(*peek) {
		return false, false, nil
	}
	n, err := l.clear(ctx, "")
	if err != nil || n > 0 {
		return n > 0, false, err
	}
	peek.Marked = time.Time{}
	return false, true, nil
}

// expired reports whether the earliest mark is older than the lease, or so far
// in the future that only a clock that was set back can have left it there.
func (l *loop) expired(p backend.Peek) bool {
	age := p.Now.Sub(p.Marked)
	return age > l.cfg.Lease || age < -l.cfg.Lease
}

// clear removes expired marks, and those of a worker name if one is given. It
// returns their number.
func (l *loop) clear(ctx context.Context, worker string) (count int, err error) {
	err = l.role.update(ctx, batchWait, func(tx backend.Tx) (err error) {
		count, err = tx.ClearMarks(ctx, worker, l.cfg.Lease)
		return err
	})
	if err == nil && count > 0 {
		l.observe(Event{Kind: EventCleared, Count: count})
	}
	return count, err
}

// unmarkStale removes the marks that batches left behind because they failed, or
// because somebody else had locked rows. Marks of rows that are still locked are
// kept for the next time.
func (l *loop) unmarkStale(ctx context.Context) error {
	if len(l.stale) == 0 || time.Since(l.unmarked) < lockedRetry {
		return nil
	}
	var left []string
	err := l.store.Update(ctx, batchWait, func(tx backend.Tx) (err error) {
		left, err = tx.Unmark(ctx, l.stale)
		return err
	})
	if err != nil {
		return err
	}
	if l.stale = left; len(left) > 0 {
		l.unmarked = time.Now()
	}
	return nil
}

// addStale notes marks, to be removed in the next round without delay.
func (l *loop) addStale(marks ...string) {
	l.stale = append(l.stale, marks...)
	l.unmarked = time.Time{}
}

// maxBeside is the greatest number of pieces of work beside the loop with which a
// failed batch may still be searched.
const maxBeside = 4

// start runs work beside the loop.
func (l *loop) start(work func() findings) {
	l.workers++
	go func() { l.beside <- work() }()
}

// retryAside retries, beside the loop, the tasks and sinks that were set aside and
// are due for another try.
func (l *loop) retryAside(running context.Context) {
	keys, sinks := l.aside.due(time.Now())
	queued := len(l.aside.queued.Due(time.Now())) > 0
	if l.retrying || len(keys)+len(sinks) == 0 && !queued {
		return
	}
	l.retrying = true
	without := backend.Apart{Sinks: l.aside.sinks.Keys(), Known: l.aside.known, Queued: l.aside.queued.Len() > 0}
	facts := maps.Clone(l.aside.facts)
	l.start(func() findings {
		f := findings{retried: true, sinks: map[Sink]error{}}
		for _, sink := range sinks {
			f.sinks[sink] = l.commit.probe(running, sink)
		}
		if queued {
			_, err := l.store.Candidates(running, backend.Claim{Limit: 1})
			f.queued = &err
		}
		for _, key := range keys {
			if running.Err() != nil {
				break
			}
			f.add(l.commit.retryAlone(running, key, facts[key], backend.Claim{Mark: l.marks.next(), Without: without}))
		}
		return f
	})
}

// absorb applies the findings of work beside the loop.
func (l *loop) absorb(f findings) {
	l.workers--
	if f.retried {
		l.retrying = false
	}
	for _, key := range f.candidate {
		delete(l.aside.busy, key)
	}
	for _, done := range f.done {
		l.report(done)
	}
	for _, key := range f.released {
		l.aside.release(key)
	}
	now := time.Now()
	for _, s := range f.setAside {
		if l.aside.add(s, now) && s.why != skipped {
			l.observe(Event{Kind: EventAside, ID: idOf(s.key), Doing: s.doing, Err: s.err})
		}
	}
	for sink, err := range f.sinks {
		switch {
		case err == nil && l.aside.releaseSink(sink):
			l.commit.outages.over(sink, now)
			l.observe(Event{Kind: EventSink, Sink: sink})
		case err != nil && l.aside.addSink(sink, err, l.commit.fault(err), now):
			l.commit.outages.failed(sink, err)
			l.observe(Event{Kind: EventSink, Sink: sink, Err: err})
		}
	}
	switch {
	case f.queued != nil && *f.queued != nil:
		l.queuedApart(*f.queued)
	case f.queued != nil:
		l.aside.queued.Release("")
	}
	l.addStale(slices.DeleteFunc(f.marks, func(mark string) bool { return mark == "" })...)
	l.failed = errors.Join(l.failed, f.err)
}
