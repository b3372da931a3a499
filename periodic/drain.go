package periodic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/periodic/backend"
)

// maxInFlight is the greatest number of batches that are submitted at a time,
// while the next one is claimed.
const maxInFlight = 2

// onTime is how late a task may be and still be claimed before those that catch
// up.
const onTime = 5 * time.Second

// result is the end of a submit transaction.
type result struct {
	batch batch
	done  outcome
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
		c := backend.Claim{Mark: l.marks.next(), Limit: l.cfg.BatchSize, After: after, Without: l.aside.apart()}
		b, claimErr := l.commit.claim(working, batchWait, c)
		if claimErr != nil {
			err = l.claimFailed(running, working, c, claimErr)
			break
		}
		full := len(b.plans) == l.cfg.BatchSize
		more = full || !after.IsZero()
		if after = (time.Time{}); full {
			after = b.leaveRoom(c)
		}
		if len(b.plans) == 0 {
			continue
		}
		if inFlight == maxInFlight {
			settle()
		}
		inFlight++
		go func() {
			done, err := l.commit.submit(working, batchWait, b.mark, b.plans)
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
func (b batch) leaveRoom(c backend.Claim) time.Time {
	newest := b.plans[len(b.plans)-1].Task
	recent := b.now.Add(-onTime)
	if !c.After.IsZero() || newest.NextRun.After(recent) || newest.Unplanned() {
		return time.Time{}
	}
	return recent
}

// settle handles the end of a submit transaction.
func (l *loop) settle(running context.Context, r result) error {
	switch {
	case r.err == nil:
		if len(r.done.kept) < len(r.batch.plans) { // edited, or locked by somebody else
			l.addStale(r.batch.mark)
		}
		l.report(batchDone{r.batch, r.done})
		return nil
	case !l.commit.isolatable(r.err):
		l.addStale(r.batch.mark)
		return fmt.Errorf("submit: %w", r.err)
	case l.workers >= maxBeside:
		l.addStale(r.batch.mark)
		return nil
	}
	l.observe(Event{Kind: EventSplit, Doing: "submit", Err: r.err})
	l.progress = true // others may be due
	l.start(func() findings { return l.commit.isolateSubmit(running, r.batch, r.err) })
	return nil
}

// claimFailed claims the tasks of a failed claim in parts, beside the loop.
func (l *loop) claimFailed(running, working context.Context, c backend.Claim, cause error) error {
	l.addStale(c.Mark) // whether it was committed is not known
	if !l.commit.isolatable(cause) {
		return cause
	}
	if l.workers >= maxBeside {
		return nil
	}
	keys, err := l.store.Candidates(working, c)
	if err != nil && !c.Without.Queued && l.commit.isolatable(err) {
		c.Without.Queued = true
		if _, again := l.store.Candidates(working, c); again == nil {
			l.queuedApart(err)
			l.progress = true
			return nil
		}
	}
	if err != nil || len(keys) == 0 {
		return errors.Join(cause, err)
	}
	l.observe(Event{Kind: EventSplit, Doing: "claim", Err: cause})
	for _, key := range keys {
		l.aside.busy[key] = true
	}
	l.progress = true
	l.start(func() findings { return l.commit.isolateClaim(running, c, keys, cause, l.marks.next) })
	return nil
}

// report observes a committed batch.
func (l *loop) report(d batchDone) {
	l.progress = l.progress || d.done.moved()
	for _, p := range d.done.kept {
		if p.Problem != "" && p.Problem != p.Task.Problem {
			l.observe(Event{Kind: EventProblem, Task: p.Task, Problem: p.Problem})
		}
	}
	for _, t := range d.done.ticks {
		sink := d.done.plans[t.TaskID].Task.Sink
		if _, foreign := l.cfg.Submitters[sink]; foreign && t.Decision == Queued {
			l.follower.soon(time.Now())
		}
		again := t.Decision != Submitted && l.aside.facts[keyOf(t.TaskID)].verdict == skipped
		l.observe(Event{Kind: EventTick, Task: d.done.plans[t.TaskID].Task, Tick: t, Again: again})
	}
	l.observe(Event{Kind: EventBatch, Count: len(d.done.kept), Ticks: len(d.done.ticks), Took: time.Since(d.batch.begun)})
}
