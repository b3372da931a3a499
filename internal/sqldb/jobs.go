package sqldb

import (
	"context"
)

// withoutJobs is migrations.WithoutJobs.
const withoutJobs = "without job"

// HasJobs reports whether the database has the tables of jobs. A database that was
// made without them may get them later, so only a yes is remembered.
func (tx *Tx) HasJobs(ctx context.Context) (bool, error) {
	if tx.db.hasJobs.Load() {
		return true, nil
	}
	var without bool
	err := tx.tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM nextrun_found WHERE name = '"+withoutJobs+"')").Scan(&without)
	if err != nil {
		return false, tx.db.Classify(ctx, err)
	}
	tx.db.hasJobs.Store(!without)
	return !without, nil
}

// NeedJobs returns [ErrNoJobs] if the database has no tables of jobs.
func (tx *Tx) NeedJobs(ctx context.Context) error {
	has, err := tx.HasJobs(ctx)
	if err == nil && !has {
		err = ErrNoJobs
	}
	return err
}

// askForJobs finds out on a connection of nextrun's own whether the database has the
// tables of jobs, so that the caller's transaction, whose role may have fewer rights,
// need not. If it cannot find out, the transaction will.
func askForJobs(ctx context.Context, db *DB) {
	if db.pools.Lent || db.hasJobs.Load() {
		return // the pool is the caller's, who may hold its last connection
	}
	_ = db.View(ctx, func(tx *Tx) error { _, err := tx.HasJobs(ctx); return err })
}
