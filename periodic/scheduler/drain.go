package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/batch"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/search"
)

// maxInFlight is the greatest number of batches that are submitted at a time,
// while the next one is claimed.
const maxInFlight = 2

// onTime is how late a task may be and still be claimed before those that catch
// up.
const onTime = 5 * time.Second

// result is the end of a transaction.
type result struct {
	batch   batch.Batch
	without taskdb.Apart
	done    batch.Outcome
	err     error

	prepared bool
}

// submitting is what is in flight while due tasks are submitted.
type submitting struct {
	*loop

	results  chan result
	inFlight int
}

// submitDue submits the prepared plans that are due.
func (l *loop) submitDue(running, working context.Context) error {
	l.again()
	s := submitting{loop: l, results: make(chan result, maxInFlight)}
	for running.Err() == nil {
		begun, err := s.startDue(running, working)
		if begun && err == nil {
			continue
		}
		if err = errors.Join(err, s.settleAll(running)); err != nil || !l.ahead.soon(&l.clock) {
			return err
		}
	}
	return s.settleAll(running)
}

// startDue begins to submit prepared plans that are due. It reports whether there were any.
func (s *submitting) startDue(running, working context.Context) (begun bool, err error) {
	most := s.cfg.BatchSize
	if !s.ahead.begun {
		most = min(most, firstPart)
	}
	b := batch.Batch{Begun: time.Now(), Now: s.clock.now(), Plans: s.ahead.take(s.clock.now(), most)}
	if s.ahead.begun = len(b.Plans) > 0; !s.ahead.begun {
		return false, nil
	}
	if s.inFlight == maxInFlight {
		err = s.settle(running)
	}
	s.inFlight++
	at, without := time.Now().Add(s.clock.until(b.Due())), s.aside.Apart()
	crashpoint.At("scheduler/batch-due")
	go func() {
		done, err := s.batches.SubmitPrepared(working, batch.Wait, b, at)
		s.results <- result{b, without, done, err, true}
	}()
	if len(b.Plans) == firstPart {
		err = errors.Join(err, s.settleAll(running)) // alone, it is sooner done
	}
	return true, err
}

// drain takes batch after batch of due tasks until one is not full, or running ends. Claims come
// one after the other; up to maxInFlight batches are submitted meanwhile. Prepared plans that
// fall due go first. It leaves all to another scheduler that is at work on it.
func (l *loop) drain(running, working context.Context) error {
	if l.ahead.leaves(working, l.store, l.aside.Apart()) {
		return nil
	}
	s := submitting{loop: l, results: make(chan result, maxInFlight)}
	l.ahead.backlog = time.Time{}
	var err error
	var after time.Time // not zero: claim tasks that are on time only
	for more := true; more && err == nil && running.Err() == nil; {
		l.beside.arrived(l.absorb)
		var begun bool
		if begun, err = s.startDue(running, working); begun {
			continue
		}
		if s.inFlight == maxInFlight {
			err = s.settle(running)
			continue
		}
		c := taskdb.Claim{Limit: l.cfg.BatchSize, After: after, Without: l.aside.Apart()}
		c.Without.Since = l.done.upTo
		b, claimErr := s.take(working, c)
		if claimErr != nil {
			more, err = false, s.claimFailed(running, working, c, claimErr)
			continue
		}
		l.pulse.Beat(nil)
		full := len(b.Plans) == l.cfg.BatchSize
		more = full || !after.IsZero()
		if after = (time.Time{}); full {
			after = leaveRoom(b, c)
		}
	}
	return errors.Join(err, s.settleAll(running))
}

