package jobqueue

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/internal/service"
)

// OverlapError is returned by Submit and Retry if a tracker, whose jobs are single,
// would get a second pending job.
type OverlapError struct {
	Tracker string
	JID     string // the pending job
}

// Error names the other job and the remedy.
func (e *OverlapError) Error() string {
	return fmt.Sprintf("job %s of %s is still pending, and they must not overlap; wait for it, or cancel it first",
		e.JID, e.Tracker)
}

// Queue puts jobs into the queue, watches and changes them. It is safe for
// concurrent use. Each method runs in its own transaction, unless [Queue.In]
// returned the queue.
//
// Groups of jobs take turns; within a group, by default 3 jobs of high priority go to 1 of
// low, the oldest first. Limits ([Queue.SetLimit]) bound how many jobs of a group, of a handler
// and of a periodic task run at once, over all executors.
type Queue struct {
	store  QueueStore
	tracer SendTracer // nil: no spans
}

// NewQueue returns the queue of a database: NewQueue(db.Jobs()).
func NewQueue(store QueueStore) *Queue { return &Queue{store: store} }

// In returns the same queue inside the caller's transaction: what its methods do
// takes effect when that is committed. If one returns an error, roll the
// transaction back.
func (q *Queue) In(tx DBTX) *Queue { return &Queue{inTx{q.store, tx}, q.tracer} }

// inTx is a queue's store inside the caller's transaction.
type inTx struct {
	QueueStore
	tx DBTX
}

func (s inTx) Update(ctx context.Context, fn func(QueueTx) error) error {
	joined, err := s.Join(ctx, s.tx)
	if err != nil {
		return err
	}
	return fn(joined)
}

func (s inTx) Prune(ctx context.Context, filter PruneFilter) (int, error) {
	joined, err := s.Join(ctx, s.tx)
	if err != nil {
		return 0, err
	}
	return joined.Prune(ctx, filter)
}

func (s inTx) View(ctx context.Context, fn func(QueueTx) error) error {
	return s.Update(ctx, fn)
}

// view returns what fn reads in a transaction.
func view[T any](ctx context.Context, q *Queue, fn func(QueueTx) (T, error)) (value T, err error) {
	err = q.store.View(ctx, func(tx QueueTx) error {
		value, err = fn(tx)
		return err
	})
	return value, err
}

// update returns what fn returns, in a transaction that it changes.
func update[T any](ctx context.Context, q *Queue, fn func(QueueTx) (T, error)) (value T, err error) {
	err = q.store.Update(ctx, func(tx QueueTx) error {
		value, err = fn(tx)
		return err
	})
	return value, err
}

// Get returns a job.
func (q *Queue) Get(ctx context.Context, jid string) (Job, error) {
	return view(ctx, q, func(tx QueueTx) (Job, error) { return tx.Job(ctx, jid) })
}

// List returns jobs, those submitted last first unless the filter says otherwise, without their args.
func (q *Queue) List(ctx context.Context, filter Filter) ([]Job, error) {
	service.SetDefault(&filter.Limit, DefaultListLimit)
	return view(ctx, q, func(tx QueueTx) ([]Job, error) { return tx.Jobs(ctx, filter) })
}

// Logs returns lines of a job's log, oldest first. To follow a log, call it
// again with the Counter of the last line until the job is final and no line
// is left. A job without a log, or that does not exist, has no lines.
func (q *Queue) Logs(ctx context.Context, filter LogFilter) ([]LogLine, error) {
	service.SetDefault(&filter.Limit, DefaultListLimit)
	return view(ctx, q, func(tx QueueTx) ([]LogLine, error) { return tx.Lines(ctx, filter) })
}
