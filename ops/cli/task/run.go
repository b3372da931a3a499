package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/rows"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/notify"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func runCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "run ID...",
		Short: "Run tasks now, in addition to their timers",
		Long: `Submit a job for each of these tasks now, also if a task is disabled or paused. The
timers go on. A task that must not overlap is not run while a job of it has not
ended. For a task of another queue, name the configuration of that queue.`,
		Args: ui.Arguments("ID", "..."),
		RunE: func(c *cobra.Command, ids []string) error {
			return env.Submitting(c.Context(), func(_ *store.DB, tasks *periodic.Tasks, n *notify.Notifier) error {
				return taskProblem(rows.Each(env, ids, func(id string) (string, error) { return runTask(c.Context(), env, tasks, n, id) }))
			})
		},
	}
}

// runTask has a task run now, and returns what it did.
func runTask(ctx context.Context, env *ui.Env, tasks *periodic.Tasks, n *notify.Notifier, id string) (string, error) {
	t, err := tasks.Get(ctx, id)
	if err == nil {
		err = tasks.RunNow(ctx, id)
	}
	if err != nil {
		return "", err
	}
	n.Submitted(t.Sink)
	ticks, err := tasks.Ticks(ctx, periodic.TickFilter{TaskID: id, Decision: periodic.Submitted, Limit: 1})
	if err != nil || len(ticks) == 0 {
		return "", err
	}
	done := id + ": " + string(t.Sink) + " " + ticks[0].JID
	if t.Pause.At(env.Now()) {
		done += " (it is paused, and runs once all the same)"
	}
	return done, nil
}
