package sqldb

import (
	"context"
	"time"
)

// occupiedWait bounds how long [Occupied] takes.
const occupiedWait = time.Second

// Occupied reports whether another session holds an exclusive lock on a table, as it does
// while it changes columns. Then no row is to blame for a lock timeout.
// It is false where the database cannot tell.
func Occupied(db *DB, table string) (is bool) {
	if db.words.Occupied == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), occupiedWait)
	defer cancel()
	err := db.ViewWithin(ctx, BatchLockWait, func(tx *Tx) error { return tx.First(ctx, &is, db.words.Occupied, table) })
	return is && err == nil
}
