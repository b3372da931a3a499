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
		Short: "Show who holds the locks, or held them last",
		Long: `Show who holds the locks, or held them last: a lock is held, released by its
holder, or expired, if the holder died or lost the database. The times are the
database's.`,
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
	t := ui.NewTable("LOCK", "STATE", "HOLDER", "HOST", "PID", "TOKEN", "SINCE", "HEARTBEAT", "EXPIRES").
		Least("HOST", "PID", "TOKEN", "SINCE").
		IfEmpty("none; the modes leader and exclusive make one: nextrun scheduler --mode leader")
	return ui.PrintList(env, list, t, locks, func(l *leader.Lock) (any, []any) {
		expires := ""
		if l.State() != leader.Free {
			expires = distance(l.Expires, l.Now)
		}
		return lockJSON(l), []any{
			l.Name, l.State(), l.Holder, l.Hostname, l.PID, l.Token, env.Moment(l.Acquired), distance(l.Heartbeat, l.Now), expires,
		}
	})
}
