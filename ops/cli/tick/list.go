package tick

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/find"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Command returns `nextrun tick` with its commands.
func Command(env *ui.Env) *cobra.Command {
	return ui.Group(&cobra.Command{
		Use:   "tick",
		Short: "Show what happened at each tick",
	}, listCommand(env))
}

func listCommand(env *ui.Env) *cobra.Command {
	var filter periodic.TickFilter
	var list ui.ListFlags
	decision := ui.Choice{Allowed: []string{
		string(periodic.Submitted), string(periodic.Skipped), string(periodic.Late), string(periodic.Missed), periodic.NotRun,
	}}
	command := &cobra.Command{
		Use:   "list",
		Short: "List ticks and what was decided about them, latest first",
		Long: `List ticks and what was decided about them, latest first. The decision not-run stands
for skipped, late and missed.`,
		Example: `  nextrun tick list --task nightly-backup --since 7d
  nextrun tick list --decision not-run --since yesterday`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := list.Bounds(&filter.DueFrom, &filter.DueTo, &filter.Limit); err != nil {
				return err
			}
			filter.Decision = periodic.Decision(decision.Value)
			return env.WithDatabase(c.Context(), func(db *store.DB) error {
				tasks := periodic.NewTasks(db.Tasks())
				runs, err := view.Of(db).List(c.Context(), tasks, filter)
				if err == nil && len(runs) == 0 {
					err = find.Asked(c.Context(), tasks, filter.TaskID, filter.Group)
				}
				if err != nil {
					return err
				}
				return Print(env, runs, &list, ui.IfNone(c, "none; ticks are recorded when a scheduler decides them: nextrun serve"))
			})
		},
	}
	flags := command.Flags()
	flags.StringVar(&filter.TaskID, "task", "", "only those of the task with this `id`")
	flags.StringVar(&filter.Group, "group", "", "only those of tasks of this group")
	flags.Var(&decision, "decision", "only ticks with this `decision`")
	list.RegisterLatest(command, "ticks due", periodic.DefaultTickLimit)
	return command
}
