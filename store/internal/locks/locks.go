// Package locks keeps the locks of the scheduler's modes leader and exclusive, and
// the leases of topics, in the table scheduler_lock.
package locks

import (
	"context"
	"database/sql"
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

// Take takes a lock that is free, expired or of the claim's holder, and reports whether it did. It waits for
// transactions under [Store.Guard], and judges the row as they left it. A heartbeat further in the future than
// a TTL is left from before the clock was set back.
func Take(ctx context.Context, tx *sqldb.Tx, c leader.Claim) (bool, error) {
	n, err := tx.Exec(ctx, `INSERT INTO scheduler_lock AS l (name, holder, hostname, pid, token, acquired, heartbeat, expires)
		VALUES ($1, $2, $3, $4, $5, $6, $6, $7)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, hostname = excluded.hostname, pid = excluded.pid,
			token = excluded.token, acquired = excluded.acquired, heartbeat = excluded.heartbeat, expires = excluded.expires
		WHERE l.holder = excluded.holder OR l.expires <= excluded.acquired OR l.heartbeat > excluded.expires`,
		c.Lock, c.Holder, c.Hostname, c.PID, c.Token, sqldb.Timestamp(tx.Now()), sqldb.Timestamp(tx.Now().Add(c.TTL)))
	return n > 0, err
}

// Renew moves the expiry of a lock, unless the row has another term: then it returns false.
func Renew(ctx context.Context, tx *sqldb.Tx, f leader.Fence, ttl time.Duration) (bool, error) {
	n, err := tx.Exec(ctx, `UPDATE scheduler_lock SET heartbeat = $1, expires = $2 WHERE name = $3 AND holder = $4 AND token = $5`,
		sqldb.Timestamp(tx.Now()), sqldb.Timestamp(tx.Now().Add(ttl)), f.Lock, f.Holder, f.Token)
	return n > 0, err
}

// Release deletes the row of a term, or returns false if there is none.
func Release(ctx context.Context, tx *sqldb.Tx, f leader.Fence) (bool, error) {
	n, err := tx.Exec(ctx, `DELETE FROM scheduler_lock WHERE name = $1 AND holder = $2 AND token = $3`, f.Lock, f.Holder, f.Token)
	return n > 0, err
}

// Take implements [leader.Store].
func (s Store) Take(ctx context.Context, c leader.Claim) (l leader.Lock, err error) {
	err = s.db.Update(ctx, func(tx *sqldb.Tx) error {
		if _, err := Take(ctx, tx, c); err != nil {
			return err
		}
		l, err = read(ctx, tx, c.Lock)
		return err
	})
	return l, named("take", c.Lock, err)
}

// Renew implements [leader.Store].
func (s Store) Renew(ctx context.Context, f leader.Fence, ttl time.Duration) (renewed bool, err error) {
	err = s.db.Update(ctx, func(tx *sqldb.Tx) error {
		renewed, err = Renew(ctx, tx, f, ttl)
		return err
	})
	return renewed && err == nil, named("renew", f.Lock, err)
}

// Release implements [leader.Store].
func (s Store) Release(ctx context.Context, f leader.Fence) (released bool, err error) {
	err = s.db.Farewell(ctx, func(ctx context.Context, tx *sqldb.Tx) error {
		released, err = Release(ctx, tx, f)
		return err
	})
	return released && err == nil, named("release", f.Lock, err)
}

// Inspect implements [leader.Store].
func (s Store) Inspect(ctx context.Context, lock string) (l leader.Lock, err error) {
	err = s.db.View(ctx, func(tx *sqldb.Tx) error {
		l, err = read(ctx, tx, lock)
		return err
	})
	return l, named("inspect", lock, err)
}

// List implements [leader.Store].
func (s Store) List(ctx context.Context) (list []leader.Lock, err error) {
	err = s.db.View(ctx, func(tx *sqldb.Tx) error {
		list, err = selected(ctx, tx, `WHERE name NOT LIKE 'topic:%' ORDER BY name`)
		return err
	})
	return list, err
}

// Guard implements [leader.Store]. Whether the lock has expired does not matter: nobody can take it before the
// transaction ends.
func (s Store) Guard(ctx context.Context, tx leader.DBTX, f leader.Fence) error {
	d := s.db.SQL()
	var one int
	err := tx.QueryRowContext(ctx, d.Rebind(`SELECT 1 FROM scheduler_lock WHERE name = $1 AND holder = $2 AND token = $3`+d.ShareRows),
		f.Lock, f.Holder, f.Token).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return leader.ErrLost
	}
	return named("check", f.Lock, err)
}

// Watch implements [leader.Store].
func (s Store) Watch(ctx context.Context, holder string, wake func(), report func(error)) {
	workers.Watch(ctx, s.db, workers.Worker{ID: holder, Kind: "scheduler"}, wake, report, sqldb.TopicLock)
}

// Stall implements [leader.Store].
func (s Store) Stall() time.Duration { return s.db.SQL().Stall }

// lockRow is a row of scheduler_lock. Somebody may have written anything
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
}

// read reads a lock, of one without a row name and time.
func read(ctx context.Context, tx *sqldb.Tx, name string) (leader.Lock, error) {
	list, err := selected(ctx, tx, `WHERE name = $1`, name)
	return append(list, leader.Lock{Name: name, Now: tx.Now()})[0], err
}

func selected(ctx context.Context, tx *sqldb.Tx, which string, args ...any) (list []leader.Lock, err error) {
	var rows []lockRow
	err = tx.Select(ctx, &rows, `SELECT name, holder, hostname, pid, token, acquired, heartbeat, expires FROM scheduler_lock `+which, args...)
	for _, r := range rows {
		list = append(list, leader.Lock{
			Name: string(r.Name), Holder: string(r.Holder), Hostname: string(r.Hostname), PID: r.PID.N, Token: int64(r.Token.N),
			Acquired: r.Acquired.Time(), Heartbeat: r.Heartbeat.Time(), Expires: r.Expires.Time(), Now: tx.Now(),
		})
	}
	return list, err
}

func named(doing, lock string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s lock %q: %w", doing, lock, err)
}
