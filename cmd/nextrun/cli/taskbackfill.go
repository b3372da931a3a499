package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func (p *program) taskBackfillCommand() *cobra.Command {
	var from, to timeFlag
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
		Args:    arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if from.value.IsZero() {
				return usagef("missing --from TIME")
			}
			if pace < 0 {
				return usagef("--pace is %s; use 0 or more", pace)
			}
			return p.withDatabase(c.Context(), func(db *store.DB) error {
				b := periodic.Backfill{From: from.value, To: to.value, Pace: pace}
				return p.backfill(c.Context(), db, args[0], b)
			})
		},
	}
	command.Flags().Var(&from, "from", "ticks from that time on")
	command.Flags().Var(&to, "to", "ticks before that time (default now)")
	command.Flags().DurationVar(&pace, "pace", 0, "least time between two jobs")
	return command
}

func (p *program) backfill(ctx context.Context, db *store.DB, id string, b periodic.Backfill) error {
	now := p.now().Add(db.ClockSkew())
	if b.To.IsZero() {
		b.To = now
	}
	if b.To.After(now) {
		return usagef("--to lies in the future; those ticks are yet to come")
	}
	if !b.From.Before(b.To) {
		return usagef("--from must be before --to")
	}
	submitted, had := 0, 0
	b.Report = func(due time.Time, jid string) {
		if jid == "" {
			had++
			return
		}
		submitted++
		fmt.Fprintf(p.stdout, "%s  job %s\n", p.moment(due), jid)
	}
	told := false
	b.Waits = func(_ time.Time, job periodic.Pending) {
		if !told {
			told = true
			p.complain("waiting for the end of job %s, which is %s: the jobs of %s must not overlap", job.JID, job.State, id)
		}
	}
	err := taskProblem(periodic.NewTasks(db.Tasks()).Backfill(ctx, id, b))
	if err := p.printf("submitted: %d, had their jobs before: %d\n", submitted, had); err != nil {
		return err
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return errors.New("ended before all were submitted; the same command goes on")
	}
	return err
}
