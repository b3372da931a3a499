package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// DBTX is what jobqueue.DBTX is.
type DBTX = interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Tx is a transaction. It carries one now. It is not safe for concurrent use.
type Tx struct {
	tx  DBTX
	db  *DB
	now time.Time

	asked, answered time.Time

	changes []Topic
}

// Now is the database's time at the start of the transaction: UTC,
// microseconds.
func (tx *Tx) Now() time.Time { return tx.now }

// Asked returns the host's time before the database was asked for Now, and after it had answered.
func (tx *Tx) Asked() (asked, answered time.Time) { return tx.asked, tx.answered }

// RefreshNow asks for the time again.
func (tx *Tx) RefreshNow(ctx context.Context) error {
	asked := time.Now()
	now, err := tx.db.timing.again(ctx, tx.tx)
	if err != nil {
		return tx.db.Classify(ctx, err)
	}
	tx.asked, tx.answered, tx.now = asked, time.Now(), now
	tx.db.health.measure(tx.asked, tx.answered, now)
	return nil
}

// Lock waits until no other transaction that writes has locked the name, and locks it until this one ends.
func (tx *Tx) Lock(ctx context.Context, name string) error {
	if tx.db.words.LockSQL == "" {
		return nil
	}
	_, err := tx.Exec(ctx, tx.db.words.LockSQL, name)
	return err
}

// Update runs fn in a transaction that may write, and commits it unless fn
// returns an error. On SQLite it holds the write lock from the start.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	return db.inTx(ctx, false, db.options.LockTimeout, fn)
}

// How long a transaction waits for a row that somebody else has locked
// (PostgreSQL), where that must not delay the work on other rows.
const (
	// BatchLockWait is for the first attempt at a batch of rows.
	BatchLockWait = 200 * time.Millisecond
	// BriefLockWait is for the attempts that look for the locked row of a batch.
	BriefLockWait = 20 * time.Millisecond
)

// UpdateWithin is Update for a transaction that waits for each locked row at
// most as long as wait says (PostgreSQL; at least a millisecond). A longer wait
// ends with [ErrContended]. Within a context of [Keep], the database plans its statements without regard to their
// parameters.
func (db *DB) UpdateWithin(ctx context.Context, wait time.Duration, fn func(*Tx) error) error {
	return db.inTx(ctx, false, wait, fn)
}

// View runs fn in a transaction that only reads.
func (db *DB) View(ctx context.Context, fn func(*Tx) error) error {
	return db.inTx(ctx, true, db.options.LockTimeout, fn)
}

// ViewWithin is View for a transaction that waits for a locked table at most as
// long as wait says, or as LockTimeout if that is shorter.
func (db *DB) ViewWithin(ctx context.Context, wait time.Duration, fn func(*Tx) error) error {
	return db.inTx(ctx, true, min(wait, db.options.LockTimeout), fn)
}

// inTx runs fn in a transaction that waits for a locked row as long as wait
// says. It is READ COMMITTED whatever default_transaction_isolation says: at a
// higher level rows that others have changed meanwhile fail a claim instead of
// being passed over. Errors of statements that fn runs on the bare transaction,
// as submitters do, are classified here.
func (db *DB) inTx(ctx context.Context, readOnly bool, wait time.Duration, fn func(*Tx) error) (err error) {
	began := time.Now()
	defer func() {
		if errors.Is(err, ErrUnavailable) && TimedOut(err) {
			db.pools.Suspect()
		}
		err = db.health.outcome(err, !readOnly, began)
	}()
	opening := db.timing.opening(ctx, wait)
	sqlTx, err := db.pools.Begin(context.WithValue(ctx, openingKey{}, opening), readOnly)
	if err != nil {
		return db.Classify(ctx, fmt.Errorf("begin: %w", err))
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
			err = db.Classify(ctx, err)
		}
	}()
	asked := time.Now()
	if opening.Sent {
		asked = opening.Asked
	}
	now, err := db.timing.begin(ctx, sqlTx, opening)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	answered := time.Now()
	db.health.measure(asked, answered, now)
	tx := &Tx{tx: sqlTx, db: db, now: now, asked: asked, answered: answered}
	if err := fn(tx); err != nil {
		return err
	}
	if err := sqlTx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", db.committing(err))
	}
	db.local.tell(tx.changes)
	return nil
}

// committing judges an error of a commit. On PostgreSQL transactions that notify commit one
// after the other. One whose turn does not come within the lock timeout has met no locked
// row: the database is busy.
func (db *DB) committing(err error) error {
	if said := db.dialect.Said(err); said.Code == "55P03" && said.Where == "" {
		return fmt.Errorf("%w: %w", errCommitting, err)
	}
	return err
}

// Join returns the caller's transaction as one of ours, with a now of its own.
func (db *DB) Join(ctx context.Context, outer DBTX) (*Tx, error) {
	now, schema, err := db.timing.join(ctx, outer)
	if err != nil {
		return nil, db.Classify(ctx, err)
	}
	if want := db.options.Schema; want != "" && schema != want {
		return nil, fmt.Errorf("the transaction uses the schema %q, and nextrun's tables are in %q; let its search_path begin "+
			"with that schema, for instance by SET LOCAL search_path", schema, want)
	}
	return &Tx{tx: outer, db: db, now: now}, nil
}

// In returns the caller's transaction, with a now that the caller knows, as one of ours.
func (db *DB) In(tx DBTX, now time.Time) *Tx { return &Tx{tx: tx, db: db, now: now} }

// DB is the database of the transaction.
func (tx *Tx) DB() *DB { return tx.db }

// DBTX is the bare transaction, for callers with their own statements.
func (tx *Tx) DBTX() DBTX { return tx.tx }

// SQL are the words in which the databases differ.
func (tx *Tx) SQL() *Words { return &tx.db.words }

// Texts makes records of one column, value, of texts.
func (tx *Tx) Texts(placeholder int, values []string) Records {
	return tx.db.Texts(placeholder, values)
}

// FirstRows is [Dialect.FirstRows].
func (tx *Tx) FirstRows(table, condition, alike, order, limit string) string {
	return tx.db.dialect.FirstRows(table, condition, alike, order, limit)
}

// Columns names the columns of a table, none if it does not exist.
func (tx *Tx) Columns(ctx context.Context, table string) ([]string, error) {
	var names []string
	err := tx.Select(ctx, &names, tx.db.words.Columns, table)
	return names, err
}

// IdleTimeout is the one of the [Options]: the session of a transaction in which nothing happens ends after half of it.
func (db *DB) IdleTimeout() time.Duration { return db.options.IdleTimeout }

// AsyncCommit lets the commit of this transaction return before it is durable,
// where the database can do that.
func (tx *Tx) AsyncCommit(ctx context.Context) error {
	if tx.db.words.AsyncCommit == "" {
		return nil
	}
	_, err := tx.Exec(ctx, tx.db.words.AsyncCommit)
	return err
}

// Exec runs a statement with placeholders $1, $2, ... and returns the number
// of rows it touched.
func (tx *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := tx.tx.ExecContext(ctx, tx.db.words.Rebind(query), args...)
	if err != nil {
		return 0, tx.db.Classify(ctx, err)
	}
	return result.RowsAffected()
}
