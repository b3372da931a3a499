package locks

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic/leader"
)

// lockColumns are the columns of a lock.
const lockColumns = `name, holder, hostname, pid, token, acquired, heartbeat, expires`

// Inspect implements [leader.Store].
func (s Store) Inspect(ctx context.Context, lock string) (leader.Lock, error) {
	var row lockRow
	err := s.db.View(ctx, func(tx *sqldb.Tx) (err error) {
		row, err = lockOf(ctx, tx, lock)
		return err
	})
	if err != nil {
		return leader.Lock{}, fmt.Errorf("inspect lock %q: %w", lock, err)
	}
	return row.lock(), nil
}

// List returns all locks by name: those that somebody ever held, without the leases of topics.
func (s Store) List(ctx context.Context) ([]leader.Lock, error) {
	var rows []lockRow
	err := s.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &rows, `SELECT `+lockColumns+`, `+tx.SQL().Clock(1, 1)+` AS now
			FROM scheduler_lock WHERE name NOT LIKE 'topic:%' ORDER BY name`, sqldb.Timestamp(tx.Now()))
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

// lockOf reads a row; of a lock that has none it knows the name and the time.
func lockOf(ctx context.Context, tx *sqldb.Tx, name string) (lockRow, error) {
	row := lockRow{Name: sqldb.RowText(name), Now: sqldb.Timestamp(tx.Now())}
	err := tx.First(ctx, &row, `SELECT `+lockColumns+`, `+tx.SQL().Clock(1, 1)+` AS now
		FROM scheduler_lock WHERE name = $2`, sqldb.Timestamp(tx.Now()), name)
	if errors.Is(err, sqldb.ErrNotFound) {
		err = nil
	}
	return row, err
}

// Guard implements [leader.Store]. The clock is read when the row is locked:
// the wait for that may have been long.
func (s Store) Guard(ctx context.Context, tx leader.DBTX, now time.Time, f leader.Fence) error {
	d := s.db.SQL()
	var live bool
	err := tx.QueryRowContext(ctx, d.Rebind(`SELECT held.expires > `+d.Clock(1, 1)+` FROM (
			SELECT l.expires FROM scheduler_lock AS l WHERE l.name = $2 AND l.holder = $3 AND l.token = $4`+
		d.ShareRows+`) AS held`),
		sqldb.Timestamp(now), f.Lock, f.Holder, f.Token).Scan(&live)
	switch {
	case err == nil && live:
		return nil
	case err == nil, errors.Is(err, sql.ErrNoRows):
		return leader.ErrLost
	}
	return fmt.Errorf("check lock %q: %w", f.Lock, err)
}
