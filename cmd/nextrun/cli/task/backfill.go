package task

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func backfillCommand(env *ui.Env) *cobra.Command {
	var from, to ui.TimeFlag
	var pace time.Duration
	command := &cobra.Command{
		Use:   "backfill ID --from TIME [--to TIME]",
		Short: "Submit the jobs of ticks of the past that have had none",
		Long: `Submit the jobs of ticks that the task's timer, as it is now, had in the past,
oldest first: those that were missed, skipped or late, and those of a time in
which there was no scheduler or no such task. A task that must not overlap has
the next job submitted when the one before has ended. Done again it goes on where
it was; nothing is submitted twice.`,
		Example: `  nextrun task backfill nightly-backup --from 2026-03-01 --to 2026-03-08 --pace 1m`,
		Args:    ui.Arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if from.Value.IsZero() {
				return ui.Usagef("missing --from TIME")
			}
			if pace < 0 {
				return ui.Usagef("--pace is %s; use 0 or more", pace)
			}
			return env.WithDatabase(c.Context(), func(db *store.DB) error {
				b := periodic.Backfill{From: from.Value, To: to.Value, Pace: pace}
				return backfill(c.Context(), env, db, args[0], b)
			})
		},
	}
	command.Flags().Var(&from, "from", "ticks from that time on")
	command.Flags().Var(&to, "to", "ticks before that time (default now)")
	command.Flags().DurationVar(&pace, "pace", 0, "least time between two jobs")
	return command
}

func backfill(ctx context.Context, env *ui.Env, db *store.DB, id string, b periodic.Backfill) error {
	now := env.Now().Add(db.ClockSkew())
	if b.To.IsZero() {
		b.To = now
	}
	if b.To.After(now) {
		return ui.Usagef("--to lies in the future; those ticks are yet to come")
	}
	if !b.From.Before(b.To) {
		return ui.Usagef("--from must be before --to")
	}
	submitted, had := 0, 0
	b.Report = func(due time.Time, jid string) {
		if jid == "" {
			had++
			return
		}
		submitted++
		fmt.Fprintf(env.Stdout, "%s  job %s\n", env.Moment(due), jid)
	}
	told := false
	b.Waits = func(_ time.Time, job periodic.Pending) {
		if !told {
			told = true
			env.Complain("waiting for the end of job %s, which is %s: the jobs of %s must not overlap", job.JID, job.State, id)
		}
	}
	err := taskProblem(periodic.NewTasks(db.Tasks()).Backfill(ctx, id, b))
	if err := env.Printf("submitted: %d, had their jobs before: %d\n", submitted, had); err != nil {
		return err
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return errors.New("ended before all were submitted; the same command goes on")
	}
	return err
}
