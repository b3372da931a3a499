package job

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/find"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/jobqueue"
)

func cancelCommand(env *ui.Env) *cobra.Command {
	return eachJob(env, withQueue, "cancel", "Cancel jobs; a running job is asked to end",
		func(ctx context.Context, queue *jobqueue.Queue, jid string) (string, error) {
			state, err := queue.Cancel(ctx, jid)
			if state == jobqueue.Cancelled {
				return "cancelled", err
			}
			return "asked to end, as it is " + string(state) + ":", err
		})
}

func retryCommand(env *ui.Env) *cobra.Command {
	return eachJob(env, wakingQueue, "retry", "Run jobs that have ended again",
		func(ctx context.Context, queue *jobqueue.Queue, jid string) (string, error) {
			return "waiting again:", queue.Retry(ctx, jid)
		})
}

// queueUser runs something with the queue: withQueue or wakingQueue.
type queueUser func(context.Context, *ui.Env, func(*jobqueue.Queue) error) error

// eachJob makes a command that does something with one job after another, and
// says what it did.
func eachJob(env *ui.Env, with queueUser, use, short string, do func(context.Context, *jobqueue.Queue, string) (string, error)) *cobra.Command {
	return &cobra.Command{
		Use:   use + " JOB...",
		Short: short,
		Long:  short + ". The beginning of an id is enough, or any 4 other characters of it, if no other\njob matches.",
		Args:  ui.SeveralArguments("JOB"),
		RunE: func(c *cobra.Command, texts []string) error {
			return with(c.Context(), env, func(queue *jobqueue.Queue) error {
				jids := make([]string, len(texts))
				for i, text := range texts { // all of them before any is changed
					var err error
					if jids[i], err = find.Job(c.Context(), queue, text); err != nil {
						return err
					}
				}
				for _, jid := range jids {
					done, err := do(c.Context(), queue, jid)
					if err != nil {
						return err
					}
					if err := env.Printf("%s %s\n", done, ui.Cell(jid)); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}
