package task

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func originsCommand(env *ui.Env) *cobra.Command {
	var list ui.ListFlags
	var forget string
	command := &cobra.Command{
		Use:   "origins",
		Short: "List the programs and files that declare tasks",
		Long: `List the programs and files that declare tasks (column origin of periodic_task), with
the version of the program that declared them last. An older program leaves them alone.

--forget-version NAME lets the next program of that origin declare its tasks, whatever its
version: to go back to an older one on purpose. Do it when the newer ones have ended, and
start the older one after it.`,
		Example: `  nextrun task origins
  nextrun task origins --forget-version billing`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return env.WithDatabase(c.Context(), func(db *store.DB) error {
				known := periodic.NewTasks(db.Tasks()).Origins
				if forget != "" {
					if err := known.ForgetVersion(c.Context(), forget); err != nil {
						return err
					}
					return env.Printf("the next program of %s that starts declares its tasks\n", ui.Cell(forget))
				}
				origins, err := known.List(c.Context())
				if err != nil {
					return err
				}
				t := ui.NewTable("ORIGIN", "VERSION", "SINCE").IfEmpty("none; programs declare tasks with Tasks.Apply, files with: nextrun task apply --origin NAME")
				return ui.PrintList(env, &list, t, origins, func(o *periodic.Origin) (any, []any) {
					return ui.ColumnsOf(o, taskdb.OriginColumns()[:3]), []any{o.Name, o.Version, env.Moment(o.Since)}
				})
			})
		},
	}
	command.Flags().StringVar(&forget, "forget-version", "", "let the next program of the origin `NAME` declare its tasks")
	ui.JSONFlag(command, &list.JSON)
	return command
}
