package days

import (
	"fmt"
	"strings"
	"time"
)

// ScopeAll is the [Row.Scope] of a window that holds all tasks.
const ScopeAll = "all"

const (
	scopeGroup = "group:"
	maxScope   = 254 // characters
	maxHeld    = 10_000
)

// group is the group that a window holds; empty: none.
func (r *Row) group() string {
	group, _ := strings.CutPrefix(r.Scope, scopeGroup)
	if group == r.Scope {
		return ""
	}
	return group
}

// Holds reports whether it is a window that holds the tasks of a group.
func (r *Row) Holds(group string) bool {
	return r.Scope == ScopeAll || group != "" && r.group() == group
}

// Whom says which tasks a window holds.
func (r Row) Whom() string {
	if group := r.group(); group != "" {
		return "the tasks of the group " + group
	}
	return "all tasks"
}

// AtEnd is what becomes of the ticks that a window holds when it ends: once or skip.
func (r Row) AtEnd() string {
	if r.Once {
		return "once"
	}
	return string(Skip)
}

// Windows are the windows that hold the tasks of a group. They are immutable, and safe for concurrent use.
type Windows struct {
	rows []cover
	bad  string // which row is ignored, and why
}

// allWindows are those of each group that one of them names, and those of the other groups.
func (c *Calendars) allWindows() map[string]*Windows {
	rows := c.scoped
	all := map[string]*Windows{}
	for i := range rows {
		all[rows[i].group()] = nil
	}
	if len(rows) > 0 {
		all[""] = nil
	}
	for group := range all {
		w := &Windows{}
		for i := range rows {
			r := &rows[i]
			if !r.Holds(group) {
				continue
			}
			begin, err := c.schedule(r, time.UTC)
			if err != nil {
				w.bad = fmt.Sprintf("a row of the window %q is ignored: %v", r.Name, err)
				continue
			}
			w.rows = append(w.rows, cover{r, begin})
		}
		if len(w.rows) > 0 || w.bad != "" {
			all[group] = w
		}
	}
	return all
}

// Holding is a window that holds tasks now.
type Holding struct {
	Row
	Until time.Time
}

// Holding returns the windows that hold tasks at a time, in the order of their names.
func (c *Calendars) Holding(now time.Time) (list []Holding) {
	for _, r := range c.scoped {
		begin, err := c.schedule(&r, time.UTC)
		if err != nil || now.Before(r.Since) {
			continue
		}
		if until := (cover{&r, begin}).until(now, dayOf(now, time.UTC), time.UTC); !until.IsZero() {
			list = append(list, Holding{r, until.UTC()})
		}
	}
	return list
}

// HasWindows reports whether there are windows.
func (c *Calendars) HasWindows() bool { return c != nil && len(c.scoped) > 0 }

// Windows returns the windows that hold the tasks of a group, nil if there are none.
func (c *Calendars) Windows(group string) *Windows {
	if c == nil {
		return nil
	}
	if w, ok := c.windows[group]; ok {
		return w
	}
	return c.windows[""]
}

// At returns the first window that holds at a time, in the order of their names, and when all that overlap
// have ended; nil if none holds. The end is zero if it is more than 366 days away.
func (w *Windows) At(t time.Time) (r *Row, end time.Time) {
	if w == nil {
		return nil, t
	}
	if r, _ = w.at(t); r == nil {
		return nil, t
	}
	return r, w.end(t)
}

func (w *Windows) at(t time.Time) (r *Row, until time.Time) {
	today := dayOf(t, time.UTC)
	for _, c := range w.rows {
		if t.Before(c.Since) {
			continue
		}
		if until := c.until(t, today, time.UTC); !until.IsZero() {
			return c.Row, until
		}
	}
	return nil, until
}

// end is the first time from t on at which no window holds; zero: none that was found.
func (w *Windows) end(t time.Time) time.Time {
	limit := t.AddDate(0, 0, longestMove)
	for range longestMove {
		r, until := w.at(t)
		switch {
		case r == nil:
			return t
		case until.After(limit):
			return time.Time{}
		}
		t = until
	}
	return time.Time{}
}

// Next is the earliest tick strictly after a time.
func (t *Ticks) Next(after time.Time) Tick {
	next := t.next(after)
	if t.windows == nil {
		return next
	}
	if r, end := t.windows.At(after); r != nil && (next.Due.IsZero() || end.Before(next.Due)) {
		if tick := t.once(end); !tick.Due.IsZero() {
			return tick
		}
	}
	return t.held(next)
}

// Prev is the latest tick strictly before a time.
func (t *Ticks) Prev(before time.Time) Tick {
	prev := t.prev(before)
	if t.windows == nil || prev.Due.IsZero() {
		return prev
	}
	if r, end := t.windows.At(prev.Due); r != nil && end.Before(before) {
		if tick := t.once(end); !tick.Due.IsZero() {
			return tick
		}
	}
	return t.held(prev)
}

// Anew is Next for a plan that is made anew. A tick that would have moved to a time that has passed
// is left out at its own time, with a record.
func (t *Ticks) Anew(after time.Time) Tick {
	anew, next := t.anew(after), t.Next(after)
	if next.Due.IsZero() || anew.Due.Before(next.Due) && !anew.Due.IsZero() {
		return t.held(anew)
	}
	return next
}

// At is the tick at a time. One that the timer does not have, as after a change of a calendar, takes
// place unless it is excluded.
func (t *Ticks) At(due time.Time) Tick {
	if tick := t.Next(due.Add(-time.Microsecond)); tick.Due.Equal(due) {
		return tick
	}
	return t.held(t.at(due))
}

// held is a tick, which is left out if a window holds it.
func (t *Ticks) held(tick Tick) Tick {
	if t.windows == nil || tick.Excluded || tick.Due.IsZero() {
		return tick
	}
	r, end := t.windows.At(tick.Due)
	if r == nil {
		return tick
	}
	tick.Excluded, tick.Why = true, r.Text()
	if !r.Once {
		return tick
	}
	switch why := t.notAt(end); {
	case why != "":
		tick.Why += "; nothing runs when it ends: " + why
	default:
		tick.Why += movedFor(end, "; it counts once with the tick of ")
	}
	return tick
}

// notAt says why no tick of windows takes place at their end; empty: one does.
func (t *Ticks) notAt(end time.Time) string {
	switch {
	case end.IsZero():
		return fmt.Sprintf("it does not end within %d days", longestMove)
	case !t.timer.Within(end):
		return "the task ends before"
	}
	return t.excluded(end)
}

// once is the tick at the end of windows that stands for those that they have held. It is zero if there is none, or
// the timer has a tick then.
func (t *Ticks) once(end time.Time) Tick {
	if t.notAt(end) != "" || t.next(end.Add(-time.Microsecond)).Due.Equal(end) {
		return Tick{}
	}
	last := t.prev(end)
	for n := 0; n < maxHeld && !last.Due.IsZero(); n++ {
		r, until := t.windows.At(last.Due)
		switch {
		case r == nil || !until.Equal(end):
			return Tick{}
		case r.Once && !last.Excluded:
			nominal := last.Due
			if !last.Nominal.IsZero() {
				nominal = last.Nominal
			}
			return Tick{Due: end, Nominal: nominal, Why: r.Text() + movedFor(last.Due, "; moved from ")}
		}
		last = t.prev(last.Due)
	}
	return Tick{}
}
