package periodic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/internal/batch"
	"github.com/nextrun/nextrun/periodic/internal/search"
)

// maxInFlight is the greatest number of batches that are submitted at a time,
// while the next one is claimed.
const maxInFlight = 2

// onTime is how late a task may be and still be claimed before those that catch
// up.
const onTime = 5 * time.Second

// result is the end of a submit transaction.
type result struct {
	batch batch.Batch
	done  batch.Outcome
	held  bool  // the transaction held the tasks; they have no marks
	part  *part // was claimed before its time; nil: no
	err   error
}

// drain submits the tasks that wait and are due, then claims and submits batch after
// batch until a batch is not full, or running ends. Claims come one after the other; up
// to maxInFlight batches are submitted meanwhile.
func (l *loop) drain(running, working context.Context) error {
	d := draining{loop: l, results: make(chan result, maxInFlight), hold: l.holds()}
	l.careful = false
	var err error
	var after time.Time // not zero: claim tasks that are on time only
	for more := true; more && err == nil && running.Err() == nil; {
		l.absorbAll()
		var begun bool
		if begun, err = d.startDue(running, working); begun {
			continue
		}
		if d.inFlight == maxInFlight && d.hold {
			err = d.settle(running)
			continue
		}
		c := backend.Claim{Mark: l.marker.next(), Limit: l.cfg.BatchSize, After: after, Without: l.aside.Apart()}
		b, claimErr := d.claim(working, c)
		switch {
		case claimErr == nil:
		case d.hold && l.search.Faults.Isolatable(claimErr):
			d.hold, l.careful = false, true
			continue
		case d.hold:
			err = claimErr
			continue
		default:
			err = d.claimFailed(running, working, c, claimErr)
			more = false
			continue
		}
		l.pulse.Beat(nil)
		full := len(b.Plans) == l.cfg.BatchSize
		more = full || !after.IsZero()
		if after = (time.Time{}); full {
			after = leaveRoom(b, c)
		}
		if len(b.Plans) > 0 && !d.hold {
			err = d.submit(running, working, b)
		}
	}
	return errors.Join(err, d.settleAll(running))
}

// submitDue submits the tasks that wait and are due.
func (l *loop) submitDue(running, working context.Context) error {
	d := draining{loop: l, results: make(chan result, maxInFlight)}
	for running.Err() == nil {
		begun, err := d.startDue(running, working)
		if begun && err == nil {
			continue
		}
		if err = errors.Join(err, d.settleAll(running)); err != nil || !l.ahead.atOnce(&l.clock) {
			return err
		}
	}
	return d.settleAll(running)
}

// holds reports whether a transaction may hold tasks instead of marking them.
func (l *loop) holds() bool { return len(l.cfg.Submitters) == 0 && !l.shared && !l.careful }

// draining is one call of drain.
type draining struct {
	*loop
	results  chan result
	inFlight int
	// hold lets one transaction claim and submit a batch. After a failure that may lie in
	// a row, tasks are marked instead, so that the search can take them apart.
	hold bool
}

// claim claims a batch. If it holds the tasks, it also begins to submit them.
func (d *draining) claim(working context.Context, c backend.Claim) (batch.Batch, error) {
	if !d.hold {
		return d.batches.Claim(working, batch.Wait, c, "")
	}
	claimed := make(chan result, 1)
	go func() {
		var b *batch.Batch
		done, err := d.batches.Take(working, batch.Wait, c, func(held batch.Batch) {
			b = &held
			claimed <- result{batch: held}
		})
		if b == nil {
			claimed <- result{err: err}
			return
		}
		d.results <- result{batch: *b, done: done, held: true, err: err}
	}()
	r := <-claimed
	if len(r.batch.Plans) > 0 {
		d.inFlight++
	}
	return r.batch, r.err
}

// submit begins to submit a batch whose tasks are marked.
func (d *draining) submit(running, working context.Context, b batch.Batch) (err error) {
	if d.inFlight == maxInFlight {
		err = d.settle(running)
	}
	d.inFlight++
	go func() {
		done, err := d.batches.Submit(working, batch.Wait, b.Mark, b.Plans)
		d.results <- result{batch: b, done: done, err: err}
	}()
	return err
}

