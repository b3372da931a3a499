package days

import (
	"fmt"
	"strings"
	"sync/atomic"
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

// Windows are the windows that hold the tasks of a group. They are safe for concurrent use.
type Windows struct {
	rows []cover
	bad  string // which row is ignored, and why
	last atomic.Pointer[state]
}

// state is the answer for a time: the first window that holds, if any.
type state struct {
	from, to time.Time // it is the same from one up to the other; zero: without a bound
	row      *Row
	until    time.Time // when that time of it ends
	end      time.Time // when all that overlap, or follow it, have ended; zero: more than 366 days later
}

// allWindows are those of each group that one of them names, and those of the other groups.
func (c *Calendars) allWindows() map[string]*Windows {
	all := map[string]*Windows{}
	for i := range c.scoped {
		all[c.scoped[i].group()], all[""] = nil, nil
	}
	for group := range all {
		w := &Windows{}
		for i := range c.scoped {
			r := &c.scoped[i]
			begin, err := c.schedule(r, time.UTC)
			switch {
			case !r.Holds(group):
			case err != nil:
				w.bad = fmt.Sprintf("a row of the window %q is ignored: %v", r.Name, err)
			default:
				w.rows = append(w.rows, cover{r, begin})
			}
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
		if begun, end := (cover{&r, begin}).around(now); err == nil && r.holds(now, begun, end) {
			list = append(list, Holding{r, end})
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

// around is the last time of a window that has begun by t, in UTC, or, if it is days, that to come. Zero: there is none.
func (r cover) around(t time.Time) (begun, end time.Time) {
	if r.begin == nil {
		if end = r.Last; end.Before(r.First) {
			end = r.First
		}
		return r.First, end.AddDate(0, 0, 1)
	}
	if begun = r.begin.Prev(t.Add(time.Microsecond)); !begun.IsZero() {
		end = begun.Add(r.Length)
	}
	return begun, end
}

func (r *Row) holds(t, begun, end time.Time) bool {
	return !t.Before(r.Since) && !t.Before(begun) && t.Before(end)
}

// holding returns the first window that holds at a time, in the order of their names, and when all that overlap, or
// follow it, have ended; nil if none holds. The end is zero if it is more than 366 days later.
func (w *Windows) holding(t time.Time) (first *Row, end time.Time) {
	s := w.last.Load()
	if s == nil || t.Before(s.from) || !s.to.IsZero() && !t.Before(s.to) {
		s = w.stateAt(t)
		limit := s.until.AddDate(0, 0, longestMove)
		for last, n := s, 0; last.row != nil && n < longestMove && !last.until.After(limit); n++ {
			s.end = last.until
			if last = w.stateAt(last.until); last.row != nil {
				s.end = time.Time{}
			}
		}
		w.last.Store(s)
	}
	return s.row, s.end
}

func (w *Windows) stateAt(t time.Time) *state {
	s := &state{}
	for _, r := range w.rows {
		begun, end := r.around(t)
		edges := []time.Time{r.Since, begun, end}
		if r.begin != nil {
			edges = append(edges, r.begin.Next(t))
		}
		for _, edge := range edges {
			switch {
			case edge.After(t) && (s.to.IsZero() || edge.Before(s.to)):
				s.to = edge
			case !edge.After(t) && edge.After(s.from):
				s.from = edge
			}
		}
		if r.holds(t, begun, end) {
			s.row, s.until = r.Row, end
			break
		}
	}
	return s
}

// Next is the earliest tick strictly after a time.
func (t *Ticks) Next(after time.Time) Tick {
	next := t.next(after)
	if t.windows == nil {
		return next
	}
	if r, end := t.windows.holding(after); r != nil && (next.Due.IsZero() || end.Before(next.Due)) {
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
	if r, end := t.windows.holding(prev.Due); r != nil && end.Before(before) {
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
	r, end := t.windows.holding(tick.Due)
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
		r, until := t.windows.holding(last.Due)
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
