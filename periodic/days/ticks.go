package days

import (
	"cmp"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/calendar"
)

// OnExcluded says what becomes of a tick that a calendar excludes.
type OnExcluded string

// What becomes of it.
const (
	Skip     OnExcluded = "skip"     // it is recorded and left out
	Next     OnExcluded = "next"     // it moves to the next day that is allowed, at the same local time
	Previous OnExcluded = "previous" // likewise to the day before
)

// Rules are what a task says about its days.
type Rules struct {
	Exclude    string     // names of calendars, separated by commas: no tick at their times
	Run        string     // likewise: only ticks at their times; empty: at all times
	OnExcluded OnExcluded // default Skip
}

// Empty reports whether there are no rules.
func (r *Rules) Empty() bool { return r.Exclude == "" && r.Run == "" }

// Tick is a tick as it takes place, or is left out.
type Tick struct {
	Due      time.Time // when; zero: there is none
	Nominal  time.Time // when the timer elapses, if a calendar or somebody has moved the tick
	Excluded bool      // it is left out
	Why      string    // why it is left out, or moved
}

// Timer is when a task elapses.
type Timer interface {
	// Next is the earliest elapse strictly after a time, zero if there is none.
	Next(after time.Time) time.Time
	// Prev is the latest elapse strictly before a time, zero if there is none.
	Prev(before time.Time) time.Time
}

// Ticks are the ticks of a timer under the rules of a task. They are safe for concurrent use.
type Ticks struct {
	timer        Timer
	exclude, run covers
	move         OnExcluded
	days         Timer  // where a tick may move to
	Warning      string // what is wrong with a calendar; empty: nothing
}

// longestMove is how many days away a tick may move to.
const longestMove = 366

// New returns the ticks of a timer of a task. within are its bounds, which hold for the days to which
// its ticks move, too. It returns an [*UnknownError] for a calendar that does not exist, and an error for a timer whose ticks
// cannot move.
func New(timer calendar.Schedule, within func(calendar.Schedule) Timer, rules Rules, calendars *Calendars) (*Ticks, error) {
	t := &Ticks{timer: within(timer), move: rules.OnExcluded}
	var err error
	zone := calendar.Location(timer)
	if t.exclude, t.Warning, err = calendars.in("exclude_calendars", rules.Exclude, zone); err != nil {
		return nil, err
	}
	var bad string
	if t.run, bad, err = calendars.in("run_calendars", rules.Run, zone); err != nil {
		return nil, err
	}
	t.Warning = cmp.Or(t.Warning, bad)
	if t.move != Next && t.move != Previous {
		return t, nil
	}
	daily, ok := calendar.Daily(timer)
	if !ok {
		return nil, fmt.Errorf("on_excluded %s: the timer %q may elapse at several times of day, so its ticks cannot move; "+
			"use skip, or a timer with one time of day", t.move, timer)
	}
	t.days = within(daily)
	return t, nil
}

// excluded says why no tick takes place at a time; empty: one may.
func (t *Ticks) excluded(at time.Time) string {
	if r := t.exclude.at(at); r != nil {
		return r.Text()
	}
	if len(t.run.names) > 0 && t.run.at(at) == nil {
		return fmt.Sprintf("calendar %s: not one of its times", t.run.names[0])
	}
	return ""
}

// Next is the earliest tick strictly after a time.
func (t *Ticks) Next(after time.Time) Tick {
	if t.move == Next { // one of before may have moved
		if n := t.timer.Prev(after.Add(time.Microsecond)); !n.IsZero() {
			if tick := t.of(n); tick.Due.After(after) {
				return tick
			}
		}
	}
	for n := t.timer.Next(after); !n.IsZero(); n = t.timer.Next(n) {
		if tick := t.of(n); tick.Due.After(after) { // else it has moved to a day before
			return tick
		}
	}
	return Tick{}
}

// Prev is the latest tick strictly before a time.
func (t *Ticks) Prev(before time.Time) Tick {
	if t.move == Previous { // a later one may have moved
		if n := t.timer.Next(before.Add(-time.Microsecond)); !n.IsZero() {
			if tick := t.of(n); tick.Due.Before(before) {
				return tick
			}
		}
	}
	for n := t.timer.Prev(before); !n.IsZero(); n = t.timer.Prev(n) {
		if tick := t.of(n); tick.Due.Before(before) { // else it has moved to a day behind
			return tick
		}
	}
	return Tick{}
}

// Anew is Next for a plan that is made anew. A tick that would have moved to a time that has passed
// is left out at its own time, with a record.
func (t *Ticks) Anew(after time.Time) Tick {
	if n := t.timer.Next(after); t.move == Previous && !n.IsZero() && !t.of(n).Due.After(after) {
		return t.At(n)
	}
	return t.Next(after)
}

// At is the tick at a time. One that the timer does not have, as after a change of a calendar, takes
// place unless it is excluded.
func (t *Ticks) At(due time.Time) Tick {
	if tick := t.Next(due.Add(-time.Microsecond)); tick.Due.Equal(due) {
		return tick
	}
	tick := Tick{Due: due, Why: t.excluded(due)}
	if tick.Excluded = tick.Why != ""; tick.Excluded && t.days != nil {
		tick.Why += movedFor(t.target(due), "; it moves to ")
	}
	return tick
}

// of is the tick that an elapse becomes. No two elapses become ticks of one time.
func (t *Ticks) of(n time.Time) Tick {
	why := t.excluded(n)
	if why == "" {
		return Tick{Due: n}
	}
	if t.days == nil {
		return Tick{Due: n, Excluded: true, Why: why}
	}
	to := t.target(n)
	if to.IsZero() {
		return Tick{Due: n, Excluded: true, Why: fmt.Sprintf("%s; no day within %d days is allowed", why, longestMove)}
	}
	if t.meets(n, to) {
		return Tick{Due: n, Excluded: true, Why: why + movedFor(to, "; it counts once with the tick of ")}
	}
	return Tick{Due: to, Nominal: n, Why: why + movedFor(n, "; moved from ")}
}

// target is the nearest allowed day of an elapse that is excluded, zero if there is none.
func (t *Ticks) target(n time.Time) time.Time {
	for range longestMove {
		if t.move == Next {
			n = t.days.Next(n)
		} else {
			n = t.days.Prev(n)
		}
		if n.IsZero() || t.excluded(n) == "" {
			return n
		}
	}
	return time.Time{}
}

// meets reports whether another elapse, nearer to the day, takes place there.
func (t *Ticks) meets(n, to time.Time) bool {
	if t.move == Next {
		other := t.timer.Next(n)
		return !other.IsZero() && !other.After(to)
	}
	other := t.timer.Prev(n)
	return !other.IsZero() && !other.Before(to)
}

func movedFor(at time.Time, words string) string {
	if at.IsZero() {
		return ""
	}
	return words + at.UTC().Format("2006-01-02 15:04:05 UTC")
}
