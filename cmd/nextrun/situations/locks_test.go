package situations_test

import (
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
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
		not:    []string{"Others take it over", "state ok"},
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
