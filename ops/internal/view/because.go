package view

import (
	"strings"

	"github.com/nextrun/nextrun/periodic"
)

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
	said := because[cause]
	if said != "" && reason != "" {
		said += ": "
	}
	return strings.TrimSpace(said + reason)
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
