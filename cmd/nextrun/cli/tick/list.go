package tick

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Command returns `nextrun tick` with its commands.
func Command(env *ui.Env) *cobra.Command {
	return ui.Group(&cobra.Command{
		Use:   "tick",
		Short: "Show and delete records of what happened at each tick",
	}, listCommand(env), pruneCommand(env))
}

func listCommand(env *ui.Env) *cobra.Command {
	var filter periodic.TickFilter
	var list ui.ListFlags
	var decision decisionFlag
	command := &cobra.Command{
		Use:     "list",
		Short:   "List ticks and what was decided about them, latest first",
		Example: `  nextrun tick list --task nightly-backup --since 7d`,
		Args:    ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := list.Bounds(&filter.Since, &filter.Until, &filter.Limit); err != nil {
				return err
			}
			filter.Decision = periodic.Decision(decision)
			return env.WithQueues(c.Context(), func(db *store.DB, queues ui.Queues) error {
				manager := periodic.NewTasks(db.Tasks())
				ticks, err := Read(c.Context(), manager, filter)
				if err != nil {
					return err
				}
				if filter.TaskID != "" || len(ticks.List) == 0 {
					tasks, err := manager.List(c.Context(), periodic.TaskFilter{ID: filter.TaskID})
					if err != nil {
						return err
					}
					env.WarnBlocked(queues, tasks)
				}
				return ticks.Print(env, list.JSON)
			})
		},
	}
	flags := command.Flags()
	flags.StringVar(&filter.TaskID, "task", "", "only those of the task with this `id`")
	flags.Var(&decision, "decision", "only ticks with this decision")
	list.RegisterLatest(command, "ticks decided", periodic.DefaultTickLimit)
	return command
}

// decisionFlag is a flag that holds a decision.
type decisionFlag periodic.Decision

func (f *decisionFlag) String() string { return string(*f) }
func (f *decisionFlag) Type() string   { return "decision" }

// Set takes one of the decisions.
func (f *decisionFlag) Set(text string) error {
	all := []string{
		string(periodic.Submitted), string(periodic.Skipped), string(periodic.Queued),
		string(periodic.Late), string(periodic.Missed),
	}
	if !slices.Contains(all, text) {
		return fmt.Errorf("use one of %s", strings.Join(all, ", "))
	}
	*f = decisionFlag(text)
	return nil
}
