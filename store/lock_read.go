package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/periodic/leader"
)

// lockColumns are the columns of a lock.
const lockColumns = `name, holder, hostname, pid, token, acquired, heartbeat, expires`

// Inspect implements [leader.Store].
func (s lockStore) Inspect(ctx context.Context, lock string) (leader.Lock, error) {
	var row lockRow
	err := s.db.View(ctx, func(tx *Tx) (err error) {
		row, err = tx.lock(ctx, lock)
		return err
	})
	if err != nil {
		return leader.Lock{}, fmt.Errorf("inspect lock %q: %w", lock, err)
	}
	return row.lock(), nil
}

// ListLocks returns all locks by name: those that somebody ever held.
func (db *DB) ListLocks(ctx context.Context) ([]leader.Lock, error) {
	var rows []lockRow
	err := db.View(ctx, func(tx *Tx) error {
		return tx.list(ctx, &rows, `SELECT `+lockColumns+`, `+tx.db.dialect.clock(1, 1)+` AS now
			FROM scheduler_lock ORDER BY name`, Timestamp(tx.now))
	})
	if err != nil {
		return nil, fmt.Errorf("list locks: %w", err)
	}
	locks := make([]leader.Lock, len(rows))
	for i, r := range rows {
		locks[i] = r.lock()
	}
	return locks, nil
}

// lock reads a row; of a lock that has none it knows the name and the time.
func (tx *Tx) lock(ctx context.Context, name string) (lockRow, error) {
	row := lockRow{Name: name, Now: Timestamp(tx.now)}
	err := tx.get(ctx, &row, `SELECT `+lockColumns+`, `+tx.db.dialect.clock(1, 1)+` AS now
		FROM scheduler_lock WHERE name = $2`, Timestamp(tx.now), name)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return row, err
}

// Guard implements [leader.Store]. The clock is read when the row is locked:
// the wait for that may have been long.
func (s lockStore) Guard(ctx context.Context, tx leader.DBTX, now time.Time, f leader.Fence) error {
	d := s.db.dialect
	var live bool
	err := tx.QueryRowContext(ctx, d.rebind(`SELECT held.expires > `+d.clock(1, 1)+` FROM (
			SELECT l.expires FROM scheduler_lock AS l WHERE l.name = $2 AND l.holder = $3 AND l.token = $4`+
		d.shareRows()+`) AS held`),
		Timestamp(now), f.Lock, f.Holder, f.Token).Scan(&live)
	switch {
	case err == nil && live:
		return nil
	case err == nil, errors.Is(err, sql.ErrNoRows):
		return leader.ErrLost
	}
	return fmt.Errorf("check lock %q: %w", f.Lock, err)
}
