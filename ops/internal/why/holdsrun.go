package why

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// runFailed is the newest run that ended, if it failed.
func runFailed(f *Facts) []Args {
	i := slices.IndexFunc(f.Runs, func(r view.Run) bool { return r.State == "success" || r.State == "failed" })
	if i < 0 || f.Runs[i].State != "failed" || f.Task.Sink == periodic.SinkEvent {
		return nil
	}
	r := f.Runs[i]
	a := Args{"At": r.Finished, "Attempts": r.Attempts, "Error": r.Result, "Own": r.Own(), "JID": r.JID, "Retries": f.retries,
		"Failures": f.Status.Failures, "Streak": f.Streak}
	if f.Streak.Since.IsZero() {
		a["Failures"] = 0
	}
	return when(true, a)
}

func runUnknown(f *Facts) []Args {
	last := f.Last()
	return when(last != nil && last.State == "unknown", Args{"Sink": f.Task.Sink})
}

func stale(f *Facts) []Args {
	if f.Status.Cause != view.TaskStale {
		return nil
	}
	return when(true, Args{"Expected": f.Stale.Expected, "Success": known(f.Stale.Success)})
}

// A task that loses so many of its newest ticks, or has so many of its newest jobs replaced, is told so.
const (
	mostSkips    = 4
	mostReplaced = 3
)

// overlaps finds a task whose jobs last longer than its interval.
func overlaps(f *Facts) []Args {
	skipped, replaced, ended := 0, 0, false
	for _, r := range f.Runs {
		switch {
		case r.Cause == periodic.CauseOverlap:
			skipped++
		case r.State == "cancelled":
			replaced++
		case r.State == "success" || r.State == "failed":
			ended = true
		}
	}
	switch {
	case f.Task.Overlap == periodic.OverlapReplace && replaced >= mostReplaced && !ended:
		return when(true, Args{"Replaced": replaced})
	case f.Task.Enabled && skipped >= mostSkips:
		return when(true, Args{"Skipped": skipped, "Ticks": len(f.Runs)})
	}
	return nil
}

// notRun says what was decided of the last tick, if it was one of these decisions.
func notRun(decisions ...periodic.Decision) func(*Facts) []Args {
	return func(f *Facts) []Args {
		if len(f.Runs) == 0 || !slices.Contains(decisions, f.Runs[0].Decision) {
			return nil
		}
		r := f.Runs[0]
		until := latest(r.Due, r.Until)
		return when(true, Args{"Due": r.Due, "Until": until, "After": until.Add(time.Second), "Missed": r.Missed, "Reason": r.Why(),
			"Late": r.Decision == periodic.Late, "Pending": f.job != nil && r.Cause == periodic.CauseOverlap})
	}
}

// elsewhere is the job in another queue.
func elsewhere(f *Facts) []Args {
	p := f.pending
	if p == nil {
		return nil
	}
	a := Args{"Of": known(p.Due), "State": p.State.Word(), "Began": known(p.Started), "Sink": f.Task.Sink, "JID": p.JID}
	if f.attempt != nil {
		a["Error"] = f.attempt.Error
	}
	return when(true, a)
}

func eventUndelivered(f *Facts) []Args {
	r := f.event
	if r == nil || !r.Published.IsZero() {
		return nil
	}
	a := Args{"Dead": !r.Dead.IsZero(), "Problem": r.Problem, "Event": r.ID, "Topic": r.Topic, "Age": f.topic.Age, "Last": f.topic.Pending == 1}
	if r.Problem == "" && r.Status == outbox.Pending && f.topic.Problem != "" {
		a["Behind"], a["Problem"] = true, f.topic.Problem
	}
	return when(a["Problem"] != "" || r.Status == outbox.Pending && f.topic.Unattended(), a)
}

// mostHooks is how many jobs of hooks are read.
const mostHooks = 100

// hookFact is a hook of the task whose receiver has not taken its notice.
type hookFact struct {
	job    jobqueue.Job
	notice hooks.Notice
}

// hookJobs are the jobs of hooks that a filter finds, with their notices, of those that are wanted.
func hookJobs(ctx context.Context, db *store.DB, f jobqueue.Filter, wanted func(*hooks.Notice) bool) ([]hookFact, error) {
	f.Group, f.WithArgs, f.Limit = jobqueue.HookGroup, true, mostHooks
	jobs, err := jobqueue.NewQueue(db.Jobs()).List(ctx, f)
	var list []hookFact
	for _, j := range jobs {
		var n hooks.Notice
		if json.Unmarshal([]byte(j.Args), &n) == nil && wanted(&n) {
			list = append(list, hookFact{j, n})
		}
	}
	return list, err
}

// readHooks finds the hooks of the task that nobody has heard, of a day.
func (f *Facts) readHooks(ctx context.Context, db *store.DB) (err error) {
	f.hooks, err = hookJobs(ctx, db, jobqueue.Filter{
		States: []jobqueue.State{jobqueue.Waiting, jobqueue.Stuck, jobqueue.Failed}, Since: f.Now.AddDate(0, 0, -1), Until: f.Now.Add(-waitsLong),
	}, func(n *hooks.Notice) bool { return n.Task == f.Task.ID })
	return err
}

// hookUndelivered finds the hooks that nobody has heard: the newest of each state.
func hookUndelivered(f *Facts) (list []Args) {
	said := map[jobqueue.State]bool{}
	for _, h := range f.hooks {
		if !said[h.job.State] {
			said[h.job.State] = true
			list = append(list, Args{"Hook": strings.TrimSpace(h.notice.Hook), "JID": h.job.JID, "Error": text.FirstLine(h.job.Result),
				"Dead": h.job.State == jobqueue.Failed, "Refused": h.job.State == jobqueue.Stuck})
		}
	}
	return list
}
