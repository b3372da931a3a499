package why

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// ofJob are the args of a code if it says where the job of a task is.
func ofJob(code view.Code) func(*Explanation) []Args {
	return func(e *Explanation) []Args { return when(e.where == code, e.about) }
}

// ExplainJob explains where a job of nextrun's own queue is that is not final, and why; nothing
// of one that is.
func ExplainJob(ctx context.Context, db *store.DB, job *jobqueue.Job, zone *time.Location) ([]Finding, error) {
	if job.State.Final() {
		return nil, nil
	}
	q, err := readFacts(ctx, db, job.JID)
	if err != nil {
		return nil, err
	}
	code, about := q.judge(job, "It")
	about["ID"] = job.Tracker
	return []Finding{word(code, about, q.now, zone)}, nil
}

// mostRunning is how many running jobs are looked at.
const mostRunning = 10_000

// queueFacts is what decides when a job of nextrun's own queue begins.
type queueFacts struct {
	now       time.Time
	limits    []jobqueue.Limit
	running   []jobqueue.Job // those that an executor has, the longest first
	executors []view.Service // also those that were killed
	holder    *holder        // has locked the row of the job; nil: nobody
}

// readFacts reads what decides when a job begins.
func readFacts(ctx context.Context, db *store.DB, jid string) (q *queueFacts, err error) {
	queue := jobqueue.NewQueue(db.Jobs())
	if q, err = readExecutors(ctx, db); err != nil {
		return nil, err
	}
	if q.limits, err = queue.Limits(ctx); err != nil {
		return nil, err
	}
	q.running, err = queue.List(ctx, jobqueue.Filter{States: []jobqueue.State{jobqueue.Scheduled, jobqueue.Running}, Limit: mostRunning})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(q.running, func(a, b jobqueue.Job) int { return a.Started.Compare(b.Started) })
	q.holder, err = rowHolder(ctx, db, "job", "jid", jid)
	return q, err
}

// readExecutors reads which executors there are.
func readExecutors(ctx context.Context, db *store.DB) (*queueFacts, error) {
	services, err := view.Of(db).Services(ctx)
	if err != nil {
		return nil, err
	}
	q := &queueFacts{executors: filter(services, func(s view.Service) bool { return s.Kind == view.Executor })}
	return q, sqldb.Of(db).View(ctx, func(tx *sqldb.Tx) error { q.now = tx.Now(); return nil })
}

// living are the executors that run, as far as the database shows.
func (q *queueFacts) living() []view.Service {
	return filter(q.executors, func(s view.Service) bool { return s.Lives })
}

// judge explains a job that is not final. The sentence is about a subject, such as "Its job".
func (q *queueFacts) judge(j *jobqueue.Job, subject string) (view.Code, Args) {
	a := Args{"Subject": subject, "JID": j.JID, "Handler": j.Task, "Group": j.Group, "Task": j.Tracker, "State": j.State.Word(), "Worker": j.Worker, "Retry": j.Retry}
	if j.Retries > 0 {
		a["Error"] = j.Result // of the attempt before
	}
	switch {
	case j.Foreign():
		a["Foreign"] = true
		return "job_running", a
	case j.State == jobqueue.Stuck:
		return q.retrying(j, a)
	case j.State != jobqueue.Waiting:
		return q.inWork(j, a)
	case j.Retry.After(q.now):
		a["Begins"] = j.Retry
		return "job_waits", a
	}
	a["From"], a["Again"] = latest(j.Submitted, j.Retry), !j.Started.IsZero() // then it is not in the row since when it waits
	return q.waiting(j, a)
}

// retrying explains a job that has failed and is tried again.
func (q *queueFacts) retrying(j *jobqueue.Job, a Args) (view.Code, Args) {
	attempt := "attempt " + strconv.Itoa(j.Retries+1) // the one that failed is counted already
	if most := q.attempts(j); most > j.Retries {
		attempt += " of " + strconv.Itoa(most)
	}
	a["Attempt"], a["From"] = attempt, j.Retry
	if q.now.Sub(j.Retry) > periodic.OverdueAfter {
		return q.waiting(j, a)
	}
	if code := q.nobody(j, a); code != "" && j.Retry.After(q.now) {
		a["Soon"] = true
		return code, a
	}
	return "job_retrying", a
}

