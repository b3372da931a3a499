// Package locks keeps the locks of the scheduler's modes leader and exclusive in
// the table scheduler_lock.
package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/store/internal/workers"
)

// Store implements [leader.Store].
type Store struct{ db *sqldb.DB }

var _ leader.Store = Store{}

// New returns the locks of a database.
func New(db *sqldb.DB) Store { return Store{db} }

// lockRow is a row of scheduler_lock, read at a time. Somebody may have written anything
// into one, which must not hide the others.
type lockRow struct {
	Name      sqldb.RowText
	Holder    sqldb.RowText
	Hostname  sqldb.RowText
	PID       sqldb.RowInt
	Token     sqldb.RowInt
	Acquired  sqldb.RowTime
	Heartbeat sqldb.RowTime
	Expires   sqldb.RowTime
	Now       sqldb.Timestamp
}

func (r lockRow) lock() leader.Lock {
	return leader.Lock{
		Name: string(r.Name), Holder: string(r.Holder), Hostname: string(r.Hostname), PID: r.PID.N, Token: int64(r.Token.N),
		Acquired: r.Acquired.Time(), Heartbeat: r.Heartbeat.Time(), Expires: r.Expires.Time(), Now: r.Now.Time(),
	}
}

// lockClock is what the statements of locks need of the clock, as SQL: the
// current time and the end of a TTL from now. Their placeholders are $1 and $2.
type lockClock struct {
	now, end  string
	arguments []any
}

func clockOf(tx *sqldb.Tx, ttl time.Duration) lockClock {
	return lockClock{
		now:       tx.SQL().Clock(1, 1),
		end:       tx.SQL().Clock(1, 2),
		arguments: []any{sqldb.Timestamp(tx.Now()), sqldb.Timestamp(tx.Now().Add(ttl))},
	}
}

// with returns the arguments of a statement, those of the clock first.
func (c lockClock) with(arguments ...any) []any { return append(c.arguments, arguments...) }

// live is the condition on a lock l that somebody holds it. A heartbeat
// further in the future than a TTL is left from before the clock was set back.
func (c lockClock) live() string {
	return `(l.expires > ` + c.now + ` AND l.heartbeat <= ` + c.end + `)`
}

// Acquire implements [leader.Store]. The statement sees the row as it is after
// all who locked it have ended, and judges it by the time at which it does.
func (s Store) Acquire(ctx context.Context, claim leader.Claim) (leader.Lock, bool, error) {
	var row lockRow
	var acquired bool
	err := s.db.Update(ctx, func(tx *sqldb.Tx) error {
		clock := clockOf(tx, claim.TTL)
		live := clock.live()
		err := tx.First(ctx, &row, `INSERT INTO scheduler_lock AS l
				(name, holder, hostname, pid, token, acquired, heartbeat, expires)
			VALUES ($3, $4, $5, $6, CAST($7 AS bigint) + 1, `+clock.now+`, `+clock.now+`, `+clock.end+`)
			ON CONFLICT (name) DO UPDATE SET
				holder = excluded.holder, hostname = excluded.hostname, pid = excluded.pid,
				token = CASE WHEN `+live+` THEN l.token ELSE `+tx.SQL().Greatest+`(l.token, CAST($7 AS bigint)) + 1 END,
				acquired = CASE WHEN `+live+` THEN l.acquired ELSE `+clock.now+` END,
				heartbeat = `+clock.now+`, expires = `+clock.end+`
			WHERE l.holder = excluded.holder OR NOT `+live+`
			RETURNING `+lockColumns+`, `+clock.now+` AS now`,
			clock.with(claim.Lock, claim.Holder, claim.Hostname, claim.PID, claim.TokenAfter)...)
		if acquired = err == nil; acquired || !errors.Is(err, sqldb.ErrNotFound) {
			return err
		}
		row, err = lockOf(ctx, tx, claim.Lock) // for the caller to know who has it
		return err
	})
	if err != nil {
		return leader.Lock{}, false, fmt.Errorf("acquire lock %q: %w", claim.Lock, err)
	}
	return row.lock(), acquired, nil
}

// Renew implements [leader.Store].
func (s Store) Renew(ctx context.Context, f leader.Fence, ttl time.Duration) (bool, error) {
	var renewed int64
	err := s.db.Update(ctx, func(tx *sqldb.Tx) (err error) {
		clock := clockOf(tx, ttl)
		renewed, err = tx.Exec(ctx, `UPDATE scheduler_lock AS l SET heartbeat = `+clock.now+`, expires = `+clock.end+`
			WHERE l.name = $3 AND l.holder = $4 AND l.token = $5 AND l.expires > `+clock.now,
			clock.with(f.Lock, f.Holder, f.Token)...)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("renew lock %q: %w", f.Lock, err)
	}
	return renewed == 1, nil
}

// Release implements [leader.Store].
func (s Store) Release(ctx context.Context, f leader.Fence) (bool, error) {
	var released int64
	err := s.db.Update(ctx, func(tx *sqldb.Tx) (err error) {
		released, err = tx.Exec(ctx, `UPDATE scheduler_lock AS l SET heartbeat = `+tx.SQL().Clock(1, 1)+`, expires = $2
			WHERE l.name = $3 AND l.holder = $4 AND l.token = $5`,
			sqldb.Timestamp(tx.Now()), sqldb.Timestamp(leader.Released), f.Lock, f.Holder, f.Token)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("release lock %q: %w", f.Lock, err)
	}
	return released == 1, nil
}

// Watch implements [leader.Store].
func (s Store) Watch(ctx context.Context, holder string, wake func(), report func(error)) {
	workers.Watch(ctx, s.db, workers.Worker{ID: holder, Kind: "scheduler"}, wake, report, sqldb.TopicLock)
}

// Stall implements [leader.Store].
func (s Store) Stall() time.Duration { return s.db.SQL().Stall }
