package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/batch"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/search"
)

// onTime is how late a task may be and still be claimed before those that catch
// up.
const onTime = 5 * time.Second

// drain takes batch after batch of due tasks until one is not full, or soft ends. Claims come
// one after the other; up to maxInFlight batches are submitted meanwhile. Prepared plans that
// fall due go first. It leaves all to another scheduler that is at work on it.
func (l *loop) drain(soft, hard context.Context) error {
	if l.prepared.peer.yieldsBacklog(hard, l.store, l.aside.Exclude()) {
		return nil
	}
	if err := l.store.PauseFailing(hard, l.cfg.Hooks); err != nil { // before their ticks are decided
		return err
	}
	s := submitter{loop: l, results: make(chan result, maxInFlight)}
	l.prepared.unpreparedAt = time.Time{}
	var err error
	var after time.Time // not zero: claim tasks that are on time only
	for more := true; more && err == nil && soft.Err() == nil; {
		l.background.receive(l.handleFindings)
		var begun bool
		if begun, err = s.startDue(soft, hard); begun {
			continue
		}
		if s.inFlight == maxInFlight {
			err = s.collect(soft)
			continue
		}
		c := taskdb.Claim{Limit: l.pace.limit(), After: after, Exclude: l.aside.Exclude()}
		c.Exclude.NextRunAfter = l.watermark.drainedUpTo
		b, claimErr := s.take(hard, c)
		if claimErr != nil {
			more, err = false, s.claimFailed(soft, hard, c, claimErr)
			continue
		}
		l.pulse.Beat(nil)
		full := len(b.Plans) == c.Limit
		more = full || !after.IsZero()
		if after = (time.Time{}); full {
			after = leaveRoom(b, c)
		}
	}
	return errors.Join(err, s.collectAll(soft))
}

// take claims a batch, and returns it as soon as the next one may be claimed, while its
// transaction goes on.
func (s *submitter) take(hard context.Context, c taskdb.Claim) (batch.Batch, error) {
	claimed := make(chan result, 1)
	go func() {
		var b *batch.Batch
		done, err := s.batches.Take(hard, batch.LockTimeout, c, batch.Alone{}, func(decided batch.Batch) {
			b = &decided
			claimed <- result{batch: decided}
		})
		if b == nil {
			claimed <- result{err: err}
			return
		}
		s.results <- result{*b, c.Exclude, done, err, false}
	}()
	r := <-claimed
	if len(r.batch.Plans) > 0 {
		s.inFlight++
	}
	return r.batch, r.err
}

// leaveRoom returns Claim.After for the next claim. While tasks catch up, every
// other claim takes only tasks that are on time. The result is zero if this batch
// was such a claim, or nothing catches up.
func leaveRoom(b batch.Batch, c taskdb.Claim) time.Time {
	newest := b.Plans[len(b.Plans)-1].Task
	recent := b.Now.Add(-onTime)
	if !c.After.IsZero() || newest.NextRun.After(recent) || newest.Unplanned() {
		return time.Time{}
	}
	return recent
}

// isolate takes tasks that failed together in parts, beside the loop.
func (l *loop) isolate(soft context.Context, doing string, keys []string, exclude taskdb.Exclude, cause error) {
	if l.background.full() {
		return // they are still due
	}
	l.progress = true // others may be due
	if keys = l.aside.Tasks.Begin(keys); len(keys) == 0 {
		return // they failed in another batch, whose search goes on
	}
	l.observe(Event{Kind: EventSplit, Doing: doing, Err: cause})
	l.background.start(func() search.Findings { return l.search.Search(soft, keys, exclude, cause) })
}

// claimFailed takes the tasks of a failed claim in parts.
func (s *submitter) claimFailed(soft, hard context.Context, c taskdb.Claim, cause error) error {
	if !s.search.Faults.Isolatable(cause) {
		return cause
	}
	keys, err := s.store.Candidates(hard, c)
	if err != nil && !c.Exclude.Queued && s.search.Faults.Isolatable(err) {
		c.Exclude.Queued = true
		if _, again := s.store.Candidates(hard, c); again == nil {
			s.queued.setAside(err)
			s.progress = true
			return nil
		}
	}
	if err != nil || len(keys) == 0 {
		return errors.Join(cause, err)
	}
	s.isolate(soft, "claim", keys, c.Exclude, cause)
	return nil
}
