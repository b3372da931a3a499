package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/notify"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store"
)

func backfillCommand(env *ui.Env) *cobra.Command {
	from, to := ui.TimeFlag{Past: true}, ui.TimeFlag{Past: true}
	command := &cobra.Command{
		Use:   "backfill ID --from TIME [--to TIME]",
		Short: "Submit jobs for past ticks that never ran",
		Long: `Submit jobs for past ticks of the task's current timer, oldest first: ticks that
were missed, skipped or late, and ticks of a time without a scheduler or without
the task. If the jobs of the task must not overlap, each is submitted when the one
before has ended. Run the command again to continue after an interruption: no tick
gets a second job.`,
		Example: `  nextrun task backfill nightly-backup --from 2026-03-01 --to 2026-03-08`,
		Args:    ui.Arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if from.Value.IsZero() {
				return ui.Usagef("missing --from TIME")
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return env.Submitting(ctx, func(db *store.DB, tasks *periodic.Tasks, n *notify.Notifier) error {
				b, now := periodic.Backfill{From: from.Value, To: to.Value}, env.Now().Add(db.ClockSkew())
				if b.To.IsZero() {
					b.To = now
				}
				switch {
				case b.To.After(now):
					return ui.Usagef("--to is in the future; use a time that has passed")
				case b.From.After(now):
					return ui.Usagef("--from is in the future; use a time that has passed")
				case !b.From.Before(b.To):
					return ui.Usagef("--from must be before --to")
				}
				return backfill(ctx, env, tasks, n, args[0], b)
			})
		},
	}
	command.Flags().Var(&from, "from", "ticks at or after this time")
	command.Flags().Var(&to, "to", "ticks before this time (default now)")
	return command
}

func backfill(ctx context.Context, env *ui.Env, tasks *periodic.Tasks, n *notify.Notifier, id string, b periodic.Backfill) error {
	task, err := tasks.Get(ctx, id)
	if err != nil {
		return taskProblem(err)
	}
	submitted, had, waits := 0, 0, false
	b.Report = func(due time.Time, jid string) {
		if jid == "" {
			had++
			return
		}
		submitted++
		n.Submitted(task.Sink)
		fmt.Fprintf(env.Stdout, "%s  job %s\n", env.Moment(due), jid)
	}
	b.Waits = func(_ time.Time, job sink.Pending) {
		if !waits {
			env.Complain("waiting for the end of job %s, which is %s: the jobs of %s must not overlap", job.JID, job.State.Word(), id)
		}
		waits = true
	}
	err = taskProblem(tasks.Backfill(ctx, id, b))
	if err := env.Printf("submitted: %d, already had jobs: %d\n", submitted, had); err != nil {
		return err
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return errors.New("stopped before all were submitted; run the same command to continue")
	}
	return err
}
