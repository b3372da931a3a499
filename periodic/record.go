package periodic

import (
	"slices"
	"time"
)

// record adds a tick to the plan.
func (d *decider) record(due time.Time, decision Decision, reason, jid string) {
	d.plan.Ticks = append(d.plan.Ticks, d.tick(due, decision, reason, jid))
}

// settle decides a queued tick, stored or queued earlier in this plan.
func (d *decider) settle(due time.Time, decision Decision, reason, jid string) {
	tick := d.tick(due, decision, reason, jid)
	i := slices.IndexFunc(d.plan.Ticks, func(t Tick) bool { return t.Due.Equal(due) })
	if i >= 0 {
		d.plan.Ticks[i] = tick
		return
	}
	d.plan.Settled = append(d.plan.Settled, tick)
}

// isOwn reports whether a job is one that this plan submits.
func (d *decider) isOwn(jid string) bool {
	own := func(t Tick) bool { return t.JID == jid }
	return slices.ContainsFunc(d.plan.Ticks, own) || slices.ContainsFunc(d.plan.Settled, own)
}

// withdraw removes a job that this plan was to submit; its tick is skipped.
func (d *decider) withdraw(jid, reason string) {
	for _, ticks := range [][]Tick{d.plan.Ticks, d.plan.Settled} {
		for i := range ticks {
			if ticks[i].JID == jid {
				ticks[i].Decision, ticks[i].Reason, ticks[i].JID = Skipped, reason, ""
			}
		}
	}
}

func (d *decider) tick(due time.Time, decision Decision, reason, jid string) Tick {
	return Tick{
		TaskID: d.task.ID, Due: due, Decision: decision, Reason: reason, JID: jid,
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

// missedRun records the ticks from first to last as one row, and those of a pause as
// another, as skipped.
func (d *decider) missedRun(first, last time.Time) {
	for _, edge := range []time.Time{d.paused.Since, d.paused.Until} {
		if first.Before(edge) && !last.Before(edge) {
			d.missedRun(first, d.timer.Prev(edge))
			first = d.timer.Next(edge.Add(-time.Microsecond))
		}
	}
	count := 1
	for tick := first; tick.Before(last); count++ {
		if count >= maxCounted {
			count = -1
			break
		}
		if tick = d.timer.Next(tick); tick.IsZero() {
			break
		}
	}
	tick := d.tick(first, Missed, missedReason(d.task, count, d.Now.Sub(last), d.Delay), "")
	tick.Missed, tick.Until = count, last
	if d.paused.holds(first) {
		tick.Decision, tick.Reason = Skipped, d.paused.Text()
	}
	d.plan.Ticks = append(d.plan.Ticks, tick)
}
