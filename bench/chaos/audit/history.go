package audit

import "time"

// era is a time in which a task followed one timer, from its first tick to before another one.
type era struct {
	timer       Timer
	first, past time.Time
}

// history is what follows from the changes of a task.
type history struct {
	eras   []era
	byHand []time.Time // ticks that somebody set, and that a plan followed: they have to be there
	maybe  []time.Time // set by hand, and set anew before anybody planned on
}

// never is the year of a plan that will not come.
const never = 9999

// unplanned is nextrun of a row that waits for a plan.
var unplanned = time.Unix(0, 0).UTC()

// history works out when the task followed which timer. It reports what the plans should not be.
func (s *story) history(found *Findings) history {
	var h history
	var open *era
	var hand, changed time.Time
	for _, c := range s.changes {
		if open != nil && !c.was.IsZero() {
			open.past = c.was
			h.eras = append(h.eras, *open)
			open = nil
		}
		set := hand
		if !hand.IsZero() {
			if c.due.IsZero() || !c.enabled {
				h.maybe = append(h.maybe, hand)
			} else {
				h.byHand = append(h.byHand, hand)
			}
			hand = time.Time{}
		}
		switch {
		case !c.enabled: // its plan, if any, means nothing
		case !c.due.IsZero() && c.due.Year() < never:
			t := ParseTimer(c.timer)
			open = &era{timer: t, first: c.due}
			if !t.Has(c.due) || c.due.After(t.From(c.at.Add(time.Microsecond))) || c.due.Before(changed) {
				found.Add("a plan does not follow from the timer", s.id, "%s, planned at %s after a change at %s: %s", c.timer, moment(c.at), moment(changed), moment(c.due))
			}
			if !set.IsZero() { // what fell due since then is decided along with it; what was planned before the edit, it has replaced
				open.first = t.From(latest(set, changed).Add(time.Microsecond))
			}
		case c.due.IsZero() && !c.nextrun.IsZero() && c.nextrun.Year() < never && !c.nextrun.Equal(unplanned):
			hand = c.nextrun
		}
		changed = c.at
	}
	if open != nil {
		found.Add("the harness", s.id, "its last plan did not end")
	}
	return h
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func moment(t time.Time) string { return t.UTC().Format("15:04:05.999999") }
