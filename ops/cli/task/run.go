package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func runCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "run ID...",
		Short: "Run tasks now, in addition to their timers",
		Long: `Run tasks now: the command submits a job for each itself, also for tasks that are
disabled or paused, and the timers continue as before. A task that must not overlap is
not run while a job of it has not ended. For tasks of other queues the command needs
the configuration of these.`,
		Args: ui.SeveralArguments("ID"),
		RunE: func(c *cobra.Command, ids []string) error {
			return env.WithQueues(c.Context(), func(db *store.DB, queues ui.Queues) error {
				return ui.Notifying(c.Context(), env, db, func(n *ui.Notifiers) error {
					tasks := periodic.NewTasks(db.Tasks()).With(queues)
					for _, id := range ids {
						if err := runTask(c.Context(), env, tasks, n, id); err != nil {
							return taskProblem(err)
						}
					}
					return nil
				})
			})
		},
	}
}

// runTask has a task run now, and says so.
func runTask(ctx context.Context, env *ui.Env, tasks *periodic.Tasks, n *ui.Notifiers, id string) error {
	t, err := tasks.Get(ctx, id)
	if err != nil {
		return err
	}
	if err := tasks.RunNow(ctx, id); err != nil {
		return err
	}
	n.Submitted(t.Sink)
	ticks, err := tasks.Ticks(ctx, periodic.TickFilter{TaskID: id, Decision: periodic.Submitted, Limit: 1})
	if err != nil || len(ticks) == 0 {
		return err
	}
	text := ""
	if t.Pause.At(env.Now()) {
		text = " (it is paused, and runs once all the same)"
	}
	return env.Printf("%s: %s %s%s\n", id, t.Sink, ticks[0].JID, text)
}
