package lock

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/store"
)

func releaseCommand(env *ui.Env) *cobra.Command {
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
			name := leader.DefaultLock
			if len(args) > 0 {
				name = args[0]
			}
			return env.WithDatabase(c.Context(), func(db *store.DB) error {
				return releaseLock(c.Context(), env, db.Periodic().Locks(), name, force)
			})
		},
	}
	command.Flags().BoolVar(&force, "force", false, "release it although its holder is alive")
	return command
}

// releaseLock ends the term that it finds, and no other.
func releaseLock(ctx context.Context, env *ui.Env, locks leader.Store, name string, force bool) error {
	l, err := locks.Inspect(ctx, name)
	if err != nil {
		return err
	}
	switch l.State() {
	case leader.Free:
		return fmt.Errorf("nobody holds a lock %q; nextrun lock show lists those that are held", name)
	case leader.Held:
		if !force {
			return errors.New(heldText(l))
		}
	}
	ok, err := locks.Release(ctx, l.Fence())
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("the lock %q has just changed hands and was left alone; see nextrun lock show", name)
	case l.State() == leader.Held:
		return env.Printf("the lock %q of %s is ended. %s\n", name, ui.Cell(l.Holder), afterForce)
	}
	return env.Printf("the lock %q of %s had expired %s; it is ended, and goes to whoever comes first\n",
		name, ui.Cell(l.Holder), distance(l.Expires, l.Now))
}

// afterForce tells what follows when the lock of a live holder is ended.
const afterForce = `It stops scheduling within a heartbeat, and cannot submit from now on.
An instance that stands by takes over at once. If there is none, the old holder takes the lock again after a heartbeat;
in mode exclusive it ends when somebody else has taken the lock by then.`

func heldText(l leader.Lock) string {
	return fmt.Sprintf(`the lock %q is held by %s (host %s, pid %d), whose last heartbeat was %s.
Stop that instance, and it releases the lock; if it is dead, the lock expires %s.
To end the lock all the same, add --force. %s`,
		l.Name, ui.Cell(l.Holder), ui.Cell(l.Hostname), l.PID, distance(l.Heartbeat, l.Now), distance(l.Expires, l.Now), afterForce)
}
