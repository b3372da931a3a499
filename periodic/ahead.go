package periodic

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/internal/batch"
	"github.com/nextrun/nextrun/periodic/task"
)

// Bounds of what waits in memory. More tasks that fall due together are claimed
// when they are due.
const (
	maxAhead      = 10_000   // tasks
	maxAheadBytes = 16 << 20 // about
	taskBytes     = 1 << 10  // of a task and its plan, without its texts
)

// firstPart is how many of the tasks that fall due together are submitted before the
// others, so that the first job need not wait for a large transaction.
const firstPart = 100

// ahead are the batches that were claimed before their time, with their plans. Their
// marks keep the tasks from other schedulers; whoever edits a task takes it out of
// them. The loop owns it.
type ahead struct {
	lead   time.Duration // 0: nothing is claimed before its time
	early  time.Duration // how long before its time the transaction of a batch may begin
	held   []*held
	begun  bool      // tasks that fell due together are being submitted
	looked time.Time // by the database's clock: up to then nothing is left to claim ahead
	wake   time.Time // by the database's clock: when to claim next; zero: not known
}

// held is a batch that waits. Parts of it may be due before others.
type held struct {
	batch   batch.Batch // with the plans that wait, in the order of their time
	bytes   int
	parts   int  // that are being submitted
	partial bool // tasks may have kept their mark
}

// part is a number of tasks of a batch that are due together.
type part struct {
	of    *held
	batch batch.Batch
}

// margin is how much earlier than the earliest task that is not marked the scheduler
// claims: less than the lead, so that it claims many tasks at a time although they
// fall due one by one.
func (a *ahead) margin() time.Duration { return a.lead * 3 / 4 }

// wakeFor returns when to wake for a task that is not marked and falls due next.
func (a *ahead) wakeFor(next time.Time) time.Time {
	a.wake = time.Time{}
	if a.lead == 0 || !next.After(a.looked) { // it could not be claimed, or there was no room
		return next
	}
	a.wake = next.Add(-a.margin())
	return a.wake
}

// wants reports whether it is time to claim.
func (a *ahead) wants(now time.Time) bool {
	return a.lead > 0 && !a.wake.IsZero() && !a.wake.After(now)
}

// near reports whether a task that falls due next has to be claimed now.
func (a *ahead) near(next, now time.Time) bool {
	return a.lead > 0 && next.After(a.looked) && !next.Add(-a.margin()).After(now)
}

// room is how many more tasks may wait.
func (a *ahead) room() int {
	tasks, bytes := 0, 0
	for _, h := range a.held {
		tasks += len(h.batch.Plans)
		bytes += h.bytes
	}
	if bytes >= maxAheadBytes {
		return 0
	}
	return maxAhead - tasks
}

func (a *ahead) add(b batch.Batch) {
	h := &held{batch: b}
	for i := range b.Plans {
		t := b.Plans[i].Task
		h.bytes += taskBytes + len(t.ID) + len(t.Task) + len(t.Group) + len(t.Subject) + len(t.Submitter) + len(t.Timer) +
			len(t.Summary) + len(t.Problem) + len(t.Pause.Reason)
	}
	a.held = append(a.held, h)
	crashpoint.At("scheduler/batch-waits")
}

// next is when the first task that waits is due, by the database's clock; zero: none
// waits.
func (a *ahead) next() time.Time {
	var next time.Time
	for _, h := range a.held {
		if len(h.batch.Plans) > 0 && (next.IsZero() || h.first().Before(next)) {
			next = h.first()
		}
	}
	return next
}

// atOnce waits for the first task if it is due very soon, and reports whether it is.
func (a *ahead) atOnce(c *clock) bool {
	next := a.next()
	if next.IsZero() {
		return false
	}
	until := c.until(next) - a.early
	if until > timerSlack {
		return false
	}
	waitUntil(time.Now().Add(until))
	return true
}

func (h *held) first() time.Time { return h.batch.Plans[0].Task.NextRun }

// take returns at most so many tasks of one batch that are due, or whose transaction can
// begin; nil: none. Those that are not due yet are due together.
func (a *ahead) take(now time.Time, most int) *part {
	if next := a.next(); next.After(now) && !next.After(now.Add(a.early)) {
		now = next
	}
	for _, h := range a.held {
		n, _ := slices.BinarySearchFunc(h.batch.Plans, now, func(p task.Plan, now time.Time) int {
			if p.Task.NextRun.After(now) {
				return 1
			}
			return -1
		})
		if n = min(n, most); n > 0 {
			p := &part{of: h, batch: h.batch}
			p.batch.Plans, h.batch.Plans = h.batch.Plans[:n:n], h.batch.Plans[n:]
			h.parts++
			return p
		}
	}
	return nil
}

