package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
)

// Tx is a transaction. It carries one now. It is not safe for concurrent use.
type Tx struct {
	tx  *sqlx.Tx
	db  *DB
	now time.Time
}

// Now is the database's time at the start of the transaction: UTC,
// microseconds.
func (tx *Tx) Now() time.Time { return tx.now }

// Update runs fn in a transaction that may write, and commits it unless fn
// returns an error. On SQLite it holds the write lock from the start.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	return db.inTx(ctx, db.write, nil, fn)
}

// View runs fn in a transaction that only reads.
func (db *DB) View(ctx context.Context, fn func(*Tx) error) error {
	return db.inTx(ctx, db.read, &sql.TxOptions{ReadOnly: db.read == db.write}, fn)
}

func (db *DB) inTx(ctx context.Context, pool *sqlx.DB, options *sql.TxOptions, fn func(*Tx) error) (err error) {
	sqlTx, err := pool.BeginTxx(ctx, options)
	if err != nil {
		return db.classify(fmt.Errorf("begin: %w", err))
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
			err = db.classify(err)
		}
	}()
	asked := time.Now()
	now, err := db.dialect.begin(ctx, sqlTx)
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

// exec runs a statement with placeholders $1, $2, ... and returns the number
// of rows it touched.
func (tx *Tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := tx.tx.ExecContext(ctx, tx.db.dialect.rebind(query), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// list scans all rows into dest, a pointer to a slice.
func (tx *Tx) list(ctx context.Context, dest any, query string, args ...any) error {
	return tx.tx.SelectContext(ctx, dest, tx.db.dialect.rebind(query), args...)
}

// get scans the one row into dest, or returns [ErrNotFound].
func (tx *Tx) get(ctx context.Context, dest any, query string, args ...any) error {
	err := tx.tx.GetContext(ctx, dest, tx.db.dialect.rebind(query), args...)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
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
