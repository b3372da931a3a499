package scheduler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

const unplanned = "1970-01-01 00:00:00.000000"

// timeTexts are times as SQLite's table accepts them, and as it stores them.
var timeTexts = map[string]string{
	"2026-07-01 12:30":                 "2026-07-01 12:30:00.000000",
	"2026-07-01T12:30":                 "2026-07-01 12:30:00.000000",
	"2026-07-01 12:30:05":              "2026-07-01 12:30:05.000000",
	"2026-07-01T12:30:05Z":             "2026-07-01 12:30:05.000000",
	"2026-07-01 12:30Z":                "2026-07-01 12:30:00.000000",
	"2026-07-01 12:30:05.1":            "2026-07-01 12:30:05.100000",
	"2026-07-01T12:30:05.1234567Z":     "2026-07-01 12:30:05.123456",
	"2026-07-01 12:30:05+02:00":        "2026-07-01 10:30:05.000000",
	"2026-07-01T00:30:05.5-01:30":      "2026-07-01 02:00:05.500000",
	"2026-01-01 00:30:00+01:00":        "2025-12-31 23:30:00.000000",
	"2028-02-29 00:00":                 "2028-02-29 00:00:00.000000",
	"1970-01-01 00:00:00":              unplanned,
	"9999-12-31 23:59:59":              "9999-12-31 23:59:59.000000",
	"9999-12-31 23:59:59.999999":       "9999-12-31 23:59:59.999999",
	"2026-07-01 12:30:05.000001+00:00": "2026-07-01 12:30:05.000001",
}

// notTimes are refused. Those that SQLite's own functions would take are the
// dangerous ones.
var notTimes = []any{
	"", "now", "2026", "12:30", "12:30:05", "2026-07-01", "2026-02-31 00:00", "2026-02-29 00:00", "2026-13-01 00:00",
	"2026-00-10 00:00", "2026-07-00 00:00", "2026-07-01 24:00", "2026-07-01 25:00", "2026-07-01 12:60", "2026-07-01 12:30:60",
	"2026-07-01 12:30:05.", "2026-07-01 12:30:05.x", "2026-07-01 12:30:05.1x2", "2026-07-01 12:30:5", "2026-7-1 12:30",
	"2026-07-01 12:30 ", " 2026-07-01 12:30", "2026-07-01  12:30", "2026-07-01 12:30 +02:00", "2026-07-01 12:30+0200",
	"2026-07-01 12:30+25:00", "2026-07-01 12:30:05z", "2026-07-01t12:30", "2026-07-01 12:30:05 Europe/Berlin", "2460000.5",
	"1969-12-31 23:59:59", "0001-01-01 00:00:00", "1970-01-01 00:00+00:01", "9999-12-31 23:59:59-00:01", "10000-01-01 00:00",
	"infinity", "-infinity", "-2026-07-01 12:30", "2026-07-01 12:30\x00", "\xff026-07-01 12:30",
	int64(1782909000), 2460000.5, []byte("2026-07-01 12:30:00"),
}

// SQLite has no type for times: the table accepts texts that mean one time only,
// stores them in the one form, and refuses all others, inserted or updated.
func TestSQLTimeTexts(t *testing.T) {
	f := newSQLiteFixture(t)
	f.exec(insertTask, "edited", "yearly")
	f.once() // so that due is set
	for _, column := range []string{"nextrun", "starts", "ends", "created"} {
		for text, want := range timeTexts {
			f.exec("INSERT INTO periodic_task (id, task, timer, "+column+") VALUES ('added', 'backup', 'daily', ?)", text)
			f.want(want, "SELECT CAST("+column+" AS text) FROM periodic_task WHERE id = 'added'")
			f.exec("DELETE FROM periodic_task WHERE id = 'added'")
			f.exec("UPDATE periodic_task SET "+column+" = ? WHERE id = 'edited'", text)
			f.want(want, "SELECT CAST("+column+" AS text) FROM periodic_task WHERE id = 'edited'")
			f.exec("UPDATE periodic_task SET starts = NULL, ends = NULL WHERE id = 'edited'")
		}
		for _, bad := range notTimes {
			f.refused(column, "INSERT INTO periodic_task (id, task, timer, "+column+") VALUES ('added', 'backup', 'daily', ?)", bad)
			f.refused(column, "UPDATE periodic_task SET "+column+" = ? WHERE id = 'edited'", bad)
		}
	}
	f.want(1, "SELECT count(*) FROM periodic_task")
	f.once()
}

func newSQLiteFixture(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	return newFixture(migrated.New(t, storetest.SQLite))
}

// refused fails unless a user's statement is refused with a message that names
// what is wrong, and leaves nothing behind.
func (f *fixture) refused(message, query string, args ...any) {
	f.Helper()
	_, err := f.SQL.Exec(f.SQL.Rebind(query), args...)
	switch {
	case err == nil:
		f.Errorf("%s %q was accepted", query, args)
	case !strings.Contains(err.Error(), message):
		f.Errorf("%s %q: the message does not name %q: %v", query, args, message, err)
	}
}

// A setting of the database that changes what arrays mean does not keep tasks from being
// planned and submitted.
func TestArrayNullsOff(t *testing.T) {
	before := newPostgresFixture(t)
	before.exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET array_nulls = off', current_database()); END $$`)
	f := newFixture(migrated.Open(storetest.At(t, before.URL)))
	f.exec(insertTask, "new", "yearly")
	f.exec(insertTask, "due", "yearly")
	f.due("due", 0)
	f.once()
	f.want(1, "SELECT count(*) FROM job WHERE tracker = 'due'")
	f.want(0, "SELECT count(*) FROM periodic_task WHERE due IS NULL")
}

// The view of 10,000 tasks reads of each its ticks of a day, by the primary key,
// and not all that are kept: the time in it is one that indexes can be asked for.
func TestHealthReadsADay(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		f.exec("INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('report', ?, 'submitted', ?)", f.at(0), f.at(0))
		user := f.Connect()
		user.SetMaxOpenConns(1)
		var steps []struct {
			ID, Parent, NotUsed int // SQLite's
			Detail              string
			Plan                string `db:"QUERY PLAN"`
		}
		explain, want := "EXPLAIN QUERY PLAN SELECT * FROM periodic_health", "(task_id=? AND due>?)"
		if f.Kind == "postgres" {
			explain, want = "EXPLAIN SELECT * FROM periodic_health", "Index Cond: (((task_id)::text = (t.id)::text) AND (due > "
			if _, err := user.Exec("SET enable_seqscan = off; SET enable_bitmapscan = off"); err != nil {
				f.Fatal(err)
			}
		}
		f.done(user.Select(&steps, explain))
		if plan := fmt.Sprint(steps); !strings.Contains(plan, want) {
			f.Errorf("the plan lacks %q:\n%s", want, plan)
		}
	})
}

// What became of a task's newest event stands in the view, as what became of a job does.
func TestHealthKnowsWhatBecameOfEvents(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, sink) VALUES ('report', 'due', 'yearly', 'event')")
		f.once()
		f.due("report", time.Second)
		f.once()
		f.want("pending", "SELECT last_state FROM periodic_health")
		f.exec("UPDATE outbox_message SET published = ?", f.at(0))
		f.want("success", "SELECT last_state FROM periodic_health WHERE last_finished IS NOT NULL AND last_error IS NULL")
		f.exec("UPDATE outbox_message SET published = NULL, dead = ?, problem = 'the receiver refuses it'", f.at(0))
		f.want("failed: the receiver refuses it", "SELECT last_state || ': ' || last_error FROM periodic_health")
	})
}
