package task

import (
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/tick"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/periodic"
)

// resultOf is what became of the last run of a task, and of later ticks that did not
// run.
func resultOf(o periodic.Outcome) string {
	last := ""
	if o.Last.Decision != periodic.Submitted {
		last = tick.Outcome(o.Last, o.Result)
	}
	switch {
	case o.Run == nil:
		return last
	case last != "":
		return tick.Outcome(*o.Run, o.Result) + ", then " + last
	}
	return tick.Outcome(*o.Run, o.Result)
}

// lastRun is when the last run ended or began, or else was submitted.
func lastRun(o periodic.Outcome) time.Time {
	switch {
	case o.Run == nil:
		return time.Time{}
	case !o.Result.Finished.IsZero():
		return o.Result.Finished
	case !o.Result.Started.IsZero():
		return o.Result.Started
	}
	return o.Run.Decided
}

// lastRunText is the last run in words: how it ended, when, and how long it took.
func lastRunText(env *ui.Env, o periodic.Outcome) string {
	if o.Run == nil {
		return ""
	}
	r := o.Result
	said := tick.Outcome(*o.Run, r) + ", " + env.Ago(lastRun(o))
	if !r.Started.IsZero() && !r.Finished.IsZero() {
		said += ", took " + span.Exact(r.Finished.Sub(r.Started))
	}
	if r.Message != "" {
		said += ": " + text.FirstLine(r.Message)
	}
	return said
}

// notRun says why the last tick did not run, if it did not.
func notRun(env *ui.Env, o periodic.Outcome) string {
	if o.Last.Due.IsZero() || o.Last.Decision == periodic.Submitted {
		return ""
	}
	return tick.Outcome(o.Last, o.Result) + ", due " + env.Ago(o.Last.Due) + ": " + o.Last.Reason
}
