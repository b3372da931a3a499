package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/periodic/batch"
)

// maxInFlight is the greatest number of batches that are written at a time.
const maxInFlight = 2

// result is the end of a transaction. Its batch belongs to the transaction's goroutine until the loop
// has received this.
type result struct {
	batch batch.Batch
	done  batch.Outcome
	err   error
	ahead bool // its plans were made before their time
}

// writer is what is in flight while plans are written.
type writer struct {
	*loop

	results  chan result
	inFlight int
	burst    bool        // tasks that fell due together are being submitted
	lost     bool        // another scheduler was first
	suspects []batch.Row // tasks that have failed before
}

func (l *loop) newWriter() *writer { return &writer{loop: l, results: make(chan result, maxInFlight)} }

// submitDue writes the plans made ahead whose time has come, then has the loop poll. While another scheduler writes
// them, this one waits before it looks for what that one leaves.
func (l *loop) submitDue(soft, hard context.Context) error {
	w := l.newWriter()
	err := w.writeAllDue(soft, hard)
	if l.pollNow(); w.lost {
		l.pollAt = time.Now().Add(leastRetry)
	}
	return err
}

func (w *writer) writeAllDue(soft, hard context.Context) (err error) {
	for begun := true; begun && err == nil && soft.Err() == nil; {
		begun, err = w.writeDue(soft, hard)
	}
	return w.end(soft, hard, err)
}

// writeDue begins to write plans made ahead whose time has come. It reports whether there were any.
func (w *writer) writeDue(soft, hard context.Context) (begun bool, err error) {
	most := w.pace.limit()
	first := !w.burst
	if first {
		most = min(most, firstPart)
	}
	b := batch.Batch{Started: time.Now(), Plans: w.ahead.popDue(w.clock.now(), most)}
	if w.burst = len(b.Plans) > 0; !w.burst {
		return false, nil
	}
	if w.inFlight == maxInFlight {
		err = w.collect(soft, hard)
	}
	w.begin(hard, b, true)
	if first && len(b.Plans) == firstPart {
		err = w.end(soft, hard, err) // alone, it is sooner done
	}
	return true, err
}

// writeLate begins to write plans of tasks that were due when they were read, and puts by those that have failed before.
func (w *writer) writeLate(hard context.Context, b batch.Batch) {
	plans := b.Plans
	b.Plans = nil
	for _, p := range plans {
		if w.failing.knows(p.Task.ID) {
			w.suspects = append(w.suspects, batch.RowOf(p.Task))
		} else {
			b.Plans = append(b.Plans, p)
		}
	}
	if len(b.Plans) > 0 {
		w.begin(hard, b, false)
	}
}

func (w *writer) begin(hard context.Context, b batch.Batch, ahead bool) {
	w.inFlight++
	go func() {
		done, err := w.batches.Submit(hard, batch.LockTimeout, b)
		w.results <- result{b, done, err, ahead}
	}()
}

// collect waits for the end of a transaction, and handles it.
func (w *writer) collect(soft, hard context.Context) error {
	r := <-w.results
	w.inFlight--
	return w.handle(soft, hard, r)
}

// end waits for the end of all, and returns what has failed, with an earlier error.
func (w *writer) end(soft, hard context.Context, err error) error {
	for w.inFlight > 0 {
		err = errors.Join(err, w.collect(soft, hard))
	}
	return err
}

// handle handles the end of a transaction.
func (w *writer) handle(soft, hard context.Context, r result) error {
	var early *batch.EarlyError
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
	default:
		return w.split(soft, hard, r.batch, r.err)
	}
	return nil
}

// committed notes a batch that was committed.
func (w *writer) committed(r result) {
	kept := len(r.done.Kept)
	switch {
	case !r.ahead:
		w.late.locked = w.late.locked || kept < len(r.batch.Plans)
	case r.lost():
		w.lost, w.ahead.yields = true, yieldFor
		w.ahead.dropDue(w.clock.now())
	default:
		w.ahead.yields = 0
	}
	if kept > 0 {
		w.tell(r.batch.Started, &r.done)
		w.pace.took(kept, r.done.Took)
	}
}

// lost reports whether another scheduler writes these plans: when several begin together, the one that got the first
// row goes on. If that row is missing with less than a quarter of the others, somebody has locked or edited them.
func (r *result) lost() bool {
	first := r.batch.Plans[0].Task.ID
	return r.done.Plans[first] == nil && len(r.done.Kept) < max(1, len(r.batch.Plans)*3/4)
}

// tell tells of a committed batch, and notes what follows from it.
func (l *loop) tell(started time.Time, done *batch.Outcome) {
	if done.Moved() {
		l.late.progress = true
		l.pulse.Beat(nil)
	}
	for _, p := range done.Kept {
		l.failing.release(p.Task.ID)
		if p.Problem != "" && p.Problem != p.Task.Problem {
			l.observe(Event{Kind: EventProblem, Task: p.Task, Problem: p.Problem})
		}
	}
	for _, t := range done.Ticks {
		of := done.Plans[t.TaskID].Task
		l.ends.added(of.Sink, t)
		l.observe(Event{Kind: EventTick, Task: of, Tick: t})
	}
	l.observe(Event{Kind: EventBatch, Count: len(done.Kept), Ticks: len(done.Ticks), Took: time.Since(started)})
}

// scope is what the next batch takes.
func (l *loop) scope() batch.Scope {
	return batch.Scope{Sinks: l.sinks.usable(), LeftOut: l.failing.leftOut()}
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
	if took <= slowBatch {
		return
	}
	p.slow, p.size = time.Now(), max(p.size/4, min(leastBatch, p.most))
	if p.slow.Sub(p.named) > nameAgain {
		p.named = p.slow
		p.observe(Event{Kind: EventSlow, Count: tasks, Took: took})
	}
}
