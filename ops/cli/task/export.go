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
	var filter periodic.TaskFilter
	command := &cobra.Command{
		Use:   "export",
		Short: "Write the tasks as a file for task apply",
		Long: `Write the tasks as a file for task apply. A task with a value that is not
UTF-8 text is named and left out, and the exit code is 1.`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			filter.WithArgs = true
			return env.WithDatabase(c.Context(), func(db *store.DB) error {
				list, err := periodic.NewTasks(db.Tasks()).List(c.Context(), filter)
				if err != nil {
					return err
				}
				rows, err := periodic.NewTasks(db.Tasks()).Calendars(c.Context())
				if err != nil {
					return err
				}
				return export(env, list, rows)
			})
		},
	}
	command.Flags().StringVar(&filter.Task, "handler", "", "only those whose jobs this handler runs")
	command.Flags().StringVar(&filter.Group, "group", "", "only those of this group")
	return command
}

// export writes the tasks that a file can hold, and the calendars that they name. It names the others.
func export(env *ui.Env, list []periodic.Task, rows []days.Row) error {
	whole := len(list)
	list = slices.DeleteFunc(list, func(t periodic.Task) bool {
		column := notUTF8(&t)
		if column != "" {
			fmt.Fprintf(env.Stderr, "task %q left out: its %s is not UTF-8 text; correct the row\n", t.ID, column)
		}
		return column != ""
	})
	used := map[string]bool{} // with all their rows
	for _, t := range list {
		for _, r := range rows {
			used[r.Name] = used[r.Name] || slices.Contains(days.Names(t.Days.Exclude), r.Name)
		}
	}
	if err := config.WriteTasks(env.Stdout, list, slices.DeleteFunc(rows, func(r days.Row) bool { return !used[r.Name] })); err != nil {
		return err
	}
	if left := whole - len(list); left > 0 {
		return fmt.Errorf("tasks left out: %d of %d", left, whole)
	}
	return nil
}

// notUTF8 returns the first column of a task whose value is not UTF-8, which
// SQLite accepts and YAML does not; empty: none.
func notUTF8(t *periodic.Task) string {
	for _, c := range column.OfUsers(periodic.Columns()) {
		if !utf8.ValidString(c.Get(t).Text) {
			return c.InTable()
		}
	}
	return ""
}
