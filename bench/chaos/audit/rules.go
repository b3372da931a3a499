package audit

import (
	"slices"
	"time"
)

// Closed, Slow and Narrow are what people edit beside tasks: a calendar, and limits of a handler and of a group.
const (
	Closed = "calendar closed"
	Slow   = "handler slow"
	Narrow = "group narrow"
)

// Unlimited is the value of a limit that is not there.
const Unlimited = 1 << 30

// step is a row of chaos_rule: what a calendar (1: these days are closed) or a limit says from a time on.
type step struct {
	at    time.Time
	value int
}

// between are the least and the greatest value that a rule had from one time to another.
func between(rule []step, from, to time.Time) (least, most int) {
	least = Unlimited
	for i, s := range rule {
		if s.at.After(to) {
			break
		}
		if i+1 == len(rule) || rule[i+1].at.After(from) {
			least, most = min(least, s.value), max(most, s.value)
		}
	}
	return least, most
}

// forbidsCalendar says why a calendar does not lead to a decision. It counts what the calendar said when the tick was decided, and it is asked
// before anything else.
func (p *policy) forbidsCalendar(k tick, closed []step) string {
	excluded := k.decision == "skipped" && k.cause == "calendar"
	least, most := between(closed, k.decided.Add(-stall), k.decided.Add(stall))
	switch {
	case excluded && (most == 0 || !p.calendar):
		return "no calendar left it out"
	case p.calendar && least == 1 && !excluded:
		return "a calendar left it out"
	}
	return ""
}

// frozen is how long a run may begin after its job was claimed: a process that is stopped for longer loses its jobs.
const frozen = 20 * time.Second

// auditLimits wants that no run begins beside as many as a limit allows. It obeys the limits of the time at which its job was claimed.
func (f *Facts) auditLimits(found *Findings) {
	for _, what := range []string{Slow, Narrow} {
		var active []Run
		for _, r := range f.outside.Runs {
			j := f.story(r.Task).jobs[r.Job]
			if j == nil || j.interrupts > 0 || f.outside.adrift(r) || what != "handler "+j.handler && what != "group "+j.group {
				continue
			}
			active = slices.DeleteFunc(active, func(a Run) bool {
				late := slack // we hear late of runs that the executor ends
				if a.Succeeded {
					late = 0
				}
				return a.Job == r.Job || !a.End.After(r.Begin.Add(late))
			})
			active = append(active, r)
			_, most := between(f.rules[what], r.Begin.Add(-frozen), r.Begin)
			if most < Unlimited {
				found.Counts["runs that began under a limit"]++
			}
			if len(active) > most {
				found.Add("more runs than a limit allows", r.Task, "%s: %d with %s at %s, at most %d", what, len(active), r.Job, moment(r.Begin), most)
			}
		}
	}
}
