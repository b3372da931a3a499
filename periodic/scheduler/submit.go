package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/batch"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/search"
)

// maxInFlight is the greatest number of batches that are submitted at a time,
// while the next one is claimed.
const maxInFlight = 2

// result is the end of a transaction. Its batch belongs to the transaction's goroutine until the loop
// has received this.
type result struct {
	batch   batch.Batch
	exclude taskdb.Exclude
	done    batch.Outcome
	err     error

	prepared bool
}

// submitter is what is in flight while due tasks are submitted.
type submitter struct {
	*loop

	results  chan result
	inFlight int
	burst    bool // tasks that fell due together are being submitted
}

// submitDue submits the prepared plans that are due.
func (l *loop) submitDue(soft, hard context.Context) error {
	l.pollNow()
	s := submitter{loop: l, results: make(chan result, maxInFlight)}
	for soft.Err() == nil {
		begun, err := s.startDue(soft, hard)
		if begun && err == nil {
			continue
		}
		if err = errors.Join(err, s.collectAll(soft)); err != nil || !l.prepared.soon(&l.clock) {
			return err
		}
	}
	return s.collectAll(soft)
}

// startDue begins to submit prepared plans that are due. It reports whether there were any.
func (s *submitter) startDue(soft, hard context.Context) (begun bool, err error) {
	most := s.pace.limit()
	first := !s.burst
	if first {
		most = min(most, firstPart)
	}
	b := batch.Batch{Started: time.Now(), Now: s.clock.now(), Plans: s.prepared.popDue(s.clock.now(), most)}
	if s.burst = len(b.Plans) > 0; !s.burst {
		return false, nil
	}
	if s.inFlight == maxInFlight {
		err = s.collect(soft)
	}
	s.inFlight++
	at, exclude := time.Now().Add(s.clock.until(b.ReadyAt())), s.aside.Exclude()
	go func() {
		done, err := s.batches.SubmitPrepared(hard, batch.LockTimeout, b, at)
		s.results <- result{b, exclude, done, err, true}
	}()
	if first && len(b.Plans) == firstPart {
		err = errors.Join(err, s.collectAll(soft)) // alone, it is sooner done
	}
	return true, err
}

// collect waits for the end of a transaction, and handles it.
func (s *submitter) collect(soft context.Context) error {
	r := <-s.results
	s.inFlight--
	return s.handleResult(soft, r)
}

// collectAll waits for the end of all.
func (s *submitter) collectAll(soft context.Context) (err error) {
	for s.inFlight > 0 {
		err = errors.Join(err, s.collect(soft))
	}
	return err
}

// handleResult handles the end of a transaction.
func (s *submitter) handleResult(soft context.Context, r result) error {
	var early *batch.EarlyError
	switch {
	case r.err == nil:
		if r.prepared {
			if s.prepared.peer.lost(len(r.done.Kept)) {
				s.prepared.yield()
			}
		}
		if len(r.done.Kept) > 0 { // else another scheduler was first
			s.handleCommitted(search.Committed{Batch: r.batch, Outcome: r.done})
			s.pace.took(len(r.done.Kept), r.done.Took)
		}
	case errors.As(r.err, &early):
		if early.By <= s.prepared.lead {
			s.prepared.add(r.batch.Plans)
			s.clock.set(r.batch.ReadyAt().Add(-early.By), early.Asked)
		}
	case !s.search.Faults.Isolatable(r.err):
		return fmt.Errorf("submit: %w", r.err)
	default:
		s.isolate(soft, "submit", r.batch.IDs(), r.exclude, r.err)
	}
	return nil
}

// handleCommitted tells of a committed batch, and notes what follows from it.
func (l *loop) handleCommitted(d search.Committed) {
	done, now := &d.Outcome, time.Now()
	if done.Moved() {
		l.progress = true
		l.prepared.peer.foundWork()
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
	l.observe(Event{Kind: EventBatch, Count: len(done.Kept), Ticks: len(done.Ticks), Took: time.Since(d.Batch.Started)})
}
