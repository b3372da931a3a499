package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/periodic"
)

// Attention says in a clause why the task needs attention; empty: it does not. Times are written by at.
func (f *Facts) Attention(at func(time.Time) string) string {
	switch s := f.Status(); s.Cause {
	case CauseProblem:
		return f.Task.Problem
	case CauseWarning:
		return strings.TrimPrefix(f.Task.Problem, periodic.WarningPrefix)
	case CauseOverdue:
		return "due for " + text.Text(f.Overdue().Truncate(time.Second)) + ", and no scheduler has taken it"
	case CausePaused:
		said, _, _ := strings.Cut(f.Task.Pause.Reason, ";")
		return said
	case CauseFailed, CauseMissed:
		return InARow(string(s.State), s.Failures, f.Streak, at)
	case CauseStale:
		if f.Stale.Success.IsZero() {
			return "no run has succeeded yet; one was due " + at(f.Stale.Expected)
		}
		return "no run has succeeded since " + at(f.Stale.Success)
	}
	return ""
}

// InARow says that something, such as "failed", happened so many times after each other, since when, and
// whether it ever went well.
func InARow(what string, times int, s Streak, at func(time.Time) string) string {
	if times < 2 || s.Since.IsZero() {
		return what
	}
	said := fmt.Sprintf("%s %d times in a row, since %s", what, times, at(s.Since))
	switch {
	case s.Success.IsZero() && s.Cut:
		return said + " or earlier"
	case s.Success.IsZero():
		return said + " or earlier; no success is recorded"
	}
	return said + "; the last success was that of " + at(s.Success)
}
