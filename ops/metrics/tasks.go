package metrics

import (
	"slices"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
)

// Series of single tasks.
var (
	taskInfo     = describe("task_info", "1; the labels say what the task is.", "id", "task", "group", "timer", "sink", "overlap")
	taskProblem  = describe("task_problem", "1 if the row has a problem, also one that is only a warning.", "id")
	taskPaused   = describe("task_paused", "1 while the task is paused: what falls due is skipped.", "id")
	lastSuccess  = describe("task_last_success_timestamp_seconds", "When the latest run that succeeded ended; 0: none did, as far as ticks were read (up to 1,000).", "id")
	expectedDone = describe("task_expected_success_timestamp_seconds",
		"Due of the newest tick that must have succeeded by now: its time, jitter, grace and twice the usual duration are over. Absent: none must.", "id")
	lastDue   = describe("task_last_due_timestamp_seconds", "Due of the newest tick that was decided.", "id")
	nextDue   = describe("task_next_due_timestamp_seconds", "Due of the planned tick; absent if there is none.", "id")
	waits     = describe("task_overdue_seconds", "How long ago the planned tick should have been taken; absent unless that is 5 seconds or more.", "id")
	dropped   = describe("task_series_dropped", "Tasks without series of their own.")
	failures  = describe("task_failures", "How many of the newest runs failed, one after the other; up to 1,000 ticks are read.", "id")
	attention = describe("task_attention", "1 if the task needs attention, with the code of the cause; absent if it does not.", "id", "cause")
)

func showTasks(p *points, tasks []periodic.Task, of map[string]history, now time.Time, grace time.Duration) {
	for i := range tasks {
		t := &tasks[i]
		o := of[t.ID]
		p.add(taskInfo, 1, t.ID, t.Task, t.Group, t.Timer, string(t.Sink), string(t.Overlap))
		p.add(taskProblem, truth(t.Problem != ""), t.ID)
		p.add(taskPaused, truth(t.Pause.At(now)), t.ID)
		p.at(lastSuccess, o.Success, t.ID)
		if len(o.Runs) > 0 {
			p.at(lastDue, o.Runs[0].Due, t.ID)
		}
		status := o.Status()
		p.add(failures, float64(status.Failures), t.ID)
		if status.Cause != "" {
			p.add(attention, 1, t.ID, string(status.Cause))
		}
		if t.Enabled && !t.Due.IsZero() && t.Due.Before(periodic.Never) {
			p.at(nextDue, t.Due, t.ID)
		}
		if late := o.Overdue(); late > 0 {
			p.add(waits, late.Seconds(), t.ID)
		}
		if at := expected(t, o.Runs, now, grace); !at.IsZero() {
			p.at(expectedDone, at, t.ID)
		}
	}
}

// expected is the due of the newest tick that must have succeeded by now, or the zero
// time. Ticks that were recorded count; if the planned one is overdue, so do those of
// the timer since then, since no scheduler is there to record them.
func expected(t *periodic.Task, ticks []view.Run, now time.Time, grace time.Duration) time.Time {
	if !t.Enabled || t.Pause.At(now) {
		return time.Time{}
	}
	limit := now.Add(-grace - t.Jitter - 2*usual(ticks))
	if !t.Due.IsZero() && !t.Due.After(limit) {
		return newest(t, limit)
	}
	for _, k := range ticks {
		due := k.Due
		if !k.Until.IsZero() && !k.Until.After(limit) {
			due = k.Until
		}
		if !due.After(limit) && counts(t, k) {
			return due
		}
	}
	return time.Time{}
}

// counts reports whether a tick should have led to a success. One that was skipped in
// a pause should not. Of one whose job was deleted since, nobody knows.
func counts(t *periodic.Task, k view.Run) bool {
	switch k.Decision {
	case periodic.Skipped:
		return k.Cause != periodic.CausePaused
	case periodic.Submitted:
		return t.Sink != periodic.SinkJob || k.State != ""
	}
	return true
}

// newest is the latest tick of the timer until limit, from the planned one on.
func newest(t *periodic.Task, limit time.Time) time.Time {
	if !t.Ends.IsZero() && !limit.Before(t.Ends) {
		limit = t.Ends.Add(-time.Microsecond)
	}
	timer, err := calendar.ParseAt(t.Timer, t.Anchor())
	if err != nil {
		return t.Due
	}
	if last := timer.Prev(limit.Add(time.Microsecond)); last.After(t.Due) {
		return last
	}
	return t.Due
}

// usualRuns is how many successes say how long a run usually takes.
const usualRuns = 10

// usual is the median time from the submission of a job to its success.
func usual(ticks []view.Run) time.Duration {
	var took []time.Duration
	for _, k := range ticks {
		if k.State == string(jobqueue.Success) && len(took) < usualRuns {
			took = append(took, k.Finished.Sub(k.Decided))
		}
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return max(took[len(took)/2], 0)
}
