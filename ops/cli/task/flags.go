package task

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

// columnFlags adds the flags of the columns of a task to `task add` and `task set`. That of the
// column task, which names the handler of the jobs, is --handler.
func columnFlags(command *cobra.Command) *ui.ColumnFlags[periodic.Task] {
	standard := periodic.NewTask("", "", "")
	columns := column.OfUsers(periodic.Columns())
	for i := range columns {
		if columns[i].Name == "task" {
			columns[i].Name = "handler"
		}
	}
	return ui.NewColumnFlags(command, columns, &standard)
}
