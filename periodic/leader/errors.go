package leader

import (
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

var (
	// ErrLost is returned by [Store.Guard], and is the cause of the end of a
	// term's context: the lock is not held any more in this term.
	ErrLost = errors.New("the scheduler lock is not held any more")
	// ErrIdle is why a term was lost whose holder made no progress.
	ErrIdle = errors.New("the scheduler made no progress, and leaves the lock to others")
	// ErrStarted is returned by [Elector.Start] the second time.
	ErrStarted = service.ErrStarted
	// ErrStopped is returned by [Elector.Await] once the elector has stopped.
	ErrStopped = errors.New("the elector has stopped")
)

// HeldError is returned by [Elector.Start] of an exclusive elector when
// somebody else holds the lock, and by [Elector.Await] when somebody else took
// it later. Its text names the holder and says what to do.
type HeldError struct{ Lock Lock }

// Error is a text of several lines, for people.
func (e *HeldError) Error() string {
	l := e.Lock
	return fmt.Sprintf(`another instance holds the scheduler lock %q
  holder          %s
  host            %s
  pid             %d
  since           %s
  last heartbeat  %s ago
  expires         in %s, unless the holder renews it
Only one instance may schedule in mode exclusive. Stop the other one, and this one can start at once; or use
--mode leader, which waits for its turn. If the other one is dead its lock ends at the time above by itself;
"nextrun lock show" shows it, "nextrun lock release" ends it.`,
		l.Name, l.Holder, l.Hostname, l.PID, l.Acquired.UTC().Format("2006-01-02 15:04:05 UTC"),
		round(l.Now.Sub(l.Heartbeat)), round(l.Expires.Sub(l.Now)))
}

// round shortens a duration for people.
func round(d time.Duration) time.Duration {
	return max(0, d.Round(100*time.Millisecond))
}
