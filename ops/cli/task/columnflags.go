package task

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

// columnFlags adds the flags of the columns of a task to `task add` and `task set`.
func columnFlags(command *cobra.Command) *ui.ColumnFlags[periodic.Task] {
	standard := periodic.NewTask("", "", "")
	return ui.NewColumnFlags(command, column.OfUsers(periodic.Columns()), &standard)
}
