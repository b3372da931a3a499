package sqldb

import (
	"context"
	"errors"
	"regexp"

	"github.com/nextrun/nextrun/internal/service"
)

// The sentinel errors, which package store explains.
var (
	ErrBusy              = errors.New("the database is busy")
	ErrContended   error = special{"the database is busy: given up after a timeout", ErrBusy}
	ErrConflict    error = special{"the database is busy: transactions were in each other's way", ErrContended}
	errCommitting  error = special{"the database is busy: others were committing", ErrBusy}
	ErrUnavailable       = errors.New("the database cannot be reached")
	ErrUnable      error = special{"the database cannot do this now", ErrUnavailable}
	ErrSequence    error = special{"a sequence is behind its table; nextrun check says what sets it right", ErrUnable}
	ErrNoFile      error = special{"the file is not a SQLite database", ErrUnavailable}
	ErrNoSchema          = errors.New("tables of nextrun are missing, or of another version; run: nextrun migrate up")
	ErrDenied            = errors.New("this login needs a role of dist/postgres/roles.sql, see docs/permissions.md")
	ErrNotFound          = service.ErrNotFound
	ErrRefused           = errors.New("refused by the database")
	ErrDuplicate   error = special{"exists already", errors.Join(ErrRefused, service.ErrDuplicate)}
	ErrUnreadable  error = special{"a row cannot be read", ErrRefused}
	ErrNoDatabase        = errors.New("there is no such file")
)

// IsOurTable finds the name of a table of nextrun in the message of a database that
// cannot find a table, or denies it.
func IsOurTable(message string) bool { return ourTable.MatchString(message) }

var ourTable = regexp.MustCompile(`\b(periodic_\w+|job|joblog|jobgroupuse|job_limit|scheduler_lock|worker|` +
	`(event|outbox)_\w+|nextrun_\w+)\b`)

// Special returns an error that is also a more general one, whose text it does not
// repeat.
func Special(text string, general error) error { return special{text, general} }

type special struct {
	text    string
	general error
}

func (s special) Error() string { return s.text }

// Unwrap makes [errors.Is] find the general error.
func (s special) Unwrap() error { return s.general }

// FaultOf says what to blame for an error. An unknown error may come from one row, such as an error of a user's trigger.
func FaultOf(err error) service.Fault {
	switch {
	case errors.Is(err, ErrContended):
		return service.FaultLock
	case errors.Is(err, ErrBusy), errors.Is(err, ErrUnavailable),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return service.FaultDatabase
	case errors.Is(err, ErrRefused):
		return service.FaultRow
	}
	return service.FaultUnknown
}
