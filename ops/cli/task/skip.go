package task

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/when"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
)

func skipCommand(env *ui.Env) *cobra.Command {
	var reason string
	var isUndo bool
	command := &cobra.Command{
		Use:   "skip ID [TIME]",
		Short: "Skip one tick of a task, the next run by default",
		Long: `Skip one tick of a task, the next run unless TIME says when another one is due. When it
falls due, it is recorded as skipped, with who decided that and why. The timer goes on,
and "nextrun task run" runs the task all the same. --undo takes back a skip, the first
one unless TIME names another.`,
		Example: `  nextrun task skip nightly-backup --reason 'the server moves'
  nextrun task skip nightly-backup 2026-12-24T02:00:00Z
  nextrun task skip nightly-backup --undo`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return ui.Arguments("ID", "TIME")(c, args)
			}
			return ui.Arguments("ID")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) (err error) {
			id, due := ui.Cell(args[0]), time.Time{}
			if len(args) > 1 {
				if due, err = when.Parse(args[1], when.Clock{Now: env.Now(), Zone: env.Zone}); err != nil {
					return ui.Usagef("TIME is %q: %v", args[1], err)
				}
			}
			return withTasks(c.Context(), env, func(tasks *periodic.Tasks) error {
				if isUndo {
					due, err := tasks.Unskip(c.Context(), args[0], due)
					if err != nil {
						return err
					}
					return env.Printf("%s: the tick of %s takes place\n", id, env.Moment(due))
				}
				due, err := tasks.Skip(c.Context(), args[0], due, days.Note(env.Person(), reason))
				if err != nil {
					return err
				}
				return env.Printf("%s: skips the tick of %s; to undo that: nextrun task skip %s %s --undo\n", id, env.Moment(due), text.Word(id), due.UTC().Format(time.RFC3339Nano))
			})
		},
	}
	command.Flags().StringVar(&reason, "reason", "", "why, for people")
	command.Flags().BoolVar(&isUndo, "undo", false, "let a tick take place that was to be skipped")
	return command
}
