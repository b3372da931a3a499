package leader

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// Lock is a row of the table scheduler_lock; of a lock that has none, only Name
// and Now are known. All times are the database's, in UTC.
type Lock struct {
	Name      string
	Holder    string // who has it: worker name@boot id
	Hostname  string // of the holder
	PID       int    // of the holder
	Token     int64  // of the term, a random number
	Acquired  time.Time
	Heartbeat time.Time // last renewal
	Expires   time.Time
	Now       time.Time // the database's clock when the row was read
}

// Live reports whether the lock is held: it has not expired, and its heartbeat
// does not lie further in the future than a TTL, which only a clock that was
// set back can bring about.
func (l Lock) Live() bool {
	return l.Expires.After(l.Now) && l.Heartbeat.Sub(l.Now) <= l.Expires.Sub(l.Heartbeat)
}

// State is what the row says, in a word.
type State string

// The states of a lock.
const (
	Free    State = "free"    // there is no row
	Held    State = "held"    // there is a live holder
	Expired State = "expired" // the holder did not renew it: it died, or lost the database
)

// State returns the state of the lock.
func (l Lock) State() State {
	switch {
	case l.Expires.IsZero():
		return Free
	case l.Live():
		return Held
	}
	return Expired
}

// Fence is a term: what [Store.Guard] compares with the row.
type Fence struct {
	Lock   string
	Holder string
	Token  int64
}

// Fence is the term in the row.
func (l Lock) Fence() Fence { return Fence{Lock: l.Name, Holder: l.Holder, Token: l.Token} }

// Claim is what a contender puts into the row, to begin the term of its fence.
type Claim struct {
	Fence
	Hostname string
	PID      int
	TTL      time.Duration
}

// DBTX runs statements inside somebody's transaction; [*sql.Tx] is one.
type DBTX interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Store keeps the locks; package store has one. It must
// be safe for concurrent use. After an error nothing is known: the operation
// may or may not have taken place.
type Store interface {
	// Take takes a lock that is free, expired or of the claim's holder, and returns
	// the row: it has the claim's fence unless somebody else holds the lock.
	Take(ctx context.Context, c Claim) (Lock, error)
	// Renew moves the expiry of a lock of this term. It returns false if the row has
	// another term, and then changes nothing.
	Renew(ctx context.Context, f Fence, ttl time.Duration) (bool, error)
	// Release deletes the row of this term, expired or not. It returns false if
	// there is none.
	Release(ctx context.Context, f Fence) (bool, error)
	// Inspect reads a lock, without changing or locking anything.
	Inspect(ctx context.Context, lock string) (Lock, error)
	// List returns all locks that have a row, by name.
	List(ctx context.Context) ([]Lock, error)
	// Guard returns [ErrLost] unless the lock is of this term, and keeps others from
	// taking it until the transaction ends.
	Guard(ctx context.Context, tx DBTX, f Fence) error
	// Watch calls wake whenever a lock may have been released, until ctx ends.
	// It reports failures and goes on. Meanwhile others can read that the holder lives.
	Watch(ctx context.Context, holder string, wake func(), report func(error))
	// Stall is the longest time for which a transaction of a process that was
	// stopped can keep the row of a lock; 0: there is no bound.
	Stall() time.Duration
}

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
