package why

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// elsewhere is the job in another queue.
func elsewhere(e *Explanation) []Args {
	p := e.pending
	if p == nil {
		return nil
	}
	a := Args{"Of": known(p.Due), "State": p.State.Word(), "Began": known(p.Started), "Sink": e.Sink, "JID": p.JID}
	if e.attempt != nil {
		a["Error"] = e.attempt.Error
	}
	return when(true, a)
}

// runFailed is the newest run that ended, if it failed.
func runFailed(e *Explanation) []Args {
	i := slices.IndexFunc(e.Runs, func(r view.Run) bool { return r.State == "success" || r.State == "failed" })
	if i < 0 || e.Runs[i].State != "failed" || e.Sink == periodic.SinkEvent {
		return nil
	}
	r := e.Runs[i]
	return when(true, Args{"At": r.Finished, "Attempts": r.Attempts, "Error": r.Result, "Own": r.Own(), "JID": r.JID, "Retries": e.retries, "Streak": e.Streak})
}

func runUnknown(e *Explanation) []Args {
	last := e.Last()
	return when(last != nil && last.State == "unknown", Args{"Sink": e.Sink})
}

func stale(e *Explanation) []Args {
	if e.Status.Cause != view.TaskStale {
		return nil
	}
	return when(true, Args{"Expected": e.Stale.Expected, "Success": known(e.Stale.Success)})
}

// A task that loses so many of its newest ticks, or has so many of its newest jobs replaced, is told so.
const (
	mostSkips    = 4
	mostReplaced = 3
)

// overlaps finds a task whose jobs last longer than its interval.
func overlaps(e *Explanation) []Args {
	skipped, replaced, ended := 0, 0, false
	for _, r := range e.Runs {
		switch {
		case r.Cause == periodic.CauseOverlap:
			skipped++
		case r.State == "cancelled":
			replaced++
		case r.State == "success" || r.State == "failed":
			ended = true
		}
	}
	if e.Overlap == periodic.OverlapReplace && replaced >= mostReplaced && !ended {
		return when(true, Args{"Replaced": replaced})
	}
	return when(e.Enabled && skipped >= mostSkips, Args{"Skipped": skipped, "Ticks": len(e.Runs), "Nobody": e.nobodyRunsIt()})
}

// nobodyRunsIt reports whether the job waits for somebody who could run it: what else is the matter follows from that.
func (e *Explanation) nobodyRunsIt() bool {
	return e.where == "job_no_executor" || e.where == "job_no_handler"
}

// notRun says what was decided of the last tick, if it was one of these decisions.
func notRun(decisions ...periodic.Decision) func(*Explanation) []Args {
	return func(e *Explanation) []Args {
		if len(e.Runs) == 0 || !slices.Contains(decisions, e.Runs[0].Decision) {
			return nil
		}
		r := e.Runs[0]
		until := latest(r.Due, r.Until)
		return when(true, Args{"Due": r.Due, "Until": until, "After": until.Add(time.Second), "Missed": r.Missed, "Reason": r.Why(),
			"Late": r.Decision == periodic.Late, "Pending": e.job != nil && r.Cause == periodic.CauseOverlap && !e.nobodyRunsIt()})
	}
}

func eventUndelivered(e *Explanation) []Args {
	r := e.event
	if r == nil || !r.Published.IsZero() {
		return nil
	}
	a := Args{"Dead": !r.Dead.IsZero(), "Problem": r.Problem, "Event": r.ID, "Topic": r.Topic, "Age": e.topic.Age, "Last": e.topic.Pending == 1}
	if r.Problem == "" && r.Status == outbox.Pending && e.topic.Problem != "" {
		a["Behind"], a["Problem"] = true, e.topic.Problem
	}
	return when(a["Problem"] != "" || r.Status == outbox.Pending && e.topic.Unattended(), a)
}

// mostHooks is how many jobs of hooks are read.
const mostHooks = 100

// hookJob is a job of a hook, with what it tells.
type hookJob struct {
	jobqueue.Job
	hooks.Notice
}

// hookJobs are the jobs of hooks that a filter finds, of those that are wanted.
func hookJobs(ctx context.Context, db *store.DB, f jobqueue.Filter, wanted func(*hooks.Notice) bool) ([]hookJob, error) {
	f.Group, f.WithArgs, f.Limit = jobqueue.HookGroup, true, mostHooks
	jobs, err := jobqueue.NewQueue(db.Jobs()).List(ctx, f)
	var list []hookJob
	for _, j := range jobs {
		one := hookJob{Job: j}
		if json.Unmarshal([]byte(j.Args), &one.Notice) == nil && wanted(&one.Notice) {
			list = append(list, one)
		}
	}
	return list, err
}

// readHooks finds the hooks of the task that nobody has heard, of a day.
func (e *Explanation) readHooks(ctx context.Context, db *store.DB) (err error) {
	e.hooks, err = hookJobs(ctx, db, jobqueue.Filter{
		States: []jobqueue.State{jobqueue.Waiting, jobqueue.Stuck, jobqueue.Failed}, Since: e.Now.AddDate(0, 0, -1), Until: e.Now.Add(-waitsLong),
	}, func(n *hooks.Notice) bool { return n.Task == e.ID })
	return err
}

// hookUndelivered finds the hooks that nobody has heard: the newest of each state.
func hookUndelivered(e *Explanation) (list []Args) {
	said := map[jobqueue.State]bool{}
	for _, h := range e.hooks {
		if !said[h.State] {
			said[h.State] = true
			list = append(list, Args{"Hook": h.Hook, "JID": h.JID, "Error": text.FirstLine(h.Result), "Dead": h.State == jobqueue.Failed, "Refused": h.State == jobqueue.Stuck})
		}
	}
	return list
}