// settle waits for the end of a submit transaction, and handles it.
func (d *draining) settle(running context.Context) error {
	r := <-d.results
	d.inFlight--
	if r.err != nil && r.held && d.search.Faults.Isolatable(r.err) {
		d.hold, d.careful = false, true
		d.progress = true // the tasks are due
		return nil
	}
	return d.settled(running, r)
}

// settleAll waits for the end of all.
func (d *draining) settleAll(running context.Context) (err error) {
	for d.inFlight > 0 {
		err = errors.Join(err, d.settle(running))
	}
	return err
}

// leaveRoom returns Claim.After for the next claim. While tasks catch up, every
// other claim takes only tasks that are on time. The result is zero if this batch
// was such a claim, or nothing catches up.
func leaveRoom(b batch.Batch, c backend.Claim) time.Time {
	newest := b.Plans[len(b.Plans)-1].Task
	recent := b.Now.Add(-onTime)
	if !c.After.IsZero() || newest.NextRun.After(recent) || newest.Unplanned() {
		return time.Time{}
	}
	return recent
}

// settled handles the end of a submit transaction.
func (l *loop) settled(running context.Context, r result) error {
	if r.part != nil && l.settleDue(r) {
		return nil
	}
	switch {
	case r.err == nil:
		if r.part == nil && len(r.done.Kept) < len(r.batch.Plans) { // edited, or locked by somebody else
			l.marks.add(r.batch.Mark)
		}
		l.report(search.Done{Batch: r.batch, Outcome: r.done})
		return nil
	case !l.search.Faults.Isolatable(r.err):
		if !r.held {
			l.marks.add(r.batch.Mark)
		}
		return fmt.Errorf("submit: %w", r.err)
	case l.beside.full():
		l.marks.add(r.batch.Mark)
		return nil
	}
	l.observe(Event{Kind: EventSplit, Doing: "submit", Err: r.err})
	l.progress = true // others may be due
	l.beside.start(func() search.Findings { return l.search.Submit(running, r.batch, r.err) })
	return nil
}

// claimFailed claims the tasks of a failed claim in parts, beside the loop.
func (l *loop) claimFailed(running, working context.Context, c backend.Claim, cause error) error {
	l.marks.add(c.Mark) // whether it was committed is not known
	if !l.search.Faults.Isolatable(cause) {
		return cause
	}
	if l.beside.full() {
		return nil
	}
	keys, err := l.store.Candidates(working, c)
	if err != nil && !c.Without.Queued && l.search.Faults.Isolatable(err) {
		c.Without.Queued = true
		if _, again := l.store.Candidates(working, c); again == nil {
			l.queued.apart(err)
			l.progress = true
			return nil
		}
	}
	if err != nil || len(keys) == 0 {
		return errors.Join(cause, err)
	}
	l.observe(Event{Kind: EventSplit, Doing: "claim", Err: cause})
	l.aside.Tasks.Begin(keys)
	l.progress = true
	l.beside.start(func() search.Findings { return l.search.Claim(running, c, keys, cause, l.marker.next) })
	return nil
}

// report observes a committed batch.
func (l *loop) report(d search.Done) {
	done, now := &d.Outcome, time.Now()
	if done.Moved() {
		l.progress = true
		l.pulse.Beat(nil)
	}
	for _, p := range done.Kept {
		if p.Problem != "" && p.Problem != p.Task.Problem {
			l.observe(Event{Kind: EventProblem, Task: p.Task, Problem: p.Problem})
		}
	}
	for _, t := range done.Ticks {
		of := done.Plans[t.TaskID].Task
		switch t.Decision {
		case Queued:
			l.queued.added(of.Sink)
		case Submitted:
			l.aside.Tasks.Submitted(of.Sink, now)
		}
		again := t.Decision != Submitted && l.aside.Tasks.Skips(batch.Key(t.TaskID))
		l.observe(Event{Kind: EventTick, Task: of, Tick: t, Again: again})
	}
	l.observe(Event{Kind: EventBatch, Count: len(done.Kept), Ticks: len(done.Ticks), Took: time.Since(d.Batch.Begun)})
	crashpoint.At("scheduler/batch-reported")
}
