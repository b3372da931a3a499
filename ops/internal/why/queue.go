package why

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/store"
)

// mostRunning is how many running jobs are looked at.
const mostRunning = 10_000

// queueFacts is what decides when a job of nextrun's own queue begins.
type queueFacts struct {
	now       time.Time
	limits    []jobqueue.Limit
	running   []jobqueue.Job // those that an executor has, the longest first
	executors []view.Service // also those that were killed
	unread    error          // why the executors cannot be read
	holder    func(jid string) (who, remedy string, err error)
}

func readQueue(ctx context.Context, db *store.DB) (q *queueFacts, err error) {
	queue := jobqueue.NewQueue(db.Jobs())
	q = &queueFacts{holder: func(jid string) (string, string, error) { return jobHolder(ctx, db, jid) }}
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
	services, err := view.Of(db).Services(ctx)
	q.unread = err
	q.executors = filter(services, func(s view.Service) bool { return s.Kind == view.Executor })
	return q, ctx.Err()
}

// living are the executors that run, as far as the database shows.
func (q *queueFacts) living() []view.Service {
	return filter(q.executors, func(s view.Service) bool { return s.Lives })
}

// capable are the executors that run, have its handler, and take jobs of its group.
func (q *queueFacts) capable(j *jobqueue.Job) []view.Service {
	return filter(q.living(), func(s view.Service) bool {
		return handlerOf(&s, j.Task) != nil && (len(s.Groups) == 0 || slices.Contains(s.Groups, j.Group))
	})
}

// on are the jobs that an executor has.
func (q *queueFacts) on(worker string) []jobqueue.Job {
	return filter(q.running, func(j jobqueue.Job) bool { return j.Worker == worker })
}

// silent are the workers of running jobs that publish nothing, or what cannot be read.
func (q *queueFacts) silent() (workers []string) {
	for i := range q.running {
		j := &q.running[i]
		if !j.Foreign() && !slices.ContainsFunc(q.executors, func(s view.Service) bool { return s.Worker == j.Worker }) {
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

// handlerOf is what an executor says of its handler of that name; nil: it has none.
func handlerOf(s *view.Service, name string) *exchange.HandlerLimits {
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

func workersOf(list []view.Service) (names []string) {
	for i, s := range list {
		if i == mostNamed {
			return append(names, fmt.Sprintf("%d more", len(list)-i))
		}
		names = append(names, s.Worker)
	}
	return names
}

// handlersOf says which handlers executors have.
func handlersOf(list []view.Service) string {
	var texts []string
	for i, s := range list {
		if i == mostNamed {
			texts = append(texts, fmt.Sprintf("there are %d more", len(list)-i))
			break
		}
		var names []string
		for _, h := range s.Handlers {
			names = append(names, h.Name)
		}
		texts = append(texts, s.Worker+" has "+strings.Join(names, ", "))
	}
	return strings.Join(texts, "; ")
}

// nearest is the handler of these executors whose name differs by two letters at most, if there is just one; empty: there is none.
func nearest(name string, list []view.Service) (near string) {
	const most = 2
	for _, s := range list {
		for _, h := range s.Handlers {
			switch {
			case h.Name == near || distance(name, h.Name) > most || len(name) <= most:
			case near != "":
				return ""
			default:
				near = h.Name
			}
		}
	}
	return near
}

// distance is how many letters have to be added, removed or replaced to make one word of another.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

func filter[T any](list []T, keep func(T) bool) (kept []T) {
	for _, one := range list {
		if keep(one) {
			kept = append(kept, one)
		}
	}
	return kept
}
