package periodic

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	err   error
}

// drain claims and submits batch after batch until a batch is not full, or running
// ends. It claims and decides in this goroutine; up to maxInFlight submit
// transactions run meanwhile.
func (l *loop) drain(running, working context.Context) error {
	results := make(chan result, maxInFlight)
	inFlight := 0
	var err error
	settle := func() {
		err = errors.Join(err, l.settle(running, <-results))
		inFlight--
	}
	var after time.Time // not zero: claim tasks that are on time only
	for more := true; more && err == nil && running.Err() == nil; {
		l.absorbAll()
		c := backend.Claim{Mark: l.marker.next(), Limit: l.cfg.BatchSize, After: after, Without: l.aside.Apart()}
		b, claimErr := l.batches.Claim(working, batch.Wait, c, "")
		if claimErr != nil {
			err = l.claimFailed(running, working, c, claimErr)
			break
		}
		l.pulse.Beat(nil)
		full := len(b.Plans) == l.cfg.BatchSize
		more = full || !after.IsZero()
		if after = (time.Time{}); full {
			after = leaveRoom(b, c)
		}
		if len(b.Plans) == 0 {
			continue
		}
		if inFlight == maxInFlight {
			settle()
		}
		inFlight++
		go func() {
			done, err := l.batches.Submit(working, batch.Wait, b.Mark, b.Plans)
			results <- result{b, done, err}
		}()
	}
	for inFlight > 0 {
		settle()
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

// settle handles the end of a submit transaction.
func (l *loop) settle(running context.Context, r result) error {
	switch {
	case r.err == nil:
		if len(r.done.Kept) < len(r.batch.Plans) { // edited, or locked by somebody else
			l.marks.add(r.batch.Mark)
		}
		l.report(search.Done{Batch: r.batch, Outcome: r.done})
		return nil
	case !l.search.Faults.Isolatable(r.err):
		l.marks.add(r.batch.Mark)
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
	done := &d.Outcome
	l.progress = l.progress || done.Moved()
	for _, p := range done.Kept {
		if p.Problem != "" && p.Problem != p.Task.Problem {
			l.observe(Event{Kind: EventProblem, Task: p.Task, Problem: p.Problem})
		}
	}
	for _, t := range done.Ticks {
		of := done.Plans[t.TaskID].Task
		if t.Decision == Queued {
			l.queued.added(of.Sink)
		}
		again := t.Decision != Submitted && l.aside.Tasks.Skips(batch.Key(t.TaskID))
		l.observe(Event{Kind: EventTick, Task: of, Tick: t, Again: again})
	}
	l.observe(Event{Kind: EventBatch, Count: len(done.Kept), Ticks: len(done.Ticks), Took: time.Since(d.Batch.Begun)})
}
