package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/periodic/batch"
)

const (
	// maxInFlight is the greatest number of batches that are written at a time.
	maxInFlight = 2
	// firstPart is how many of the tasks that fall due together are submitted before the
	// others, so that the first job need not wait for a large transaction.
	firstPart = 100
)

// writer is what is in flight while the loop writes what is due.
type writer struct {
	*loop

	results  chan result
	inFlight int
	burst    bool // tasks that fell due together are being submitted
	outrun   bool // another scheduler was first to write what this one had planned ahead
	rest     pages
}

// result is the end of a transaction. Its batch belongs to the transaction's goroutine until the loop
// has received this.
type result struct {
	batch batch.Batch
	done  batch.Outcome
	err   error
}

// submit writes what is due, whatever made it due: the plans made ahead whose time has come, and the backlog, page after page.
// While another scheduler writes the same plans, this one waits before it looks for what that one leaves.
func (l *loop) submit(soft, hard context.Context) (pollIn time.Duration, err error) {
	w := &writer{loop: l, results: make(chan result, maxInFlight)}
	w.rest.done, w.backlog.moved = !isDue(l.backlogAt()), false
	for more := true; more && err == nil && soft.Err() == nil; {
		more, err = w.next(soft, hard)
	}
	err = errors.Join(err, w.finish(soft, hard))
	switch {
	case err != nil:
		return 0, err
	case w.outrun:
		l.pollAt = time.Time{} // it polls not before
		return leastRetry, nil
	case w.backlog.moved:
		w.backlog.pause.Reset()
		return 0, nil
	}
	return w.backlog.pause.Next(), nil
}

// next begins to write one batch, or makes way for that. It reports whether there was something to do. Plans whose time has
// come go first.
func (w *writer) next(soft, hard context.Context) (more bool, err error) {
	most := w.pace.limit()
	if !w.burst {
		most = min(most, firstPart)
	}
	first, b := !w.burst, batch.Batch{Plans: w.ahead.popDue(w.clock.now(), most)}
	w.burst = len(b.Plans) > 0
	switch {
	case w.burst:
		if err = w.begin(soft, hard, b); first && len(b.Plans) == firstPart && err == nil {
			err = w.finish(soft, hard) // alone, it is sooner done
		}
	case w.rest.done:
		return false, nil
	case isDue(w.clock.byHost(w.ahead.readAt)):
		_, err = w.readAhead(soft, hard)
	case w.inFlight == maxInFlight:
		err = w.collect(soft, hard)
	case !w.rest.begun:
		err = w.beginPages(soft)
	default:
		err = w.page(soft, hard)
	}
	return true, err
}

// begin begins to write a batch, once there is room for it.
func (w *writer) begin(soft, hard context.Context, b batch.Batch) (err error) {
	if w.inFlight == maxInFlight {
		err = w.collect(soft, hard)
	}
	w.inFlight++
	go func() {
		done, err := w.batches.Submit(hard, batch.LockTimeout, b)
		w.results <- result{b, done, err}
	}()
	return err
}

// collect waits for the end of a transaction, and handles it.
func (w *writer) collect(soft, hard context.Context) error {
	r := <-w.results
	w.inFlight--
	w.pulse.Goes()
	var early *batch.EarlyError
	var later batch.LaterError
	switch {
	case r.err == nil:
		w.committed(r)
	case errors.As(r.err, &early):
		if early.By <= w.ahead.lead {
			w.ahead.add(r.batch.Plans)
			w.clock.set(r.batch.ReadyAt().Add(-early.By), early.Asked)
		}
	case !w.isolatable(r.err):
		return fmt.Errorf("submit: %w", r.err)
	case errors.As(r.err, &later):
		return w.without(soft, hard, r.batch, later)
	default:
		return w.split(soft, hard, r.batch, r.err)
	}
	return nil
}

// finish waits for the end of all transactions.
func (w *writer) finish(soft, hard context.Context) (err error) {
	for w.inFlight > 0 {
		err = errors.Join(err, w.collect(soft, hard))
	}
	return err
}

// committed notes a batch that was committed.
func (w *writer) committed(r result) {
	switch {
	case !r.batch.IsAhead():
		w.backlog.locked = w.backlog.locked || len(r.done.Kept) < len(r.batch.Plans)
	case r.outrun():
		w.outrun, w.ahead.yields = true, yieldFor
		w.ahead.dropDue(w.clock.now())
	default:
		w.ahead.yields = 0
	}
	w.note(&r.done)
	w.pace.took(len(r.done.Kept), r.done.Took)
}

// outrun reports whether another scheduler writes these plans: when several begin together, the one that got the first
// row goes on. If that row is missing with less than a quarter of the others, somebody has locked or edited them.
func (r *result) outrun() bool {
	first := r.batch.Plans[0].Task.ID
	return r.done.Plans[first] == nil && len(r.done.Kept) < max(1, len(r.batch.Plans)*3/4)
}

// note notes what a committed batch has done, and tells of it.
func (l *loop) note(done *batch.Outcome) {
	if len(done.Kept) == 0 {
		return
	}
	if done.Moved() {
		l.backlog.moved = true
		l.pulse.Beat(nil)
	}
	for _, p := range done.Kept {
		delete(l.failing, p.Task.ID)
		if p.Problem != "" && p.Problem != p.Task.Problem {
			l.observe(Event{Kind: EventProblem, Task: p.Task, Problem: p.Problem})
		}
	}
	for _, t := range done.Ticks {
		l.pulse.Goes() // observers may take their time
		of := done.Plans[t.TaskID].Task
		l.ends.added(of.Sink, t)
		l.observe(Event{Kind: EventTick, Task: of, Tick: t})
	}
	l.observe(Event{Kind: EventBatch, Count: len(done.Kept), Ticks: len(done.Ticks), Took: done.Took})
}

// pace is how many tasks a batch takes. A batch takes as long as its slowest row, such as one for which a trigger of
// somebody's own works long. For a time after a slow batch the others are smaller, so that fewer tasks wait for that row.
type pace struct {
	size, most int
	slow       time.Time // when the last slow batch ended
	named      time.Time // when one was named, last
	observe    func(Event)
}

const (
	// slowBatch is from when on a batch is slow, leastBatch how small a batch gets.
	slowBatch  = 500 * time.Millisecond
	leastBatch = 10
	// smallFor is how long batches stay small after a slow one.
	smallFor = 10 * time.Second
	// nameAgain is how long after a slow batch another one is named.
	nameAgain = time.Minute
)

// limit is how many tasks the next batch takes at most.
func (p *pace) limit() int {
	if time.Since(p.slow) > smallFor {
		p.size = p.most
	}
	return p.size
}

// took notes how long a batch of so many tasks took.
func (p *pace) took(tasks int, took time.Duration) {
	if tasks == 0 || took <= slowBatch {
		return
	}
	p.slow, p.size = time.Now(), max(p.size/4, min(leastBatch, p.most))
	if p.slow.Sub(p.named) > nameAgain {
		p.named = p.slow
		p.observe(Event{Kind: EventSlow, Count: tasks, Took: took})
	}
}
