package diagnosis

import (
	"context"
	"slices"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/ops/internal/figures"
	"github.com/nextrun/nextrun/store"
)

// mostRunning is how many running jobs are looked at.
const mostRunning = 10_000

// queueFacts is what decides when a job of nextrun's own queue begins.
type queueFacts struct {
	now       time.Time
	limits    []jobqueue.Limit
	running   []jobqueue.Job    // those that an executor has, the longest first
	executors []figures.Service // also those that were killed
	unread    error             // why the executors cannot be read
	holder    func(jid string) (who, remedy string, err error)
}

func readQueue(ctx context.Context, db *store.DB) (q *queueFacts, err error) {
	queue := jobqueue.NewQueue(db.Jobs())
	q = &queueFacts{holder: func(jid string) (string, string, error) { return figures.Of(db).JobHolder(ctx, jid) }}
	err = db.View(ctx, func(tx *store.Tx) error { q.now = tx.Now(); return nil })
	if err != nil {
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
	services, err := figures.Of(db).Services(ctx)
	q.unread = err
	for _, s := range services {
		if s.Kind == figures.Executor {
			q.executors = append(q.executors, s)
		}
	}
	return q, ctx.Err()
}

// OfJob explains where a job of nextrun's own queue is that is not final, and why; nothing
// of one that is.
func OfJob(ctx context.Context, db *store.DB, job *jobqueue.Job) ([]Finding, error) {
	if job.State.Final() {
		return nil, nil
	}
	q, err := readQueue(ctx, db)
	if err != nil {
		return nil, err
	}
	return []Finding{q.of(job, "It")}, nil
}

// living are the executors that run, as far as the database shows.
func (q *queueFacts) living() []figures.Service { return filter(q.executors, isLiving) }

func isLiving(s figures.Service) bool { return s.Lives }

// silent are the workers of running jobs that publish nothing, or what cannot be read.
func (q *queueFacts) silent() (workers []string) {
	for i := range q.running {
		j := &q.running[i]
		at := slices.IndexFunc(q.executors, func(s figures.Service) bool { return s.Worker == j.Worker })
		if at < 0 && !j.Foreign() {
			workers = append(workers, j.Worker)
		}
	}
	for _, s := range q.living() {
		if s.Unclear {
			workers = append(workers, s.Worker)
		}
	}
	slices.Sort(workers)
	return slices.Compact(workers)
}

// those are the running jobs for which something is true.
func (q *queueFacts) those(is func(*jobqueue.Job) bool) []jobqueue.Job {
	return filter(q.running, func(j jobqueue.Job) bool { return is(&j) })
}

// handlerOf is what an executor says of its handler of that name; nil: it has none.
func handlerOf(s *figures.Service, name string) *exchange.HandlerLimits {
	for i := range s.Handlers {
		if s.Handlers[i].Name == name {
			return &s.Handlers[i]
		}
	}
	return nil
}

// attempts is how often a job is tried at most; 0: not known, or executors disagree.
func (q *queueFacts) attempts(j *jobqueue.Job) int {
	if j.Limits.RetryLimit != 0 {
		return max(j.Limits.RetryLimit, 0) + 1
	}
	most := 0
	for _, s := range q.living() {
		if h := handlerOf(&s, j.Task); h != nil {
			if most != 0 && most != h.Attempts {
				return 0
			}
			most = h.Attempts
		}
	}
	return most
}

func filter[T any](list []T, keep func(T) bool) (kept []T) {
	for _, one := range list {
		if keep(one) {
			kept = append(kept, one)
		}
	}
	return kept
}
