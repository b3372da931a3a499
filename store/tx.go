package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/nextrun/nextrun/jobqueue"
)

// Tx is a transaction. It carries one now. It is not safe for concurrent use.
type Tx struct {
	tx  jobqueue.DBTX
	db  *DB
	now time.Time
}

// Now is the database's time at the start of the transaction: UTC,
// microseconds.
func (tx *Tx) Now() time.Time { return tx.now }

// Update runs fn in a transaction that may write, and commits it unless fn
// returns an error. On SQLite it holds the write lock from the start.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	return db.inTx(ctx, db.write, false, db.options.LockTimeout, fn)
}

// How long a transaction waits for a row that somebody else has locked
// (PostgreSQL), where that must not delay the work on other rows.
const (
	// briefWait is for the first attempt at a batch of rows.
	briefWait = 200 * time.Millisecond
	// probeWait is for the attempts that look for the locked row of a batch.
	probeWait = 20 * time.Millisecond
)

// updateBriefly is Update for a transaction that waits only briefly for locked
// rows.
func (db *DB) updateBriefly(ctx context.Context, fn func(*Tx) error) error {
	return db.updateWithin(ctx, briefWait, fn)
}

// updateWithin is Update for a transaction that waits for each locked row at
// most as long as wait says (PostgreSQL; at least a millisecond). A longer wait
// ends with [ErrContended].
func (db *DB) updateWithin(ctx context.Context, wait time.Duration, fn func(*Tx) error) error {
	return db.inTx(ctx, db.write, false, wait, fn)
}

// View runs fn in a transaction that only reads.
func (db *DB) View(ctx context.Context, fn func(*Tx) error) error {
	return db.inTx(ctx, db.read, true, db.options.LockTimeout, fn)
}

// inTx runs fn in a transaction that waits for a locked row as long as wait
// says. Errors of statements that fn runs on the bare transaction, as submitters
// do, are classified here.
func (db *DB) inTx(ctx context.Context, pool *sqlx.DB, readOnly bool, wait time.Duration, fn func(*Tx) error) (err error) {
	sqlTx, err := pool.BeginTxx(ctx, db.dialect.txOptions(readOnly))
	if err != nil {
		return db.classify(ctx, fmt.Errorf("begin: %w", err))
	}
	defer func() {
		if p := recover(); p != nil {
			_ = sqlTx.Rollback() // the panic tells more
			panic(p)
		}
		if err != nil {
			if rerr := sqlTx.Rollback(); rerr != nil && !errors.Is(rerr, sql.ErrTxDone) {
				err = fmt.Errorf("%w (rollback: %w)", err, rerr)
			}
			err = db.classify(ctx, err)
		}
	}()
	asked := time.Now()
	now, err := db.dialect.begin(ctx, sqlTx, wait)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	db.skew.measure(asked, time.Now(), now)
	if err := fn(&Tx{tx: sqlTx, db: db, now: now.UTC().Truncate(time.Microsecond)}); err != nil {
		return err
	}
	if err := sqlTx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// join returns the caller's transaction as one of ours, with a now of its own.
func (db *DB) join(ctx context.Context, outer jobqueue.DBTX) (*Tx, error) {
	now, err := db.dialect.now(ctx, outer)
	if err != nil {
		return nil, db.classify(ctx, fmt.Errorf("ask for the time: %w", err))
	}
	return &Tx{tx: outer, db: db, now: now.UTC().Truncate(time.Microsecond)}, nil
}

// exec runs a statement with placeholders $1, $2, ... and returns the number
// of rows it touched.
func (tx *Tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := tx.tx.ExecContext(ctx, tx.db.dialect.rebind(query), args...)
	if err != nil {
		return 0, tx.db.classify(ctx, err)
	}
	return result.RowsAffected()
}

// skew is the difference of the database's clock to the own, as last measured.
type skew struct{ nanos atomic.Int64 }

func (s *skew) measure(asked, answered, database time.Time) {
	middle := asked.Add(answered.Sub(asked) / 2)
	s.nanos.Store(int64(database.Sub(middle)))
}

// ClockSkew is how far the database's clock is ahead of the own clock, as last
// measured; 0 on SQLite, which uses the own. It is as exact as half the time
// that a query takes.
func (db *DB) ClockSkew() time.Duration { return time.Duration(db.skew.nanos.Load()) }
