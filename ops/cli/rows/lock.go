package rows

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/store"
)

// LockCommand returns `nextrun lock` with its commands.
func LockCommand(env *ui.Env) *cobra.Command {
	return ui.Group(&cobra.Command{Use: "lock", Short: "Show and release the lock of the modes leader and exclusive"}, showLocks(env), releaseLock(env))
}

func showLocks(env *ui.Env) *cobra.Command {
	list := List[leader.Lock]{
		Use:   "show",
		Short: "Show who holds the locks",
		Long: `Show who holds the locks: a lock is held, or expired, if the holder died or lost
the database. One that is not listed is free. The times are the database's.`,
		None:  "none is held; the modes leader and exclusive have one: nextrun scheduler --mode leader",
		Table: ui.NewTable("LOCK", "STATE", "HOLDER", "HOST", "PID", "SINCE", "HEARTBEAT", "EXPIRES").Least("HOST", "PID", "SINCE"),
		Row: func(l *leader.Lock) (any, []any) {
			return ui.Object{
					{"lock", l.Name}, {"state", l.State()}, {"holder", l.Holder}, {"hostname", l.Hostname}, {"pid", l.PID},
					{"acquired", l.Acquired}, {"heartbeat", l.Heartbeat}, {"expires", l.Expires}, {"now", l.Now},
				}, []any{
					l.Name, l.State(), l.Holder, l.Hostname, l.PID, env.Moment(l.Acquired), text.Away(l.Heartbeat, l.Now), text.Away(l.Expires, l.Now),
				}
		},
		Read: func(ctx context.Context, db *store.DB) ([]leader.Lock, error) { return db.Periodic().Locks().List(ctx) },
	}
	return list.Command(env)
}

func releaseLock(env *ui.Env) *cobra.Command {
	var force bool
	command := &cobra.Command{
		Use:   "release [LOCK]",
		Short: "Release a lock, so that another instance can take it immediately",
		Long: `Release a lock, by default the one named scheduler, so that another instance can
take it before it expires. If the holder is alive, this needs --force. No tick is
submitted twice: the old holder can no longer submit, and stops scheduling when it
notices.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			name := append(args, leader.DefaultLock)[0]
			return env.WithDatabase(c.Context(), func(db *store.DB) error {
				return release(c.Context(), env, db.Periodic().Locks(), name, force)
			})
		},
	}
	command.Flags().BoolVar(&force, "force", false, "release it although its holder is alive")
	return command
}

// release ends the term that it finds, and no other.
func release(ctx context.Context, env *ui.Env, locks leader.Store, name string, force bool) error {
	l, err := locks.Inspect(ctx, name)
	if err != nil {
		return err
	}
	holder, expires := ui.Cell(l.Holder), text.Away(l.Expires, l.Now)
	switch state := l.State(); {
	case state == leader.Free:
		return fmt.Errorf("nobody holds a lock %q; nextrun lock show lists those that are held", name)
	case state == leader.Held && !force:
		return fmt.Errorf(`the lock %q is held by %s (host %s, pid %d), whose last heartbeat was %s.
Stop that instance, and it releases the lock; if it is dead, the lock expires %s.
To end the lock all the same, add --force. %s`,
			name, holder, ui.Cell(l.Hostname), l.PID, text.Away(l.Heartbeat, l.Now), expires, afterForce)
	}
	ok, err := locks.Release(ctx, l.Fence())
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("the lock %q has just changed hands and was left alone; see nextrun lock show", name)
	case l.State() == leader.Held:
		return env.Printf("the lock %q of %s is ended. %s\n", name, holder, afterForce)
	}
	return env.Printf("the lock %q of %s had expired %s; it is ended, and goes to whoever comes first\n", name, holder, expires)
}

// afterForce tells what follows when the lock of a live holder is ended.
const afterForce = `It stops scheduling within a heartbeat, and cannot submit from now on.
An instance that stands by takes over at once. If there is none, the old holder takes the lock again after a heartbeat;
in mode exclusive it ends when somebody else has taken the lock by then.`
