package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Sentinel errors. All errors of this package wrap one of them where it
// applies; match with [errors.Is].
var (
	// ErrBusy: somebody else held a lock for longer than the timeout, or the
	// database asked to try the transaction again. Nothing was committed.
	ErrBusy = errors.New("the database is busy")
	// ErrContended: a wait for a row that somebody else has locked, or a
	// statement, was given up after its timeout. It is an ErrBusy, too.
	ErrContended = fmt.Errorf("%w: given up after a timeout", ErrBusy)
	// ErrUnavailable: the database cannot be reached, or the connection broke.
	// If it broke while committing, the transaction may have been committed.
	ErrUnavailable = errors.New("the database cannot be reached")
	// ErrNoSchema: a table or a column is not there, or not any more.
	ErrNoSchema = errors.New("tables of nextrun are missing, or of another version; run: nextrun migrate up")
	// ErrNotFound: there is no row of that id.
	ErrNotFound = errors.New("not found")
	// ErrDuplicate: a row of that id exists already.
	ErrDuplicate = errors.New("exists already")
	// ErrRefused: the table refused a value; the message says which.
	ErrRefused = errors.New("refused by the database")
	// ErrNoDatabase is returned by [Open] when the SQLite file does not exist
	// and Options.Create is not set.
	ErrNoDatabase = errors.New("there is no such file")
)

// classify wraps a driver's error with the sentinel that the dialect finds. What
// the end of the context did to a connection or a statement is told as that end.
func (db *DB) classify(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	class := db.dialect.class(err)
	broken := errors.Is(class, ErrBusy) || errors.Is(class, ErrUnavailable) || errors.Is(err, sql.ErrTxDone)
	if end := ctx.Err(); end != nil && broken {
		class = end
	}
	if class != nil && !errors.Is(err, class) {
		return fmt.Errorf("%w: %w", class, err)
	}
	return err
}
