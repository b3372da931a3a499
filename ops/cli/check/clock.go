package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/calendar/explain"
)

// clockChanges are what changes of the clock do to tasks.
type clockChanges struct {
	tasks int
	lines []clockChange
	next  time.Time // the first elapse that is concerned
}

// clockChange is a line about a task.
type clockChange struct{ about, text string }

// aboutClock reports whether a finding is about a change of the clock.
func aboutClock(f explain.Finding) bool {
	return f.Code == explain.LintMoved || f.Code == explain.LintAdded || f.Code == explain.LintMerged
}

// add notes what becomes of a timer: one line for each kind, as the same happens in
// every year. A timer that elapses both times when an hour is repeated does what
// everybody expects.
func (c *clockChanges) add(about, timer string, findings []explain.Finding) {
	if slices.ContainsFunc(findings, func(f explain.Finding) bool { return f.Code == explain.LintAdded }) {
		return
	}
	last := ""
	for _, f := range findings {
		if !aboutClock(f) {
			continue
		}
		if last == "" {
			c.tasks++
		}
		if f.Code != last {
			c.lines = append(c.lines, clockChange{about, fmt.Sprintf("timer %q: %s (%s)", timer, f.Message, f.Code)})
		}
		last = f.Code
		if c.next.IsZero() || f.At.Before(c.next) {
			c.next = f.At
		}
	}
}

// addClock adds one note about all of them, or with --verbose one for each line.
func (r *report) addClock(c *clockChanges) {
	switch {
	case c.tasks == 0:
	case r.verbose:
		for _, line := range c.lines {
			r.add(levelNote, line.about, "%s", line.text)
		}
	default:
		r.add(levelNote, "tasks", "clock changes move or merge ticks of some tasks (%d), first on %s; see: nextrun check --verbose",
			c.tasks, c.next.In(r.env.Zone).Format(time.DateOnly))
	}
}
