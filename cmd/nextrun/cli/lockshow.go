package cli

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/store"
)

func (p *program) lockShowCommand() *cobra.Command {
	var asJSON, watch bool
	command := &cobra.Command{
		Use:   "show",
		Short: "Show who holds the locks, or held them last",
		Long: `Show who holds the locks, or held them last: a lock is held, released by its
holder, or expired, if the holder died or lost the database. The times are the
database's.`,
		Example: `  nextrun lock show --watch`,
		Args:    arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withDatabase(c.Context(), func(db *store.DB) error {
				show := func() error {
					locks, err := db.ListLocks(c.Context())
					if err != nil {
						return err
					}
					return p.printLocks(locks, asJSON)
				}
				if watch {
					return p.watch(c.Context(), show)
				}
				return show()
			})
		},
	}
	command.Flags().BoolVarP(&watch, "watch", "w", false, "go on, a list every second")
	jsonFlag(command, &asJSON)
	return command
}

func (p *program) printLocks(locks []leader.Lock, asJSON bool) error {
	lines := []lockJSON{}
	t := newTable("LOCK", "STATE", "HOLDER", "HOST", "PID", "TOKEN", "SINCE", "HEARTBEAT", "EXPIRES")
	for _, l := range locks {
		lines = append(lines, newLockJSON(l))
		expires := ""
		if l.State() != leader.Free {
			expires = distance(l.Expires, l.Now)
		}
		t.add(l.Name, l.State(), l.Holder, l.Hostname, l.PID, l.Token, p.moment(l.Acquired), distance(l.Heartbeat, l.Now), expires)
	}
	return p.print(t, lines, asJSON)
}
