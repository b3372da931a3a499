package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/nextrun/nextrun/jobqueue/backend"
	"github.com/nextrun/nextrun/periodic"
)

// Sentinel errors. All errors of this package wrap one of them where it
// applies; match with [errors.Is]. Only [ErrRefused] blames a row: any other
// error, known or not, may go away by itself or concerns all rows alike.
var (
	// ErrBusy: somebody else held a lock for longer than the timeout, or the
	// database asked to try the transaction again. Nothing was committed.
	ErrBusy = errors.New("the database is busy")
	// ErrContended: a wait for a row that somebody else has locked, or a
	// statement, was given up after its timeout. It is an ErrBusy, too.
	ErrContended error = sentinel{"the database is busy: given up after a timeout", ErrBusy}
	// ErrUnavailable: the database cannot be reached, or the connection broke.
	// If it broke while committing, the transaction may have been committed.
	ErrUnavailable = errors.New("the database cannot be reached")
	// ErrNoSchema: a table or a column is not there, or not any more.
	ErrNoSchema = errors.New("tables of nextrun are missing, or of another version; run: nextrun migrate up")
	// ErrNotFound: there is no row of that id.
	ErrNotFound = backend.ErrNotFound
	// ErrRefused: a row is to blame. A constraint, a trigger or a type refused
	// one of its values, or a value is too large; the message says which.
	ErrRefused = errors.New("refused by the database")
	// ErrDuplicate: a row of that id exists already. It is an ErrRefused, too.
	ErrDuplicate error = sentinel{"exists already", errors.Join(ErrRefused, periodic.ErrDuplicate)}
	// ErrUnreadable: a row holds a value of a type that its column should not
	// have, such as NULL. It is an ErrRefused, too.
	ErrUnreadable error = sentinel{"a row cannot be read", ErrRefused}
	// ErrNoDatabase is returned by [Open] when the SQLite file does not exist
	// and Options.Create is not set.
	ErrNoDatabase = errors.New("there is no such file")
)

// sentinel is an error that is also a more general one, whose text it does not
// repeat.
type sentinel struct {
	text    string
	general error
}

func (s sentinel) Error() string { return s.text }

// Unwrap makes [errors.Is] find the general error.
func (s sentinel) Unwrap() error { return s.general }

// classify wraps a driver's error with the sentinel that the dialect finds for
// it. It does so once, however often it is called. An error that the end of the
// context caused is reported as ctx.Err().
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
