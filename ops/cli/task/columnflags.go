package task

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

// columnFlags adds the flags of the columns of a task to `task add`, with their defaults, and to `task set`, without.
func columnFlags(command *cobra.Command, standard *periodic.Task) *ui.ColumnFlags[periodic.Task] {
	return ui.NewColumnFlags(command, column.OfUsers(periodic.Columns()), standard)
}
