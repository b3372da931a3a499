package diagnosis

import (
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/internal/figures"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/reasons"
)

// ofJobs says what the job that is not final waits for.
func ofJobs(f *Facts) []Finding {
	if f.pending == nil {
		return nil
	}
	if f.Task.Sink != periodic.SinkJob || len(f.Jobs) == 0 || f.queue == nil {
		return []Finding{{jobElsewhere, capital(reasons.PendingText(f.pending, f.Now)) + fmt.Sprintf(" in the queue %q.", f.Task.Sink), ""}}
	}
	j, subject, open := &f.Jobs[0], "Its job", 0
	for i := range f.Jobs {
		if !f.Jobs[i].State.Final() {
			open++
		}
		if open > 1 {
			subject = "One of its jobs"
		}
		if f.Jobs[i].JID == f.pending.JID {
			j = &f.Jobs[i]
		}
	}
	return []Finding{f.queue.of(j, subject)}
}

// of explains a job that is not final. The sentence is about a subject, such as "Its job".
func (q *queueFacts) of(j *jobqueue.Job, subject string) Finding {
	switch {
	case j.Foreign():
		return Finding{jobForeign, fmt.Sprintf("%s is %s with another kind of executor: %s.", subject, j.State, j.Worker), ""}
	case j.State == jobqueue.Stuck:
		return q.retrying(j, subject)
	case j.State != jobqueue.Waiting:
		return q.inWork(j, subject)
	case j.Retry.After(q.now):
		return Finding{jobWaitsForTime, fmt.Sprintf("%s is to begin %s, at %s.", subject, when(j.Retry, q.now), at(j.Retry)), ""}
	}
	f := q.waiting(j)
	since := j.Submitted
	if j.Retry.After(since) {
		since = j.Retry
	}
	if !j.Started.IsZero() { // since when is not in the row
		f.Text = fmt.Sprintf("%s waits again, because an executor that had it has ended or given it back: %s.", subject, f.Text)
		return f
	}
	f.Text = fmt.Sprintf("%s has been waiting for %s: %s.", subject, text.Text(q.now.Sub(since)), f.Text)
	return f
}

// retrying explains a job that has failed and is tried again.
func (q *queueFacts) retrying(j *jobqueue.Job, subject string) Finding {
	attempt := fmt.Sprintf("attempt %d", j.Retries+1) // the one that failed is counted already
	if most := q.attempts(j); most > j.Retries {
		attempt += fmt.Sprintf(" of %d", most)
	}
	if f, nobody := q.noExecutor(j); nobody && j.Retry.After(q.now) {
		f.Text = fmt.Sprintf("%s failed, and %s is due %s. Now %s.", subject, attempt, when(j.Retry, q.now), f.Text)
		return f
	}
	if overdue := q.now.Sub(j.Retry); overdue > overdueAfter {
		f := q.waiting(j)
		f.Text = fmt.Sprintf("%s failed, and %s has been due for %s: %s.", subject, attempt, text.Text(overdue), f.Text)
		return f
	}
	return Finding{jobRetrying, fmt.Sprintf("%s failed and is tried again %s: %s.", subject, when(j.Retry, q.now), attempt), "to try it now: nextrun job retry " + j.JID}
}

// inWork explains a job that an executor has.
func (q *queueFacts) inWork(j *jobqueue.Job, subject string) Finding {
	if name, _, ours := strings.Cut(j.Worker, service.BootMark); j.State == jobqueue.Scheduled && ours {
		return Finding{jobClaimed, fmt.Sprintf("%s has been claimed by %s, and has not begun.", subject, name), ""}
	}
	seen := q.seen(j)
	if q.now.Sub(seen) <= silentLong {
		return Finding{JobRunning, fmt.Sprintf("%s has been running for %s on %s.", subject, text.Text(q.now.Sub(j.Started)), j.Worker), "to follow it: nextrun job log --follow " + j.JID}
	}
	what := fmt.Sprintf("%s runs on %s, which last gave a sign of life %s", subject, j.Worker, when(seen, q.now))
	if q.now.Sub(seen) > endedLong {
		what += ", and seems to have ended"
	}
	if others := filter(q.living(), func(s figures.Service) bool { return s.Worker != j.Worker }); len(others) == 0 {
		return Finding{jobSilent, what + ". No other executor runs that could take the job back, as far as the database shows.", "start one: nextrun executor --config FILE"}
	}
	return Finding{jobSilent, what + ". Another executor takes the job back within " + text.Text(takenWithin) + ", and runs it again.", ""}
}

const (
	// silentLong is how long the worker of a running job may be silent until that is said: it says every 2 s that it lives.
	silentLong = 8 * time.Second
	// endedLong is how long until it seems to have ended.
	endedLong = 30 * time.Second
	// takenWithin is how soon the others take the jobs of a dead worker.
	takenWithin = 12 * time.Second
)

// seen is when the worker of a running job last said that it lives.
func (q *queueFacts) seen(j *jobqueue.Job) time.Time {
	for _, s := range q.executors {
		if s.Worker == j.Worker {
			return s.Seen
		}
	}
	return j.Started
}
