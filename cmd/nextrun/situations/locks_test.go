package situations_test

import (
	"crypto/rand"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// overdue makes the task one that has been due for a minute.
func overdue(w *world) {
	w.planned(-time.Minute)
	w.sql("UPDATE periodic_task SET since = {-1h}")
}

// Why nobody takes a task that is due.
var ofLocks = []situation{
	{
		name: "no scheduler runs", set: overdue,
		codes:  []string{"task_overdue"},
		alerts: []string{"NextrunSchedulerDown", "NextrunTaskStale"},
		says:   []string{"It has been due for 1 min", "and no scheduler has taken it.", "start one: nextrun serve"},
		not:    []string{"locked", "is not known"},
	},
	{
		name: "a session has locked the row", only: storetest.Postgres,
		set: func(w *world) {
			overdue(w)
			w.d.Hold("SET LOCAL application_name = 'by-hand'; SELECT * FROM periodic_task FOR UPDATE")
		},
		codes:  []string{"task_locked"},
		alerts: []string{"NextrunSchedulerDown", "NextrunTaskStale"},
		says:   []string{"its row is locked by pid ", " (by-hand, user ", ", idle in transaction for ", "A scheduler can take it when that lock ends.", "pg_terminate_backend("},
		not:    []string{"nextrun serve", "no scheduler"},
	},
	{
		name: "a session has locked the aggregate of its events", only: storetest.Postgres,
		set: func(w *world) {
			w.event("attempts = 1, published = {-1s}")
			overdue(w)
			w.d.Hold("SELECT * FROM event_aggregate FOR UPDATE")
		},
		codes:  []string{"task_locked"},
		alerts: []string{"NextrunSchedulerDown", "NextrunTaskStale"},
		says:   []string{"its row of event_aggregate is locked by pid ", "pg_terminate_backend("},
		not:    []string{"is not known", "nextrun serve"},
	},
	{
		name: "a session has locked the row, and a scheduler has marked it", only: storetest.Postgres,
		set: func(w *world) {
			overdue(w)
			w.sql("UPDATE periodic_task SET worker = 'one@1.1', marked = {-50s}")
			w.d.Hold("SELECT * FROM periodic_task FOR UPDATE")
		},
		codes:  []string{"task_locked"},
		alerts: []string{"NextrunSchedulerDown", "NextrunTaskStale"},
		says:   []string{"its row is locked by pid "},
		not:    []string{"working on it", "has not come back"},
	},
	{
		name: "the scheduler that marked it does not come back",
		set: func(w *world) {
			overdue(w)
			w.sql("UPDATE periodic_task SET worker = 'one@1.1', marked = {-50s}")
		},
		codes:  []string{"task_overdue"},
		alerts: []string{"NextrunSchedulerDown", "NextrunTaskStale"},
		says:   []string{"The scheduler one@1.1 marked it 5", " ago and has not come back.", "start one: nextrun serve"},
		not:    []string{"Others take it over", "state success"},
	},
	{
		name: "the row was locked, and the lock has ended", only: storetest.Postgres,
		set: func(w *world) {
			overdue(w)
			w.sql("BEGIN; SELECT * FROM periodic_task FOR UPDATE; COMMIT")
		},
		codes:  []string{"task_overdue"},
		alerts: []string{"NextrunSchedulerDown", "NextrunTaskStale"},
		not:    []string{"locked"},
	},
	{
		name: "a session keeps others from writing to the table of ticks", only: storetest.Postgres,
		set: func(w *world) {
			overdue(w)
			w.d.Hold("LOCK TABLE periodic_tick IN SHARE MODE")
		},
		codes:  []string{"task_locked"},
		alerts: []string{"NextrunSchedulerDown", "NextrunTaskStale"},
		says:   []string{"the table periodic_tick is locked by pid "},
		not:    []string{"nextrun serve", "no scheduler"},
	},
	{
		name: "a table of another program is locked", only: storetest.Postgres,
		set: func(w *world) {
			overdue(w)
			w.sql("CREATE TABLE theirs (id int)")
			w.d.Hold("LOCK TABLE theirs")
		},
		codes:  []string{"task_overdue"},
		alerts: []string{"NextrunSchedulerDown", "NextrunTaskStale"},
		not:    []string{"theirs"},
	},
	{
		name: "the table of the task's queue is locked", only: storetest.Postgres,
		set: func(w *world) {
			w.sql("CREATE TABLE river_job (id int)", "UPDATE periodic_task SET sink = 'river'")
			overdue(w)
			w.d.Hold("LOCK TABLE river_job")
		},
		codes:  []string{"queue_broken", "task_locked"},
		alerts: []string{"NextrunSchedulerDown", "NextrunTaskStale"},
		says:   []string{"the table river_job is locked by pid ", "Tasks that write to that table wait until the lock ends."},
		not:    []string{"nextrun serve"},
	},
	{
		name: "another connection has locked the file", only: storetest.SQLite,
		set: func(w *world) {
			overdue(w)
			w.d.Hold("UPDATE periodic_task SET subject = 'x'")
		},
		codes:  []string{"task_locked"},
		alerts: []string{"NextrunSchedulerDown", "NextrunTaskStale"},
		says:   []string{"another connection has locked the database file"},
		not:    []string{"nextrun serve"},
	},
	{
		name: "the queue cannot be used",
		set: func(w *world) {
			overdue(w)
			w.sql("UPDATE periodic_task SET problem = 'the ticks wait: the queue cannot be used: table river_job has no column tags'")
		},
		codes:   []string{"queue_broken"},
		problem: `the ticks wait: the queue cannot be used: table river_job has no column tags`,
		alerts:  []string{"NextrunSchedulerDown", "NextrunTaskProblem", "NextrunTaskStale"},
		says:    []string{`Its ticks wait for the queue "job": the queue cannot be used: table river_job has no column tags.`, "mend that; its ticks are submitted then"},
		not:     []string{"to fix it", "nextrun serve"},
	},
}

// login makes a login that may use all tables.
func (w *world) login() (name, address string) {
	w.Helper()
	name = strings.ToLower("nextrun_test_" + rand.Text())
	w.sql("CREATE ROLE "+name+" LOGIN PASSWORD 'secret'",
		"GRANT ALL ON ALL TABLES IN SCHEMA public TO "+name, "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO "+name)
	w.Cleanup(func() { w.sql("DROP OWNED BY " + name + "; DROP ROLE " + name) })
	u, err := url.Parse(w.d.URL)
	if err != nil {
		w.Fatal(err)
	}
	u.User = url.UserPassword(name, "secret")
	return name, u.String()
}

// What this login may not read is named, and the rest is said.
func TestLoginWithoutRights(t *testing.T) {
	t.Parallel()
	for table, what := range map[string]string{
		"joblog": "the log of its last failure",
		"worker": "what keeps it from being taken", "job": "its jobs or events",
	} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			w := &world{T: t, d: migrated.New(t, storetest.Postgres)}
			w.sql("DELETE FROM periodic_task", "INSERT INTO periodic_task (id, task, timer) VALUES ('t', 'backup', 'yearly')")
			overdue(w)
			w.ended("failed", "no such host")
			name, address := w.login()
			w.sql("REVOKE ALL ON " + table + " FROM " + name)
			w.sh = clitest.Shell{Env: map[string]string{"NEXTRUN_DB": address}}
			said := words(w.sh.Must(t, "why", "t"))
			wantText(t, said, what+" (")
			wantText(t, said, "permission denied for table "+table)
			if strings.Contains(said, "last run never") {
				t.Errorf("it ran:\n%s", said)
			}
			if table != "job" {
				wantText(t, said, "no such host")
			}
		})
	}
}

// While tasks or their jobs cannot be read at all, the error names who has locked them.
func TestLockedTables(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"periodic_task", "job"} {
		w := &world{T: t, d: migrated.New(t, storetest.Postgres)}
		w.sql("INSERT INTO periodic_task (id, task, timer) VALUES ('t', 'backup', 'yearly')")
		w.d.Hold("SET LOCAL application_name = 'by-hand'; LOCK TABLE " + table)
		w.sh = clitest.Shell{Env: map[string]string{"NEXTRUN_DB": w.d.URL}}
		w.sh.Says(t, ui.Failed, "why t", "the table "+table+" is locked by pid ", "(by-hand, user ", "idle in transaction for ")
	}
}
