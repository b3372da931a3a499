package lock

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/span"
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
type lockJSON struct {
	Lock      string     `json:"lock"`
	State     string     `json:"state"` // never held, held, expired, released
	Holder    string     `json:"holder"`
	Hostname  string     `json:"hostname"`
	PID       int        `json:"pid"`
	Token     int64      `json:"token"`
	Acquired  time.Time  `json:"acquired"`
	Heartbeat time.Time  `json:"heartbeat"`
	Expires   *time.Time `json:"expires"` // null: released
	Now       time.Time  `json:"now"`     // the database's clock
}

func newLockJSON(l leader.Lock) lockJSON {
	j := lockJSON{
		Lock: l.Name, State: string(l.State()), Holder: l.Holder, Hostname: l.Hostname, PID: l.PID, Token: l.Token,
		Acquired: l.Acquired, Heartbeat: l.Heartbeat, Now: l.Now,
	}
	if !l.Expires.Equal(leader.Released) {
		j.Expires = &l.Expires
	}
	return j
}

// distance writes how far a time is away by the database's clock.
func distance(t, now time.Time) string {
	return span.Away(t, now)
}