// attempts is how often a job is tried at most; 0: not known.
func (q *queueFacts) attempts(j *jobqueue.Job) int {
	if j.Limits.RetryLimit != 0 {
		return max(j.Limits.RetryLimit, 0) + 1
	}
	for _, s := range q.living() {
		for _, h := range s.Handlers {
			if h.Name == j.Task {
				return h.Attempts
			}
		}
	}
	return 0
}

const (
	// silentLong is how long the worker of a running job may be silent until that is said: it says every 2 s that it lives.
	silentLong = 8 * time.Second
	// endedLong is how long until it seems to have ended.
	endedLong = 30 * time.Second
)

// inWork explains a job that an executor has.
func (q *queueFacts) inWork(j *jobqueue.Job, a Args) (view.Code, Args) {
	if name, _, ours := strings.Cut(j.Worker, service.BootMark); j.State == jobqueue.Scheduled && ours {
		a["Claimed"] = name
		return "job_waits", a
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
		return "job_running", a
	}
	return "job_silent", a
}

// waiting says why a job that may begin does not.
func (q *queueFacts) waiting(j *jobqueue.Job, a Args) (view.Code, Args) {
	for _, l := range q.limits {
		if counts(l.Scope, j) && l.Running >= l.Max {
			a["Kind"], a["Name"], a["Max"], a["Running"] = l.Kind, l.Name, l.Max, l.Running
			q.name(a, func(j *jobqueue.Job) bool { return counts(l.Scope, j) })
			return "job_limit", a
		}
	}
	if code := q.nobody(j, a); code != "" {
		return code, a
	}
	capable, places := q.capable(j), 0
	free := filter(capable, func(s view.Service) bool {
		places += s.Places
		return len(filter(q.running, func(j jobqueue.Job) bool { return j.Worker == s.Worker })) < s.Places
	})
	a["Free"] = workersOf(free)
	switch {
	case len(free) == 0:
		a["Places"], a["Capable"] = places, workersOf(capable)
		q.name(a, func(j *jobqueue.Job) bool {
			return slices.ContainsFunc(capable, func(s view.Service) bool { return s.Worker == j.Worker })
		})
		return "job_no_place", a
	case q.holder != nil:
		a["Who"], a["Remedy"] = q.holder.Who(), q.holder.Remedy()
	case q.now.Sub(j.Submitted) < waitsLong:
		return "job_waits", a
	}
	return "job_not_taken", a
}

// capable are the executors that run, have its handler, and take jobs of its group.
func (q *queueFacts) capable(j *jobqueue.Job) []view.Service {
	return filter(q.living(), func(s view.Service) bool {
		return s.Has(j.Task) && (len(s.Groups) == 0 || slices.Contains(s.Groups, j.Group))
	})
}

// nobody finds that nobody who could take the job runs; empty: somebody does.
func (q *queueFacts) nobody(j *jobqueue.Job, a Args) view.Code {
	living := q.living()
	switch knowing := filter(living, func(s view.Service) bool { return s.Has(j.Task) }); {
	case len(q.capable(j)) > 0:
		return ""
	case len(knowing) > 0:
		a["Knowing"] = workersOf(knowing)
		return "job_no_handler"
	case len(living) > 0:
		a["Have"], a["Near"] = handlersOf(living, j.Task)
		return "job_no_handler"
	}
	for _, s := range q.executors {
		if s.Has(j.Task) {
			a["Had"] = s.Worker
		}
	}
	return "job_no_executor"
}

// counts reports whether a job is one of those that a limit counts.
func counts(s jobqueue.Scope, j *jobqueue.Job) bool {
	return map[jobqueue.ScopeKind]string{jobqueue.ScopeGroup: j.Group, jobqueue.ScopeHandler: j.Task, jobqueue.ScopeTask: j.Tracker}[s.Kind] == s.Name
}

// name adds running jobs, those that have run longest, as the template jobs has them.
func (q *queueFacts) name(a Args, which func(*jobqueue.Job) bool) {
	jobs := filter(q.running, func(j jobqueue.Job) bool { return which(&j) })
	a["More"], a["Jobs"] = max(len(jobs)-mostNamed, 0), jobs[:min(len(jobs), mostNamed)]
}

func filter[T any](list []T, keep func(T) bool) (kept []T) {
	for _, one := range list {
		if keep(one) {
			kept = append(kept, one)
		}
	}
	return kept
}
