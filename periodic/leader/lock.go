package leader

import (
	"context"
	"database/sql"
	"time"
)

// Lock is a row of the table scheduler_lock, or what is known of a lock that
// has none. All times are the database's, in UTC.
type Lock struct {
	Name      string
	Holder    string    // who has it, or had it last: worker name@boot id
	Hostname  string    // of the holder
	PID       int       // of the holder
	Token     int64     // rises with every term; 0: the lock was never held
	Acquired  time.Time // when the term began
	Heartbeat time.Time // last renewal, or the release
	Expires   time.Time // [Released] after a release
	Now       time.Time // the database's clock when the row was read
}

// Released is the Expires of a lock that its holder, or a person, released.
var Released = time.Unix(0, 0).UTC()

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
	Never   State = "never held" // there is no row
	Held    State = "held"       // there is a live holder
	Expired State = "expired"    // the holder did not renew it: it died, or lost the database
	Free    State = "released"   // the holder gave it back
)

// State returns the state of the lock.
func (l Lock) State() State {
	switch {
	case l.Token == 0:
		return Never
	case l.Live():
		return Held
	case l.Expires.Equal(Released):
		return Free
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

// Claim is what a contender puts into the row.
type Claim struct {
	Lock       string
	Holder     string
	Hostname   string
	PID        int
	TTL        time.Duration
	TokenAfter int64 // a new term gets a greater token, also if the row was deleted
}

// DBTX runs statements inside somebody's transaction; [*sql.Tx] is one.
type DBTX interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Store keeps the locks; package store has one. It must
// be safe for concurrent use. After an error nothing is known: the operation
// may or may not have taken place.
type Store interface {
	// Acquire takes a lock that is free or expired, and renews one that the
	// claim's holder has already, without a new token. It returns the row, and
	// false if another holder has it.
	Acquire(ctx context.Context, c Claim) (Lock, bool, error)
	// Renew moves the expiry of a lock that is live and of this term. It returns
	// false if it is not, and then changes nothing.
	Renew(ctx context.Context, f Fence, ttl time.Duration) (bool, error)
	// Release frees a lock of this term, expired or not, and keeps the row. It
	// returns false if the row has another term, and then changes nothing.
	Release(ctx context.Context, f Fence) (bool, error)
	// Inspect reads a lock, without changing or locking anything.
	Inspect(ctx context.Context, lock string) (Lock, error)
	// List returns all locks by name: those that somebody ever held.
	List(ctx context.Context) ([]Lock, error)
	// Guard returns [ErrLost] unless the lock is live and of this term, and
	// keeps others from acquiring it until the transaction ends. now is the
	// database's time as the transaction knows it; a store whose database has a
	// clock reads that instead.
	Guard(ctx context.Context, tx DBTX, now time.Time, f Fence) error
	// Watch calls wake whenever a lock may have been released, until ctx ends.
	// It reports failures and goes on. Meanwhile others can read that the holder lives.
	Watch(ctx context.Context, holder string, wake func(), report func(error))
	// Stall is the longest time for which a transaction of a process that was
	// stopped can keep the row of a lock; 0: there is no bound.
	Stall() time.Duration
}
