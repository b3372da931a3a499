package lock

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/store"
)

func showCommand(env *ui.Env) *cobra.Command {
	var list ui.ListFlags
	command := &cobra.Command{
		Use:   "show",
		Short: "Show who holds the locks",
		Long: `Show who holds the locks: a lock is held, or expired, if the holder died or lost
the database. One that is not listed is free. The times are the database's.`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return env.WithDatabase(c.Context(), func(db *store.DB) error {
				locks, err := db.Periodic().Locks().List(c.Context())
				if err != nil {
					return err
				}
				return printLocks(env, locks, &list)
			})
		},
	}
	list.Register(command)
	return command
}

func printLocks(env *ui.Env, locks []leader.Lock, list *ui.ListFlags) error {
	t := ui.NewTable("LOCK", "STATE", "HOLDER", "HOST", "PID", "SINCE", "HEARTBEAT", "EXPIRES").
		Least("HOST", "PID", "SINCE").
		IfEmpty("none is held; the modes leader and exclusive have one: nextrun scheduler --mode leader")
	return ui.PrintList(env, list, t, locks, func(l *leader.Lock) (any, []any) {
		return lockJSON(l), []any{
			l.Name, l.State(), l.Holder, l.Hostname, l.PID, env.Moment(l.Acquired), distance(l.Heartbeat, l.Now), distance(l.Expires, l.Now),
		}
	})
}
