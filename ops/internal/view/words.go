package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/periodic"
)

// Attention says in a clause why the task needs attention; empty: it does not. Times are written by at.
func (t *Task) Attention(at func(time.Time) string) string {
	switch s := t.Status(); s.Cause {
	case TaskProblem, TaskWarning:
		return strings.TrimPrefix(t.Problem, periodic.WarningPrefix)
	case TaskOverdue:
		return "due for " + text.Text(t.Overdue().Truncate(time.Second)) + ", and no scheduler has taken it"
	case TaskPaused:
		said, _, _ := strings.Cut(t.Pause.Reason, ";")
		return said
	case RunFailed, TickMissed:
		return t.Streak.InARow(string(s.State), s.Failures, at)
	case TaskStale:
		if t.Stale.Success.IsZero() {
			return "no run has succeeded yet; one was due " + at(t.Stale.Expected)
		}
		return "no run has succeeded since " + at(t.Stale.Success)
	}
	return ""
}

// InARow says that something, such as "failed", happened so many times after each other, since when, and
// whether it ever went well.
func (s Streak) InARow(what string, times int, at func(time.Time) string) string {
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

// String says how many ticks were lost; empty: none were.
func (l Losses) String() string {
	switch {
	case l.Lost == 0:
		return ""
	case l.Of >= LossTicks:
		return fmt.Sprintf("%d of the last %d ticks skipped by overlap", l.Lost, l.Of)
	case l.Lost == 1:
		return fmt.Sprintf("1 tick skipped by overlap in %d days", LossDays)
	}
	return fmt.Sprintf("%d ticks skipped by overlap in %d days", l.Lost, LossDays)
}

// because has the causes of ticks in words. The hand of a person is in them, if one asked for the tick.
var because = map[periodic.Cause]string{
	periodic.CauseOverlap:    "a job of the task had not ended",
	periodic.CauseWaited:     "it waited for the end of the job before it, and a later tick took its place",
	periodic.CauseSuperseded: "a later tick took its place",
	periodic.CausePaused:     "the task was paused",
	periodic.CauseCalendar:   "left out",
	periodic.CausePerson:     "left out by hand",
	periodic.CauseClosed:     "the task was disabled, or outside its starts and ends",
	periodic.CauseRefused:    "its queue refused the job",
	periodic.CauseDeadline:   "its deadline had passed",
	periodic.CauseNewest:     "not decided in time, and a newer tick took its place",
	periodic.CauseGrace:      "not decided in time, and older than the grace",
	periodic.CauseLimit:      "not decided in time, and beyond the catchup_limit",
	periodic.CauseByHand:     "run by hand",
	periodic.CauseBackfill:   "backfilled",
}

// Because says in words why a tick was decided so, and what somebody said about it.
func Because(cause periodic.Cause, reason string) string {
	switch said := because[cause]; {
	case said == "":
		return reason
	case cause == periodic.CausePaused || cause == periodic.CausePerson:
		return Noted(said, reason)
	default:
		return strings.TrimSuffix(said+": "+reason, ": ")
	}
}

// Noted adds to a clause the note of the person who did that, if there is one.
func Noted(said, note string) string {
	if note == "" {
		return said
	}
	return said + `, with the note "` + note + `"`
}

// Why says in words why the tick was decided so; empty: it was submitted at its time.
func (r *Run) Why() string { return Because(r.Cause, r.Reason) }

// Hand says how somebody has asked for it, in words; empty: nobody has.
func (r *Run) Hand() string {
	if r.Cause == periodic.CauseByHand || r.Cause == periodic.CauseBackfill {
		return because[r.Cause]
	}
	return ""
}
