package statement

import (
	"errors"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// Work is SQL that runs as the work of jobs, in one transaction with the end of the job.
type Work struct {
	// SQL is a statement, or several with ; between them. A parameter such as :day has the value of
	// that name in the job's args, which are a JSON object then; :nextrun_due is the tick
	// (UTC; NULL if there is none), :nextrun_job_id the job and :nextrun_task its task.
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
func (w Work) Validate() error {
	p := &service.Check{Config: "statement.Work"}
	p.Field(0 <= w.Timeout && w.Timeout <= longest, "Timeout", w.Timeout, "a duration from 1ms to 1000h, or 0 for none")
	p.Field(!strings.ContainsRune(w.Role, 0) && len(w.Role) <= 63, "Role", w.Role, "at most 63 bytes, and no NUL")
	_, err := Parse(w.SQL, "$")
	return errors.Join(p.Err(), err)
}

// Commits says why the statement may end its transaction when it runs, or need a client; empty: nothing in its text tells so.
func (w Work) Commits() string {
	list, err := Parse(w.SQL, "$")
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
func (w Work) Params() (names []string) {
	list, _ := Parse(w.SQL, "$")
	for i := range list {
		names = append(names, list[i].Params...)
	}
	return names
}
