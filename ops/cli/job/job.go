package job

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/find"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/store"
)

// Command returns `nextrun job` with its commands.
func Command(env *ui.Env) *cobra.Command {
	return ui.Group(&cobra.Command{
		Use:   "job",
		Short: "Show and change jobs",
	},
		listCommand(env), showCommand(env), logCommand(env), submitCommand(env),
		cancelCommand(env), retryCommand(env), pruneCommand(env), limitCommand(env),
	)
}

// withQueue runs fn with the queue of the database.
func withQueue(ctx context.Context, env *ui.Env, fn func(*jobqueue.Queue) error) error {
	return env.WithDatabase(ctx, func(db *store.DB) error { return useQueue(db, fn) })
}

func useQueue(db *store.DB, fn func(*jobqueue.Queue) error) error {
	err := fn(jobqueue.NewQueue(db.Jobs()))
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w; see: nextrun job list", err)
	}
	return err
}

// withJob runs fn with the job that a text means: an id or a part of one, or with
// last the id of a task, whose newest job it is.
func withJob(ctx context.Context, env *ui.Env, text string, last bool, fn func(*store.DB, jobqueue.Job) error) error {
	return env.WithDatabase(ctx, func(db *store.DB) error {
		return useQueue(db, func(queue *jobqueue.Queue) error {
			read := func() (string, error) { return find.Job(ctx, queue, text) }
			if last {
				read = func() (string, error) { return find.LastJob(ctx, db, text) }
			}
			jid, err := read()
			if err != nil {
				return err
			}
			job, err := getJob(ctx, queue, jid)
			if err != nil {
				return err
			}
			return fn(db, job)
		})
	})
}

// lastFlag adds --last to a command about one job.
func lastFlag(command *cobra.Command, last *bool) {
	command.Flags().BoolVar(last, "last", false, "the argument is the id of a task: show its newest job")
}

// getJob reads a job; its error names it.
func getJob(ctx context.Context, queue *jobqueue.Queue, jid string) (jobqueue.Job, error) {
	job, err := queue.Get(ctx, jid)
	if err != nil {
		err = fmt.Errorf("job %s: %w", jid, err)
	}
	return job, err
}