// take claims a batch, and returns it as soon as the next one may be claimed, while its
// transaction goes on.
func (s *submitting) take(working context.Context, c taskdb.Claim) (batch.Batch, error) {
	claimed := make(chan result, 1)
	go func() {
		var b *batch.Batch
		done, err := s.batches.Take(working, batch.Wait, c, batch.Alone{}, func(decided batch.Batch) {
			b = &decided
			claimed <- result{batch: decided}
		})
		if b == nil {
			claimed <- result{err: err}
			return
		}
		s.results <- result{*b, c.Without, done, err, false}
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

// settle waits for the end of a transaction, and handles it.
func (s *submitting) settle(running context.Context) error {
	r := <-s.results
	s.inFlight--
	return s.settled(running, r)
}

// settleAll waits for the end of all.
func (s *submitting) settleAll(running context.Context) (err error) {
	for s.inFlight > 0 {
		err = errors.Join(err, s.settle(running))
	}
	return err
}

// settled handles the end of a transaction.
func (s *submitting) settled(running context.Context, r result) error {
	var early *batch.EarlyError
	switch {
	case r.err == nil:
		if r.prepared {
			s.ahead.raced(len(r.done.Kept))
		}
		if len(r.done.Kept) > 0 { // else another scheduler was first
			s.report(search.Done{Batch: r.batch, Outcome: r.done})
			s.slow.submitted(&r.done)
		}
	case errors.As(r.err, &early):
		if early.By <= s.ahead.lead {
			s.ahead.add(r.batch.Plans)
			s.clock.set(r.batch.Due().Add(-early.By), early.Asked)
		}
	case !s.search.Faults.Isolatable(r.err):
		return fmt.Errorf("submit: %w", r.err)
	default:
		s.isolate(running, "submit", r.batch.IDs(), r.without, r.err)
	}
	return nil
}

// isolate takes tasks that failed together in parts, beside the loop.
func (l *loop) isolate(running context.Context, doing string, keys []string, without taskdb.Apart, cause error) {
	if l.beside.full() {
		return // they are still due
	}
	l.progress = true // others may be due
	if keys = l.aside.Tasks.Begin(keys); len(keys) == 0 {
		return // they failed in another batch, whose search goes on
	}
	l.observe(Event{Kind: EventSplit, Doing: doing, Err: cause})
	l.beside.start(func() search.Findings { return l.search.Search(running, keys, without, cause) })
}

// claimFailed takes the tasks of a failed claim in parts.
func (s *submitting) claimFailed(running, working context.Context, c taskdb.Claim, cause error) error {
	if !s.search.Faults.Isolatable(cause) {
		return cause
	}
	keys, err := s.store.Candidates(working, c)
	if err != nil && !c.Without.Queued && s.search.Faults.Isolatable(err) {
		c.Without.Queued = true
		if _, again := s.store.Candidates(working, c); again == nil {
			s.queued.apart(err)
			s.progress = true
			return nil
		}
	}
	if err != nil || len(keys) == 0 {
		return errors.Join(cause, err)
	}
	s.isolate(running, "claim", keys, c.Without, cause)
	return nil
}

// report observes a committed batch.
func (l *loop) report(d search.Done) {
	done, now := &d.Outcome, time.Now()
	if done.Moved() {
		l.progress = true
		l.ahead.overtakes()
		l.pulse.Beat(nil)
	}
	for _, p := range done.Kept {
		if p.Problem != "" && p.Problem != p.Task.Problem {
			l.observe(Event{Kind: EventProblem, Task: p.Task, Problem: p.Problem})
		}
	}
	for _, t := range done.Ticks {
		of := done.Plans[t.TaskID].Task
		l.ends.added(of.Sink, t)
		switch t.Decision {
		case periodic.Queued:
			l.queued.added(of.Sink)
		case periodic.Submitted:
			l.aside.Tasks.Submitted(of.Sink, now)
		}
		again := t.Decision != periodic.Submitted && l.aside.Tasks.Skips(t.TaskID)
		l.observe(Event{Kind: EventTick, Task: of, Tick: t, Again: again})
	}
	l.observe(Event{Kind: EventBatch, Count: len(done.Kept), Ticks: len(done.Ticks), Took: time.Since(d.Batch.Begun)})
	crashpoint.At("scheduler/batch-reported")
}
