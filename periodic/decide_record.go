package periodic

import (
	"slices"
	"time"
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
	decision, why := Skipped, because{}
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
		decision, why = Missed, missedReason(d.task, count, d.Now.Sub(last), d.Delay)
	}
	tick := d.tick(first, decision, why, "")
	tick.Missed, tick.Until = missed, until
	d.plan.Ticks = append(d.plan.Ticks, tick)
}
