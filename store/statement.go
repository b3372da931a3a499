package store

import (
	"errors"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store/internal/statement"
)

// Statement is SQL that runs as the work of jobs, in one transaction with the end of the job.
type Statement struct {
	// SQL is a statement, or several with ; between them. A parameter such as :day has the value of
	// that name in the job's args, which are a JSON object then; :nextrun_due is the tick
	// (UTC; NULL if there is none), :nextrun_job_id the job and :nextrun_tracker its tracker.
	// PostgreSQL takes a value for what the statement needs there; use a cast, such as
	// :day::date, where that is not clear.
	SQL string
	// Role runs the SQL (PostgreSQL). The role of the connection must be a member of it. It limits what the
	// statement can do by mistake; functions that the statement calls can go back to the role of the connection.
	Role string
	// Timeout is how long an attempt may take. 0: no limit.
	Timeout time.Duration
}

// longest is the greatest Timeout.
const longest = 1000 * time.Hour

// Validate returns an error that says what is wrong with the statement, as far as that can be
// told without a database: what begins or ends a transaction, cannot run in one, or changes the
// connection is refused.
func (s Statement) Validate() error {
	p := &service.Check{Config: "store.Statement"}
	p.Field(0 <= s.Timeout && s.Timeout <= longest, "Timeout", s.Timeout, "a duration from 1ms to 1000h, or 0 for none")
	p.Field(!strings.ContainsRune(s.Role, 0) && len(s.Role) <= 63, "Role", s.Role, "at most 63 bytes, and no NUL")
	_, err := statement.Parse(s.SQL, "$")
	return errors.Join(p.Err(), err)
}

// Commits says why the statement may end its transaction when it runs, or need a client; empty: nothing in its text tells so.
func (s Statement) Commits() string {
	list, err := statement.Parse(s.SQL, "$")
	if err != nil {
		return err.Error()
	}
	for i := range list {
		if why := list[i].Commits(); why != "" {
			return why
		}
	}
	return ""
}

// Params are the names of the parameters.
func (s Statement) Params() (names []string) {
	list, _ := statement.Parse(s.SQL, "$")
	for i := range list {
		names = append(names, list[i].Params...)
	}
	return names
}

// Statement returns a handler that runs SQL on this database, and ends its job in the same
// transaction: see [jobqueue.CompleteTx]. Each job that runs holds a connection; on
// SQLite it holds the write lock of the whole database. The result of the job is how many rows
// the SQL has changed.
func (db *DB) Statement(s Statement) (jobqueue.Handler, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return statement.Work{DB: db.db, SQL: s.SQL, Role: s.Role, Timeout: s.Timeout}.Handler()
}
