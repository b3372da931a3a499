package sqldb

import (
	"context"
	"time"
)

// Alone runs a statement by itself, without parameters, in the one round trip that it needs. No timeout of this module
// bounds it: it is for measurements, and for statements that cannot run in a transaction.
func (db *DB) Alone(ctx context.Context, statement string) error {
	_, err := db.AloneRows(ctx, statement)
	return err
}

// AloneRows is Alone, and returns the number of rows that the statement touched.
func (db *DB) AloneRows(ctx context.Context, statement string) (int64, error) {
	result, err := db.pools.Write.ExecContext(ctx, statement)
	if err != nil {
		return 0, db.Classify(ctx, err)
	}
	return result.RowsAffected()
}

// AloneSelect is Alone for a statement that returns rows; see [Tx.Select].
func (db *DB) AloneSelect(ctx context.Context, dest any, statement string) error {
	return db.In(db.pools.Write, db.timing.now(time.Now())).Select(ctx, dest, statement)
}
