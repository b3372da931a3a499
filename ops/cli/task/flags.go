package task

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

// columnFlags adds the flags of the columns of a task to `task add` and `task set`. The column
// task, which names the handler of the jobs, has two.
func columnFlags(command *cobra.Command) *ui.ColumnFlags[periodic.Task] {
	standard := periodic.NewTask("", "", "")
	columns := column.OfUsers(periodic.Columns())
	for _, c := range columns {
		if c.Name == "task" {
			c.Name = "handler"
			columns = append(columns, c)
		}
	}
	f := ui.NewColumnFlags(command, columns, &standard)
	_ = command.Flags().MarkHidden("task") // the flag is there
	return f
}
