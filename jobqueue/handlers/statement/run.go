package statement

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

// runner runs the statements of a handler.
type runner struct {
	Work
	db     *sqldb.DB
	sqlite bool
	list   []statement
}

func (w Work) runner(on sqldb.Opened) (r runner, err error) {
	if err := w.Validate(); err != nil {
		return r, err
	}
	r = runner{Work: w, db: sqldb.Of(on)}
	if r.sqlite = r.db.SQL().IsSQLite(); r.sqlite && w.Role != "" {
		return r, errors.New("role: SQLite has no roles")
	}
	r.list, err = w.parse(r.db.SQL().Placeholder)
	return r, err
}

// Handler returns a handler that runs SQL on a database, and ends its job in the same
// transaction: see [jobqueue.CompleteTx]. Each job that runs holds a connection; on
// SQLite it holds the write lock of the whole database. The result of the job is how many rows
// the SQL has changed.
func (w Work) Handler(on sqldb.Opened) (jobqueue.Handler, error) {
	r, err := w.runner(on)
	if err != nil {
		return nil, err
	}
	return jobqueue.Timeout(w.Timeout, r.run), nil
}

// run carries out the statements, and ends the job in the same transaction.
func (r runner) run(ctx context.Context, job *jobqueue.JobContext) error {
	args, err := r.args(job)
	if err != nil {
		return jobqueue.Permanent(err)
	}
	return r.db.Update(ctx, func(tx *sqldb.Tx) error {
		tx.Changes(sqldb.TopicTasks)
		before, err := r.begin(ctx, tx)
		if err != nil {
			return err
		}
		rows := int64(0)
		for i, s := range r.list {
			do := r.exec
			if r.sqlite && s.reads() {
				do = r.read
			}
			n, err := do(ctx, tx, s.text, args[i])
			if err != nil {
				return r.at(i, err)
			}
			rows += n
		}
		if err := r.restore(ctx, tx, before); err != nil {
			return err
		}
		job.SetResult(fmt.Sprintf("rows: %d", rows))
		return jobqueue.CompleteTx(ctx, tx.DBTX(), job)
	})
}

// settings are what nextrun's own statements depend on, and the statements of the handler may change.
type settings struct{ Role, Path string }

// begin lets the statements take their time, which the context limits, and sets the role. It returns the settings that were
// there before.
func (r runner) begin(ctx context.Context, tx *sqldb.Tx) (before settings, err error) {
	if r.sqlite {
		return before, nil
	}
	err = tx.First(ctx, &before, `SELECT current_setting('role') AS role, current_setting('search_path') AS path
		FROM set_config('statement_timeout', '0', true) AS s, set_config('lock_timeout', '0', true) AS l`)
	if err != nil || r.Role == "" {
		return before, err
	}
	return before, setRole(ctx, tx, r.Role)
}

// restore brings back the role and the schema of before, for the end of the job.
func (r runner) restore(ctx context.Context, tx *sqldb.Tx, before settings) error {
	if r.sqlite {
		return nil
	}
	_, err := tx.Exec(ctx, "SELECT pg_catalog.set_config('role', $1, true), pg_catalog.set_config('search_path', $2, true)", before.Role, before.Path)
	return err
}

func setRole(ctx context.Context, tx *sqldb.Tx, role string) error {
	_, err := tx.Exec(ctx, "SELECT set_config('role', $1, true)", role)
	return err
}

func (r runner) exec(ctx context.Context, tx *sqldb.Tx, text string, args []any) (int64, error) {
	result, err := tx.DBTX().ExecContext(ctx, text, args...)
	if err != nil {
		return 0, r.others(ctx, err)
	}
	return result.RowsAffected()
}

// read reads the rows of a statement to the end: exec ends at the first one on SQLite.
func (r runner) read(ctx context.Context, tx *sqldb.Tx, text string, args []any) (int64, error) {
	rows, err := tx.DBTX().QueryContext(ctx, text, args...)
	if err != nil {
		return 0, r.others(ctx, err)
	}
	defer rows.Close() //nolint:errcheck // what is read to its end is closed
	count := int64(0)
	for rows.Next() {
		count++
	}
	return count, rows.Err()
}

// others keeps an error about a table or a column of somebody else's from reading as if nextrun's were missing.
func (r runner) others(ctx context.Context, err error) error {
	if errors.Is(r.db.Classify(ctx, err), sqldb.ErrNoSchema) {
		return errors.New(err.Error())
	}
	return err
}

// args are the values of the parameters of each statement.
func (r runner) args(job *jobqueue.JobContext) ([][]any, error) {
	values := map[string]any{}
	decoder := json.NewDecoder(strings.NewReader(job.Args))
	decoder.UseNumber()
	readable := decoder.Decode(&values) == nil && values != nil
	if !readable { // null leaves no map, and what breaks off leaves a part of one
		values = map[string]any{}
	}
	values["nextrun_job_id"], values["nextrun_task"], values["nextrun_due"] = job.JID, job.Tracker, nil
	if !job.Due.IsZero() {
		values["nextrun_due"] = job.Due.UTC().Format("2006-01-02 15:04:05.000000")
	}
	list := make([][]any, len(r.list))
	for i, s := range r.list {
		for _, name := range s.params {
			v, is := values[name]
			switch {
			case !is && !readable:
				return nil, fmt.Errorf("the args of the job are no JSON object, and the statement needs :%s", name)
			case !is:
				return nil, fmt.Errorf("the args of the job have no %q, which the statement needs", name)
			}
			list[i] = append(list[i], r.value(v))
		}
	}
	return list, nil
}

// value is a value of JSON as a parameter. PostgreSQL reads texts as what it needs there.
func (r runner) value(v any) any {
	switch v := v.(type) {
	case nil, string:
		return v
	case bool:
		if r.sqlite {
			return v
		}
	case json.Number:
		if n, err := v.Int64(); err == nil && r.sqlite {
			return n
		}
		if f, err := v.Float64(); err == nil && r.sqlite {
			return f
		}
	}
	text, _ := json.Marshal(v) // what was decoded from JSON
	return string(text)
}

// planned are the words with which statements begin that a database can plan, redefining those with which statements
// begin that may leave other tables or rights than there are now.
var (
	planned    = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "VALUES", "TABLE", "WITH"}
	redefining = []string{"CREATE", "ALTER", "DROP", "DO", "CALL", "IMPORT", "GRANT", "REVOKE"}
)

// Check returns what the database has against the statements. It runs none but SET LOCAL: the database plans those
// that read or write rows, which checks names and rights. What follows a statement that makes or drops something is
// not checked.
func (w Work) Check(ctx context.Context, on sqldb.Opened) error {
	r, err := w.runner(on)
	if err != nil {
		return err
	}
	return r.db.View(ctx, func(tx *sqldb.Tx) error {
		if r.Role != "" {
			if err := setRole(ctx, tx, r.Role); err != nil {
				return err
			}
		}
		for i, s := range r.list {
			verb := s.words[0]
			switch {
			case slices.Contains(redefining, verb), verb == "SELECT" && slices.Contains(s.words, "INTO"):
				return nil
			case slices.Contains(planned, verb):
				_, err = r.exec(ctx, tx, "EXPLAIN "+s.text, make([]any, len(s.params)))
			case verb == "SET": // what follows may depend on it
				_, err = r.exec(ctx, tx, s.text, nil)
			}
			if err != nil {
				return r.at(i, err)
			}
		}
		return nil
	})
}
