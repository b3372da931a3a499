package metrics

import (
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
)

// Series of single tasks.
var (
	taskInfo    = describe("task_info", "1; the labels say what the task is.", "task", "handler", "group", "timer", "sink", "overlap")
	taskProblem = describe("task_problem", "1 if the row has a problem, also one that is only a warning.", "task")
	taskPaused  = describe("task_paused", "1 while the task is paused: what falls due is skipped.", "task")
	lastSuccess = describe("task_last_success_timestamp_seconds", "When the latest run that succeeded ended; 0: none did, as far as ticks were read, or nobody tells how its jobs end.", "task")
	staleSince  = describe("task_stale_since_timestamp_seconds",
		"Due of the newest tick that must have succeeded by now, and has not, as the view periodic_stale has it; absent if there is none.", "task")
	lastDue   = describe("task_last_due_timestamp_seconds", "Due of the newest tick that was decided.", "task")
	nextDue   = describe("task_next_due_timestamp_seconds", "Due of the planned tick; absent if there is none.", "task")
	waits     = describe("task_overdue_seconds", "How long ago the planned tick should have been taken; absent unless that is 5 seconds or more.", "task")
	dropped   = describe("task_series_dropped", "Tasks without series of their own.")
	failures  = describe("task_failures", "How many of the newest runs failed, one after the other; up to 1,000 ticks are read.", "task")
	attention = describe("task_attention", "1 if the task needs attention, with the code of the cause; absent if it does not.", "task", "cause")
)

func showTasks(p *points, list []view.Task) {
	for i := range list {
		f := &list[i]
		t, status := f.Task, f.Status()
		p.add(taskInfo, 1, t.ID, t.Task, t.Group, t.Timer, string(t.Sink), string(t.Overlap))
		p.add(taskProblem, truth(t.Problem != ""), t.ID)
		p.add(taskPaused, truth(t.Pause.At(f.Now)), t.ID)
		p.at(lastSuccess, f.Success(), t.ID)
		if len(f.Runs) > 0 {
			p.at(lastDue, f.Runs[0].Due, t.ID)
		}
		p.add(failures, float64(status.Failures), t.ID)
		if status.Cause != "" {
			p.add(attention, 1, t.ID, string(status.Cause))
		}
		if t.Enabled && !t.Due.IsZero() && t.Due.Before(periodic.Never) {
			p.at(nextDue, t.Due, t.ID)
		}
		if late := f.Overdue(); late > 0 {
			p.add(waits, late.Seconds(), t.ID)
		}
		if f.Stale != nil {
			p.at(staleSince, f.Stale.Expected, t.ID)
		}
	}
}
