package lock

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic/leader"
)

// Command returns `nextrun lock` with its commands.
func Command(env *ui.Env) *cobra.Command {
	return ui.Group(&cobra.Command{
		Use:   "lock",
		Short: "Show and release the lock of the modes leader and exclusive",
	}, showCommand(env), releaseCommand(env))
}

// lockJSON is the JSON form of a lock.
func lockJSON(l *leader.Lock) ui.Object {
	return ui.Object{
		{"lock", l.Name}, {"state", l.State()}, {"holder", l.Holder}, {"hostname", l.Hostname}, {"pid", l.PID},
		{"acquired", l.Acquired}, {"heartbeat", l.Heartbeat}, {"expires", l.Expires}, {"now", l.Now}, // the database's clock
	}
}

// distance writes how far a time is away by the database's clock.
func distance(t, now time.Time) string {
	return text.Away(t, now)
}
