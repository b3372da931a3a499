package view

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/periodic"
)

// How a task is doing follows from its row and its newest runs: one state, and one cause if it needs attention.
// What one column decides, and that SQL selects the same tasks, is in a test of cmd/nextrun/situations.
func TestStatus(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	run := func(state string) Run { return Run{Decision: periodic.Submitted, State: state} }
	tick := func(d periodic.Decision) Run { return Run{Decision: d} }
	stale := &Stale{Expected: now.Add(-time.Hour)}
	for name, c := range map[string]struct {
		runs  []Run
		set   func(f *Task)
		state State
		cause Code
	}{
		"its last run succeeded":                {[]Run{run("success"), run("failed")}, nil, OK, ""},
		"it failed, and runs again":             {[]Run{run("running"), run("failed"), run("success")}, nil, Failed, RunFailed},
		"it failed, and was skipped since":      {[]Run{tick(periodic.Skipped), run("failed")}, nil, Failed, RunFailed},
		"it was missed":                         {[]Run{tick(periodic.Missed), run("success")}, nil, Missed, TickMissed},
		"it runs":                               {[]Run{run("running"), run("success")}, nil, Running, ""},
		"it is tried again":                     {[]Run{run("stuck"), run("success")}, nil, Retrying, ""},
		"it is replaced for ever":               {[]Run{run("running"), run("cancelled"), run("cancelled")}, func(f *Task) { f.Stale = stale }, Running, TaskStale},
		"its job waits behind the newest ticks": {[]Run{tick(periodic.Skipped)}, func(f *Task) { r := run("waiting"); f.Older = &r }, Waiting, ""},
		"it was edited a moment ago":            {nil, func(f *Task) { f.NextRun, f.Edited = periodic.Unplanned, now.Add(-time.Second) }, New, ""},
		"it waits for a job":                    {[]Run{run("running")}, func(f *Task) { f.NextRun, f.Waits = now.Add(-time.Minute), true }, Running, ""},
		"it ran without a timer":                {[]Run{run("success")}, func(f *Task) { f.Timer, f.NextRun = calendar.Never, periodic.Never }, OK, ""},
		"nobody tells how it ended":             {[]Run{run("")}, nil, Submitted, ""},
	} {
		task := periodic.NewTask("t", "x", "hourly")
		task.NextRun = now.Add(time.Hour)
		f := &Task{Task: &task, Runs: c.runs, Now: now}
		if c.set != nil {
			c.set(f)
		}
		if got := f.Status(); got.State != c.state || got.Cause != c.cause {
			t.Errorf("%s: it is %q with the cause %q, want %q and %q", name, got.State, got.Cause, c.state, c.cause)
		}
	}
}
