package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"

	"github.com/nextrun/nextrun/jobqueue/backend"
	"github.com/nextrun/nextrun/periodic"
)

// The sentinel errors, which package store explains.
var (
	ErrBusy              = errors.New("the database is busy")
	ErrContended   error = sentinel{"the database is busy: given up after a timeout", ErrBusy}
	ErrConflict    error = sentinel{"the database is busy: transactions were in each other's way", ErrContended}
	ErrUnavailable       = errors.New("the database cannot be reached")
	ErrNoSchema          = errors.New("tables of nextrun are missing, or of another version; run: nextrun migrate up")
	ErrNoJobs      error = sentinel{noJobs, errors.Join(ErrNoSchema, periodic.ErrNoJobs)}
	ErrNotFound          = backend.ErrNotFound
	ErrRefused           = errors.New("refused by the database")
	ErrDuplicate   error = sentinel{"exists already", errors.Join(ErrRefused, periodic.ErrDuplicate)}
	ErrUnreadable  error = sentinel{"a row cannot be read", ErrRefused}
	ErrNoDatabase        = errors.New("there is no such file")
)

const noJobs = "this database has no tables of jobs: they were left out by nextrun migrate up --without job; " +
	"set the sink of tasks to another queue, or add the tables: nextrun migrate up --with job"

// ownTable finds the name of a table of nextrun in the message of a database that
// cannot find a table.
var ownTable = regexp.MustCompile(`\b(periodic_(task|tick|ready|health|overdue|upcoming)|job|joblog|jobgroupuse|job_pause|job_limit|scheduler_lock|` +
	`(event|outbox)_\w+|nextrun_\w+)\b`)

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
	if errors.Is(class, ErrNoSchema) {
		db.hasJobs.Store(false) // look again
	}
	broken := errors.Is(class, ErrBusy) || errors.Is(class, ErrUnavailable) || errors.Is(err, sql.ErrTxDone)
	if end := ctx.Err(); end != nil && broken {
		class = end
	}
	if class != nil && !errors.Is(err, class) {
		return fmt.Errorf("%w: %w", class, err)
	}
	return err
}
