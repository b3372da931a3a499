package jobqueue

import (
	"context"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue/backend"
)

// Get returns a job.
func (q *Queue) Get(ctx context.Context, jid string) (Job, error) {
	var job Job
	err := q.store.View(ctx, func(tx backend.QueueTx) (err error) {
		job, err = tx.Job(ctx, jid)
		return err
	})
	return job, err
}

// List returns jobs, those submitted last first, without their args.
func (q *Queue) List(ctx context.Context, filter Filter) ([]Job, error) {
	service.SetDefault(&filter.Limit, DefaultListLimit)
	var jobs []Job
	err := q.store.View(ctx, func(tx backend.QueueTx) (err error) {
		jobs, err = tx.Jobs(ctx, filter)
		return err
	})
	return jobs, err
}

// Logs returns lines of a job's log, oldest first. To follow a log, call it
// again with the Counter of the last line until the job is final and no line
// is left. A job without a log, or that does not exist, has no lines.
func (q *Queue) Logs(ctx context.Context, filter LogFilter) ([]LogLine, error) {
	service.SetDefault(&filter.Limit, DefaultListLimit)
	var lines []LogLine
	err := q.store.View(ctx, func(tx backend.QueueTx) (err error) {
		lines, err = tx.Lines(ctx, filter)
		return err
	})
	return lines, err
}