// back returns a part whose time has not come.
func (a *ahead) back(p *part) {
	h := p.of
	h.parts--
	h.batch.Plans = append(p.batch.Plans, h.batch.Plans...)
	slices.SortStableFunc(h.batch.Plans, func(x, y task.Plan) int { return x.Task.NextRun.Compare(y.Task.NextRun) })
}

// done notes the end of a part. With partial, tasks of it may have kept their mark. It
// returns the mark if it has to be removed from such tasks: nobody works under it any
// more.
func (a *ahead) done(p *part, partial bool) (mark string) {
	h := p.of
	h.parts--
	h.partial = h.partial || partial
	if h.parts > 0 || len(h.batch.Plans) > 0 {
		return ""
	}
	a.held = slices.DeleteFunc(a.held, func(other *held) bool { return other == h })
	if h.partial {
		return h.batch.Mark
	}
	return ""
}

// drop gives up all batches, and returns their marks.
func (a *ahead) drop() (marks []string) {
	for _, h := range a.held {
		marks = append(marks, h.batch.Mark)
	}
	a.held, a.looked, a.wake = nil, time.Time{}, time.Time{}
	return marks
}

// atHand is how soon a batch may be due that the loop claims no other before, unless
// claims take longer.
const atHand = 50 * time.Millisecond

// lookAhead claims the tasks that fall due soon. It reports whether there were any.
func (l *loop) lookAhead(running, working context.Context) (found bool, err error) {
	l.ahead.wake = time.Time{}
	took := time.Duration(0)
	for running.Err() == nil {
		begun := time.Now()
		limit := min(l.ahead.room(), l.cfg.BatchSize)
		if next := l.ahead.next(); limit <= 0 || !next.IsZero() && l.clock.until(next) < max(atHand, 2*took) {
			l.ahead.looked = l.clock.now().Add(l.ahead.lead) // the others are claimed when they are due
			return found, nil
		}
		c := backend.Claim{Mark: l.marker.next(), Limit: limit, Ahead: l.ahead.lead, Without: l.aside.Apart()}
		b, err := l.batches.Claim(working, batch.Wait, c, "")
		switch {
		case err != nil:
			l.marks.add(c.Mark) // whether it was committed is not known
			l.ahead.looked = l.clock.now().Add(l.ahead.lead)
			if l.search.Faults.Isolatable(err) {
				return found, nil // the claim of tasks that are due searches for those that fail
			}
			return found, err
		case len(b.Plans) > 0:
			l.ahead.add(b)
			found = true
		}
		took = time.Since(begun)
		if l.pulse.Beat(nil); len(b.Plans) < limit {
			l.ahead.looked = b.Now.Add(l.ahead.lead)
			return found, nil
		}
	}
	return found, nil
}

// startDue begins to submit tasks that wait and are due. It reports whether there were
// any.
func (d *draining) startDue(running, working context.Context) (begun bool, err error) {
	most := d.cfg.BatchSize
	if !d.ahead.begun {
		most = min(most, firstPart)
	}
	p := d.ahead.take(d.clock.now(), most)
	if d.ahead.begun = p != nil; p == nil {
		return false, nil
	}
	if d.inFlight == maxInFlight {
		err = d.settle(running)
	}
	d.inFlight++
	at := time.Now().Add(d.clock.until(p.batch.Due()))
	crashpoint.At("scheduler/batch-due")
	go func() {
		b, done, err := d.batches.SubmitDue(working, batch.Wait, p.batch, at)
		d.results <- result{batch: b, done: done, part: p, err: err}
	}()
	if len(p.batch.Plans) == firstPart {
		err = errors.Join(err, d.settleAll(running)) // alone, it is sooner done
	}
	return true, err
}

// settleDue handles the end of the submit transaction of a part. It reports whether
// nothing is left to do about it.
func (l *loop) settleDue(r result) bool {
	var early *batch.EarlyError
	if errors.As(r.err, &early) && early.By <= l.ahead.lead {
		l.ahead.back(r.part)
		l.clock.set(r.part.batch.Due().Add(-early.By), early.Asked)
		return true
	}
	partial := r.err == nil && len(r.done.Kept) < len(r.batch.Plans)
	if mark := l.ahead.done(r.part, partial); mark != "" {
		l.marks.add(mark)
	}
	if early != nil || r.err != nil && len(r.batch.Plans) == 0 && l.search.Faults.Isolatable(r.err) {
		l.marks.add(r.part.batch.Mark) // the tasks are claimed again, and then searched
		return true
	}
	return false
}
