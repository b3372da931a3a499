package task

import (
	"context"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/tick"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/diagnosis"
	"github.com/nextrun/nextrun/ops/internal/figures"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// results are what became of the last runs of tasks, and since when those fail that fail.
type results struct {
	outcomes map[string]periodic.Outcome
	failing  map[string]figures.Streak // of those whose last run failed
}

// readResults reads those of some tasks, which a filter selects.
func readResults(ctx context.Context, db *store.DB, filter periodic.TaskFilter, tasks []periodic.Task) (r results, err error) {
	if r.outcomes, err = periodic.NewTasks(db.Tasks()).Outcomes(ctx, filter); err != nil {
		return r, err
	}
	var ids []string
	for i := range tasks {
		if o := r.outcomes[tasks[i].ID]; o.Run != nil && o.Result.State == string(jobqueue.Failed) {
			ids = append(ids, tasks[i].ID)
		}
	}
	r.failing, err = figures.Of(db).Streaks(ctx, ids)
	return r, err
}

// of is what became of the last run of a task, and of later ticks that did not run.
func (r results) of(env *ui.Env, t *periodic.Task) string {
	o := r.outcomes[t.ID]
	if o.Run == nil || o.Result.State != string(jobqueue.Failed) {
		return resultOf(o)
	}
	at := func(at time.Time) string { return at.In(env.Zone).Format("2006-01-02 15:04") }
	_, then, later := strings.Cut(resultOf(o), ", then ")
	said := diagnosis.Since("failed", r.failing[t.ID].Failed, r.failing[t.ID], at)
	if later {
		said += ", then " + then
	}
	return said
}

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
		said += ", took " + text.Exact(r.Finished.Sub(r.Started))
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
