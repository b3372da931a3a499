package periodic

import (
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/periodic/reasons"
)

// record adds a tick to the plan.
func (d *decider) record(due time.Time, decision Decision, why because, jid string) {
	if due.Equal(d.plan.Manual) && !d.timer.Next(due.Add(-time.Microsecond)).Equal(due) {
		why = why.handed()
	}
	tick := d.tick(due, decision, why, jid)
	d.plan.Ticks = append(d.plan.Ticks, tick)
}

// handed is why a tick that a user set is decided so. One at a time of the timer is none: other programs plan tasks, too.
func (b because) handed() because {
	if b.Cause == "" {
		return because{CauseByHand, byHand}
	}
	return because{b.Cause, b.words + "; " + byHand}
}

// settle decides a skip that was written ahead.
func (d *decider) settle(due time.Time, why because) {
	d.plan.Settled = append(d.plan.Settled, d.tick(due, Skipped, why, ""))
}

// isOwn reports whether a job is one that this plan submits.
func (d *decider) isOwn(jid string) bool {
	return slices.ContainsFunc(d.plan.Ticks, func(t Tick) bool { return t.JID == jid })
}

// withdraw removes a job that this plan was to submit; its tick is skipped.
func (d *decider) withdraw(jid string, why because) {
	for i := range d.plan.Ticks {
		if t := &d.plan.Ticks[i]; t.JID == jid {
			t.Decision, t.Cause, t.Reason, t.JID = Skipped, why.Cause, why.words, ""
		}
	}
}

func (d *decider) tick(due time.Time, decision Decision, why because, jid string) Tick {
	return Tick{
		TaskID: d.task.ID, Due: due, Decision: decision, Cause: why.Cause, Reason: why.words, JID: jid,
		Worker: d.Worker, Decided: d.Now,
	}
}

// missed records the ticks from first to last that have not been decided before,
// one row for each uninterrupted run of them.
func (d *decider) missed(first, last time.Time) {
	for _, r := range d.Decided {
		if first.IsZero() || r.First.After(last) {
			break
		}
		if r.Last.Before(first) {
			continue
		}
		if before := d.timer.Prev(r.First); !before.Before(first) {
			d.missedRun(first, before)
		}
		first = d.timer.Next(r.Last)
	}
	if !first.IsZero() && !first.After(last) {
		d.missedRun(first, last)
	}
}

// missedRun records the ticks from first to last as one row, and those of a pause, and those that waited for
// a job, as others, as skipped. So it does with those that calendars leave out.
func (d *decider) missedRun(first, last time.Time) {
	for _, edge := range []time.Time{d.paused.Since, d.paused.Until, d.waited} {
		if first.Before(edge) && !last.Before(edge) {
			d.missedRun(first, d.timer.Prev(edge))
			first = d.timer.Next(edge.Add(-time.Microsecond))
		}
	}
	leftOut, rows, until := d.timer.Exclusion(first), 0, first
	count := 1
	for tick := first; tick.Before(last); count++ {
		if count >= MaxCounted {
			count, until = -1, last
			break
		}
		if tick = d.timer.Next(tick); tick.IsZero() {
			break
		}
		if why := d.timer.Exclusion(tick); (why != leftOut || d.task.SkipAt(tick) != nil) && rows < maxRuns {
			d.missedRow(first, until, count, leftOut)
			first, leftOut, count, rows = tick, why, 0, rows+1
		}
		until = tick
	}
	d.missedRow(first, until, count, leftOut)
}

// maxRuns is the greatest number of rows of one run of missed ticks.
const maxRuns = 1000

// missedRow records ticks from first to last as one row.
func (d *decider) missedRow(first, last time.Time, count int, leftOut string) {
	if skip := d.task.SkipAt(first); skip != nil {
		d.settle(first, because{CausePerson, skip.Text()})
		return
	}
	decision := Skipped
	var why because
	missed, until := count, last
	switch {
	case d.paused.At(first) && !first.Before(d.paused.Since):
		why = because{CausePaused, d.paused.Text()}
	case leftOut != "":
		if why = (because{CauseCalendar, leftOut}); count == 1 {
			missed, until = 0, time.Time{}
		}
	case first.Before(d.waited):
		why = heldReason
	default:
		decision, why = Missed, d.missedReason(first, last, count)
	}
	tick := d.tick(first, decision, why, "")
	tick.Missed, tick.Until = missed, until
	d.plan.Ticks = append(d.plan.Ticks, tick)
}

// The reasons of periodic_tick, in words for people. Times are UTC. A tick that is
// decided before its time has the reason that holds when it is due.

func supersededReason(due time.Time) string {
	return "the tick of " + due.UTC().Format("2006-01-02 15:04:05") + " took its place"
}

// heldReason is why ticks that waited for the end of a job did not run: a newer one did.
var heldReason = because{CauseWaited, "waited for the end of the job before it; a later tick took its place"}

func lateReason(age, deadline time.Duration) string {
	if deadline <= 0 {
		return "the deadline is 0 s, so every tick is late"
	}
	return fmt.Sprintf("decided %s after its time; the deadline is %s", reasons.Span(age), reasons.Span(deadline))
}

func (d *decider) missedReason(first, last time.Time, count int) because {
	t, age, delay := d.task, d.Now.Sub(last), "no scheduler ran in time"
	if !d.RunsSince.IsZero() && !first.Before(d.RunsSince) {
		delay = "a scheduler ran, but the database did not let it decide in time"
	}
	switch {
	case t.Catchup == CatchupNone && age <= t.Grace:
		return because{CauseNewest, delay + "; of these only the newest tick counts, because catchup is none"}
	case t.Catchup == CatchupNone:
		return because{CauseGrace, fmt.Sprintf("%s; the newest tick was %s old, and the grace is %s", delay, reasons.Span(age), reasons.Span(t.Grace))}
	case t.Catchup == CatchupAll:
		return because{CauseLimit, fmt.Sprintf("%s; only the newest %d of the missed ticks are submitted, its catchup_limit", delay, t.CatchupLimit)}
	case count == 1:
		return because{CauseNewest, delay + "; one catch-up tick replaces it"}
	}
	return because{CauseNewest, delay + "; one catch-up tick replaces them"}
}
