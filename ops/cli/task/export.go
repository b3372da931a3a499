package task

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
	"github.com/nextrun/nextrun/store"
)

func exportCommand(env *ui.Env) *cobra.Command {
	filter := periodic.TaskFilter{WithArgs: true}
	command := &cobra.Command{
		Use:   "export",
		Short: "Write the tasks as a file for task apply",
		Long: `Write the tasks as a file for task apply. A task with a value that is not
UTF-8 text is named and left out, and the exit code is 1.`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return env.WithDatabase(c.Context(), func(db *store.DB) error {
				tasks := periodic.NewTasks(db.Tasks())
				list, err := tasks.List(c.Context(), filter)
				if err != nil {
					return err
				}
				calendars, err := tasks.Calendars(c.Context())
				if err != nil {
					return err
				}
				return export(env, list, calendars)
			})
		},
	}
	command.Flags().StringVar(&filter.Task, "handler", "", "only those whose jobs this handler runs")
	command.Flags().StringVar(&filter.Group, "group", "", "only those of this group")
	return command
}

// export writes the tasks that a file can hold, and the calendars that they name. It names the others.
func export(env *ui.Env, list []periodic.Task, calendars []days.Row) error {
	whole, columns, used := len(list), column.OfUsers(periodic.Columns()), map[string]bool{}
	list = slices.DeleteFunc(list, func(t periodic.Task) bool {
		for _, c := range columns {
			if !utf8.ValidString(c.Get(&t).Text) { // SQLite accepts it, and YAML does not
				env.Complain("task %q left out: its %s is not UTF-8 text; correct the row", t.ID, c.InTable())
				return true
			}
		}
		for _, name := range days.Names(t.Days.Exclude) {
			used[name] = true
		}
		return false
	})
	if err := config.WriteTasks(env.Stdout, list, slices.DeleteFunc(calendars, func(r days.Row) bool { return !used[r.Name] })); err != nil {
		return err
	}
	if left := whole - len(list); left > 0 {
		return fmt.Errorf("tasks left out: %d of %d", left, whole)
	}
	return nil
}
