package why

import (
	"context"
	"encoding/json"
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

// streak are args with the failures in a row.
func (f *Facts) streak(a Args) []Args {
	s := f.Streak
	a["Failures"], a["Failing"], a["Success"], a["Cut"] = f.Status.Failures, s.Since, known(s.Success), s.Cut
	if s.Since.IsZero() {
		a["Failures"] = 0
	}
	return when(true, a)
}

func runFailed(f *Facts) []Args {
	r := f.Failed
	if r == nil || r.State != "failed" {
		return nil
	}
	return f.streak(Args{"At": r.Finished, "Attempts": r.Attempts, "Error": r.Result, "Own": r.Own(), "JID": r.JID, "Retries": f.retries})
}

func attemptFailed(f *Facts) []Args {
	if r := f.Failed; r != nil && r.State != "failed" {
		return f.streak(Args{"Error": r.Result, "Log": r.JID})
	}
	return when(f.attempt != nil && f.attempt.State == "" && f.attempt.Error != "", f.elseArgs())
}

// elseArgs are those of an attempt in another queue.
func (f *Facts) elseArgs() Args {
	if f.attempt == nil {
		return nil
	}
	return Args{"Error": f.attempt.Error, "Failures": 0}
}

func runUnknown(f *Facts) []Args {
	last := f.Last()
	return when(last != nil && last.State == "unknown", Args{"Sink": f.Task.Sink})
}

func stale(f *Facts) []Args {
	if f.Status.Cause != view.CauseStale {
		return nil
	}
	return when(true, Args{"Expected": f.Stale.Expected, "Success": known(f.Stale.Success)})
}

// A task that loses so many of its newest ticks, or has so many of its newest jobs replaced, is told so.
const (
	mostSkips    = 4
	mostReplaced = 3
)

func replaced(f *Facts) []Args {
	n := 0
	for _, r := range f.Runs {
		if r.Decision != periodic.Submitted {
			continue
		}
		if n++; r.State == "success" || r.State == "failed" {
			return nil
		} else if r.State != "cancelled" {
			n-- // it has not ended
		}
	}
	return when(f.Task.Overlap == periodic.OverlapReplace && n >= mostReplaced, Args{"Runs": n})
}

func skips(f *Facts) []Args {
	n := 0
	for _, r := range f.Runs {
		if r.Cause == periodic.CauseOverlap {
			n++
		}
	}
	return when(f.Task.Enabled && n >= mostSkips, Args{"Skipped": n, "Ticks": len(f.Runs)})
}

// decided says what was decided of the last tick.
func decided(d periodic.Decision) func(*Facts) []Args {
	return func(f *Facts) []Args {
		if len(f.Runs) == 0 || f.Runs[0].Decision != d {
			return nil
		}
		r := f.Runs[0]
		until := r.Until
		if until.Before(r.Due) {
			until = r.Due
		}
		return when(true, Args{"Due": r.Due, "Until": until, "After": until.Add(time.Second), "Missed": r.Missed, "Reason": r.Reason,
			"Pending": f.job != nil && f.Task.Overlap == periodic.OverlapSkip})
	}
}

// elsewhere is the job in another queue.
func elsewhere(f *Facts) []Args {
	p := f.pending
	if p == nil {
		return nil
	}
	return when(true, Args{"Of": known(p.Due), "State": p.State.Word(), "Began": known(p.Started), "Sink": f.Task.Sink, "JID": p.JID})
}

func eventRefused(f *Facts) []Args {
	r := f.event
	if r == nil {
		return nil
	}
	a := Args{"Dead": !r.Dead.IsZero(), "Problem": r.Problem, "Event": r.ID, "Topic": r.Topic}
	if r.Problem == "" && r.Status == outbox.Pending {
		a["Behind"], a["Problem"] = true, f.topic.Problem
	}
	return when(a["Problem"] != "" && r.Published.IsZero(), a)
}

func eventWaits(f *Facts) []Args {
	return when(f.event != nil && f.event.Status == outbox.Pending && f.event.Problem == "" && f.topic.Problem == "" && f.topic.Unattended(),
		Args{"Last": f.topic.Pending == 1, "Age": f.topic.Age, "Topic": f.topic.Topic})
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

// readHooks finds the hooks of a task that nobody has heard, of a day.
func readHooks(ctx context.Context, db *store.DB, id string, now time.Time) ([]hookFact, error) {
	return hookJobs(ctx, db, jobqueue.Filter{
		States: []jobqueue.State{jobqueue.Waiting, jobqueue.Stuck, jobqueue.Failed}, Since: now.AddDate(0, 0, -1), Until: now.Add(-waitsLong),
	}, func(n *hooks.Notice) bool { return n.Task == id })
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
