package why

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// judgement is why a job of nextrun's own queue is where it is.
type judgement struct {
	code Code
	args Args
}

func ofJob(code Code) func(*Facts) []Args {
	return func(f *Facts) []Args { return when(f.judged.code == code, f.judged.args) }
}

// OfJob explains where a job of nextrun's own queue is that is not final, and why; nothing
// of one that is.
func OfJob(ctx context.Context, db *store.DB, job *jobqueue.Job, zone *time.Location) ([]Finding, error) {
	if job.State.Final() {
		return nil, nil
	}
	q, err := readQueue(ctx, db)
	if err != nil {
		return nil, err
	}
	f := &Facts{Facts: view.Facts{Task: &periodic.Task{ID: job.Tracker}, Now: q.now}}
	said := q.judge(job, "It")
	return []Finding{f.find(said.code, said.args, zone)}, nil
}

// judge explains a job that is not final. The sentence is about a subject, such as "Its job".
func (q *queueFacts) judge(j *jobqueue.Job, subject string) judgement {
	a := Args{"Subject": subject, "JID": j.JID, "Handler": j.Task, "Group": j.Group, "Task": j.Tracker, "State": j.State.Word(), "Worker": j.Worker, "Retry": j.Retry}
	switch {
	case j.Foreign():
		a["Foreign"] = true
		return judgement{"job_running", a}
	case j.State == jobqueue.Stuck:
		return q.retrying(j, a)
	case j.State != jobqueue.Waiting:
		return q.inWork(j, a)
	case j.Retry.After(q.now):
		a["Begins"] = j.Retry
		return judgement{"job_waits", a}
	}
	a["From"], a["Again"] = j.Submitted, !j.Started.IsZero() // then it is not in the row since when it waits
	if j.Retry.After(j.Submitted) {
		a["From"] = j.Retry
	}
	return q.waiting(j, a)
}

// retrying explains a job that has failed and is tried again.
func (q *queueFacts) retrying(j *jobqueue.Job, a Args) judgement {
	attempt := "attempt " + strconv.Itoa(j.Retries+1) // the one that failed is counted already
	if most := q.attempts(j); most > j.Retries {
		attempt += " of " + strconv.Itoa(most)
	}
	a["Attempt"], a["From"] = attempt, j.Retry
	if overdue := q.now.Sub(j.Retry); overdue > periodic.OverdueAfter {
		return q.waiting(j, a)
	}
	if found := q.nobody(j, a); found.code != "" && j.Retry.After(q.now) {
		a["Soon"] = true
		return found
	}
	return judgement{"job_retrying", a}
}

const (
	// silentLong is how long the worker of a running job may be silent until that is said: it says every 2 s that it lives.
	silentLong = 8 * time.Second
	// endedLong is how long until it seems to have ended.
	endedLong = 30 * time.Second
)

// inWork explains a job that an executor has.
func (q *queueFacts) inWork(j *jobqueue.Job, a Args) judgement {
	if name, _, ours := strings.Cut(j.Worker, service.BootMark); j.State == jobqueue.Scheduled && ours {
		a["Claimed"] = name
		return judgement{"job_waits", a}
	}
	seen := j.Started
	for _, s := range q.executors {
		if s.Worker == j.Worker {
			seen = s.Seen
		}
	}
	silent := q.now.Sub(seen)
	a["Started"], a["Seen"], a["Long"] = j.Started, seen, silent > endedLong
	a["Others"] = slices.ContainsFunc(q.living(), func(s view.Service) bool { return s.Worker != j.Worker })
	if silent <= silentLong {
		return judgement{"job_running", a}
	}
	return judgement{"job_silent", a}
}

// waiting says why a job that may begin does not.
func (q *queueFacts) waiting(j *jobqueue.Job, a Args) judgement {
	if l := q.limit(j); l != nil {
		a["Kind"], a["Name"], a["Max"], a["Running"] = l.Kind, l.Name, l.Max, l.Running
		q.name(a, func(j *jobqueue.Job) bool { return counts(l.Scope, j) })
		return judgement{"job_limit", a}
	}
	if found := q.nobody(j, a); found.code != "" {
		return found
	}
	capable := q.capable(j)
	free := filter(capable, func(s view.Service) bool { return len(q.on(s.Worker)) < s.Places })
	if len(free) == 0 {
		places := 0
		for _, s := range capable {
			places += s.Places
		}
		a["Places"], a["Capable"] = places, strings.Join(workersOf(capable), ", ")
		q.name(a, func(j *jobqueue.Job) bool {
			return slices.ContainsFunc(capable, func(s view.Service) bool { return s.Worker == j.Worker })
		})
		return judgement{"job_no_place", a}
	}
	a["Free"] = strings.Join(workersOf(free), ", ")
	if who, remedy, err := q.holder(j.JID); err == nil && who != "" {
		a["Who"], a["Remedy"] = who, remedy
		return judgement{"job_locked", a}
	}
	if q.now.Sub(j.Submitted) < waitsLong {
		return judgement{"job_waits", a}
	}
	return judgement{"job_not_taken", a}
}

// nobody finds that nobody who could take the job runs.
func (q *queueFacts) nobody(j *jobqueue.Job, a Args) judgement {
	living := q.living()
	has := func(s view.Service) bool { return handlerOf(&s, j.Task) != nil }
	knowing := filter(living, has)
	switch silent := q.silent(); {
	case q.unread != nil:
		a["Unread"] = q.unread
		return judgement{"job_no_executor", a}
	case len(q.capable(j)) > 0:
		return judgement{}
	case len(knowing) > 0:
		a["Knowing"] = strings.Join(workersOf(knowing), ", ")
		return judgement{"job_no_handler", a}
	case len(silent) > 0:
		a["Silent"] = strings.Join(silent, ", ")
		return judgement{"job_no_executor", a}
	case len(living) > 0:
		a["Have"], a["Near"] = handlersOf(living), nearest(j.Task, living)
		return judgement{"job_no_handler", a}
	}
	if had := filter(q.executors, has); len(had) > 0 {
		a["Had"] = had[0].Worker
	}
	return judgement{"job_no_executor", a}
}

// limit is one that keeps a job from beginning; nil: there is none.
func (q *queueFacts) limit(j *jobqueue.Job) *jobqueue.Limit {
	for i, l := range q.limits {
		if counts(l.Scope, j) && l.Running >= l.Max {
			return &q.limits[i]
		}
	}
	return nil
}

// counts reports whether a job is one of those that a limit counts.
func counts(s jobqueue.Scope, j *jobqueue.Job) bool {
	switch s.Kind {
	case jobqueue.ScopeGroup:
		return j.Group == s.Name
	case jobqueue.ScopeHandler:
		return j.Task == s.Name
	}
	return j.Tracker == s.Name
}

// mostNamed is how many jobs, or workers, a sentence names.
const mostNamed = 3

// name adds running jobs, those that have run longest, as the template jobs has them.
func (q *queueFacts) name(a Args, which func(*jobqueue.Job) bool) {
	jobs := filter(q.running, func(j jobqueue.Job) bool { return which(&j) })
	a["More"], a["Jobs"] = max(len(jobs)-mostNamed, 0), jobs[:min(len(jobs), mostNamed)]
}
