// Package database has the databases to which faults happen: a PostgreSQL server with replicas that take its place, and a SQLite file.
package database

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

// Dialect answers questions about a database.
type Dialect struct {
	Name      string
	Tables    []string // statements that make the log of changes and the queue of somebody else
	OwnClock  bool     // its clock is not that of the processes
	Now       string   // SQL for the time
	MinuteAgo string   // SQL for the time a minute ago
	Version   string   // a query
}

// Postgres is PostgreSQL. The tables belong to the role nextrun.
var Postgres = Dialect{
	Name: "postgres", Tables: postgresTables(), OwnClock: true,
	Now:       "now() AT TIME ZONE 'UTC'",
	MinuteAgo: "now() AT TIME ZONE 'UTC' - interval '1 minute'",
	Version:   "SELECT 'PostgreSQL ' || split_part(current_setting('server_version'), ' ', 1)",
}

// SQLite is SQLite. A file has the clock of those who use it.
var SQLite = Dialect{
	Name: "sqlite", Tables: sqliteTables(),
	Now:       "strftime('%Y-%m-%d %H:%M:%f', 'now') || '000'",
	MinuteAgo: "strftime('%Y-%m-%d %H:%M:%f', 'now', '-1 minute')",
	Version:   "SELECT 'SQLite ' || sqlite_version()",
}

// Exec runs statements one after the other.
func Exec(ctx context.Context, db *sql.DB, statements ...string) error {
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%w in %s", err, s)
		}
	}
	return nil
}

// Await waits until a query says 0.
func Await(ctx context.Context, db func() *sql.DB, patience time.Duration, query string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	last := fmt.Errorf("no answer")
	for ctx.Err() == nil {
		var n int
		err := db().QueryRowContext(ctx, query).Scan(&n)
		switch {
		case err == nil && n == 0:
			return nil
		case ctx.Err() == nil:
			last = cmp.Or(err, fmt.Errorf("it is %d", n))
		}
		fault.Wait(ctx, 200*time.Millisecond)
	}
	return fmt.Errorf("not within %s: %w", patience, last)
}

// The database itself writes down what happens to the plan of a task: its edits, by whomever, and when it is planned after
// them. Between a row that makes a plan and the next row that ends it, every tick of the timer has to be accounted for.
const changeTable = `CREATE TABLE chaos_change (
	seq %s, at timestamp NOT NULL, task_id text NOT NULL, was timestamp, due timestamp, nextrun timestamp,
	timer text, enabled boolean)`

// When a plan appears, ends or follows another timer.
const changeWhen = `(OLD.due IS NULL) <> (NEW.due IS NULL) OR OLD.timer <> NEW.timer OR OLD.enabled <> NEW.enabled
	OR NEW.due IS NULL AND OLD.nextrun <> NEW.nextrun`

// mailTable is a queue of somebody else, which three statements describe to nextrun.
const mailTable = `CREATE TABLE mail_queue (id varchar(36) PRIMARY KEY, task_id text NOT NULL, payload text NOT NULL,
	state varchar(10) NOT NULL DEFAULT 'new')`

const mailIndex = `CREATE INDEX mail_state ON mail_queue (state)`

func postgresTables() []string {
	return []string{
		fmt.Sprintf(changeTable, "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"), mailTable, mailIndex,
		// NEW is NULL where a row is deleted, and OLD where it is inserted.
		`CREATE FUNCTION chaos_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			INSERT INTO public.chaos_change (at, task_id, was, due, nextrun, timer, enabled)
			VALUES (clock_timestamp() AT TIME ZONE 'UTC', coalesce(NEW.id, OLD.id), OLD.due, NEW.due, NEW.nextrun, NEW.timer, coalesce(NEW.enabled, false));
			RETURN NULL;
		END $$`,
		`CREATE TRIGGER chaos_born AFTER INSERT OR DELETE ON periodic_task FOR EACH ROW EXECUTE FUNCTION chaos_note()`,
		`CREATE TRIGGER chaos_changed AFTER UPDATE ON periodic_task FOR EACH ROW WHEN (` + changeWhen + `) EXECUTE FUNCTION chaos_note()`,
		"ALTER TABLE chaos_change OWNER TO nextrun", "ALTER TABLE mail_queue OWNER TO nextrun",
	}
}

func sqliteTables() []string {
	trigger := func(event, when, name, was, rest string) string {
		return `CREATE TRIGGER chaos_` + event + ` AFTER ` + event + ` ON periodic_task ` + when + ` BEGIN
			INSERT INTO chaos_change (at, task_id, was, due, nextrun, timer, enabled)
			VALUES (strftime('%Y-%m-%d %H:%M:%f', 'now'), ` + name + `.id, ` + was + `, ` + rest + `); END`
	}
	now := "NEW.due, NEW.nextrun, NEW.timer, NEW.enabled"
	return []string{
		fmt.Sprintf(changeTable, "integer PRIMARY KEY AUTOINCREMENT"), mailTable, mailIndex,
		trigger("INSERT", "", "NEW", "NULL", now),
		trigger("UPDATE", "WHEN "+changeWhen, "NEW", "OLD.due", now),
		trigger("DELETE", "", "OLD", "OLD.due", "NULL, NULL, NULL, 0"),
	}
}
