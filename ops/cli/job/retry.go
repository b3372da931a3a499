package job

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/find"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func retryCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "retry JOB...",
		Short: "Run jobs that have ended again",
		Long: `Run jobs that have ended again. A part of an id is enough, if no other job's has it.

A job of River, Graphile Worker or pg-boss that failed or was cancelled is put back into
its queue: give the id that "nextrun tick list" shows, whole.`,
		Args: ui.SeveralArguments("JOB"),
		RunE: func(c *cobra.Command, texts []string) error {
			return env.WithQueues(c.Context(), func(db *store.DB, queues ui.Queues) error {
				return ui.Notifying(c.Context(), env, db, func(n *ui.Notifiers) error {
					defer n.Submitted(periodic.SinkJob) // also what was done before an error
					return useQueue(db, func(own *jobqueue.Queue) error {
						r := retrier{own, periodic.NewTasks(db.Tasks()).With(queues)}
						return eachJob(env, texts, r.find(c.Context()), r.retry(c.Context()))
					})
				})
			})
		},
	}
}

// retrier puts jobs back into nextrun's own queue and into others.
type retrier struct {
	own   *jobqueue.Queue
	tasks *periodic.Tasks
}

// find finds the id of a job in nextrun's own queue, or as it is in the record of a tick.
func (r retrier) find(ctx context.Context) func(string) (string, error) {
	return func(text string) (string, error) {
		jid, err := find.Job(ctx, r.own, text)
		if !errors.Is(err, store.ErrNotFound) {
			return jid, err
		}
		ticks, tickErr := r.tasks.Ticks(ctx, periodic.TickFilter{JID: text, Limit: 1})
		if tickErr != nil {
			return "", tickErr
		}
		if text == "" || len(ticks) == 0 {
			return "", err
		}
		return text, nil
	}
}

func (r retrier) retry(ctx context.Context) func(string) (string, error) {
	return func(jid string) (string, error) {
		err := r.own.Retry(ctx, jid)
		if errors.Is(err, store.ErrNotFound) {
			err = r.tasks.Retry(ctx, jid)
		}
		return "waiting again:", err
	}
}
