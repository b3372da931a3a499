package situations_test

import (
	"context"
	"log/slog"
	"strings"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// schedulerMay starts one that has few rights, on PostgreSQL, and waits until it reports that.
func (w *world) schedulerMay(grants string) {
	w.Helper()
	role, address := w.login()
	w.d.Exec(strings.ReplaceAll("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ROLE; "+grants, "ROLE", role))
	db, err := store.Open(w.Context(), address, store.Options{})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = db.Close() })
	s, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "main", Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = s.Start(context.WithoutCancel(w.Context()))
	}
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = s.Stop(context.Background()) })
	w.until("the scheduler reports its trouble", "SELECT count(*) FROM worker WHERE trouble IS NOT NULL")
}

// Why nothing is submitted.
var ofPlans = []situation{
	{
		name: "the task is paused, and its next tick is a minute away",
		set: func(w *world) {
			w.sh.Must(w.T, "task", "pause", "t", "--reason", "moving")
			w.sql("UPDATE periodic_task SET due = {1m}, nextrun = {1m}, worker = 'main@1.1', marked = {0s}")
		},
		codes: []string{"task_paused"},
		says:  []string{"state paused", "next run paused", ": moving. What falls due meanwhile is skipped.", "> to end the pause: nextrun task resume t"},
		not:   []string{"has its next tick ready", "in 1 min", "working on it", "no scheduler"},
	},
	{
		name: "the scheduler may not change tasks", only: storetest.Postgres,
		set: func(w *world) {
			overdue(w)
			w.schedulerMay("GRANT SELECT ON ALL TABLES IN SCHEMA public TO ROLE; GRANT ALL ON worker TO ROLE")
		},
		codes:  []string{"task_overdue"},
		alerts: []string{"NextrunTaskOverdue", "NextrunTaskStale"},
		says:   []string{"It has been due for 1 min", "The scheduler main@", " runs and reports: ", "permission denied for table periodic_task"},
		not:    []string{"is not known", "no scheduler runs"},
	},
	{
		name: "the scheduler may not record ticks", only: storetest.Postgres,
		set: func(w *world) {
			overdue(w)
			w.schedulerMay("GRANT ALL ON ALL TABLES IN SCHEMA public TO ROLE; REVOKE INSERT ON periodic_tick FROM ROLE")
		},
		codes:   []string{"task_problem"},
		problem: `the task cannot be scheduled: this login needs a role of dist/postgres/roles.sql, see docs/permissions.md: pq: permission denied for table periodic_tick (42501)`,
		alerts:  []string{"NextrunTaskOverdue", "NextrunTaskProblem", "NextrunTaskStale"},
		says:    []string{"permission denied for table periodic_tick"},
		not:     []string{"is not known", "no scheduler runs"},
	},
	{
		name:  "the task is paused until tomorrow",
		set:   func(w *world) { w.sh.Must(w.T, "task", "pause", "t", "--until", "24h") },
		codes: []string{"task_paused"},
		says:  []string{"state paused", "next run paused until 20", "What falls due meanwhile is skipped."},
	},
	{
		name:  "the pause ends before the next tick",
		set:   func(w *world) { w.sh.Must(w.T, "task", "pause", "t", "--until", "10m") },
		codes: []string{"task_paused"},
		says:  []string{"state paused", "next run 20", ", in "},
		not:   []string{"next run paused"},
	},
	{
		name: "the timer never elapses",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET timer = '*-02-30'")
			w.scheduled()
		},
		codes:   []string{"task_idle"},
		problem: `warning: timer "*-02-30" never elapses`,
		alerts:  []string{"NextrunTaskProblem"},
		says:    []string{"state never elapses", "last run never", "next run never", `Its timer "*-02-30" never elapses from now on.`, "nextrun task set t --timer TIMER"},
		not:     []string{"state waiting", "again", "no scheduler"},
	},
	{
		name: "nobody has planned the task, and no scheduler runs",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET due = NULL, nextrun = '1970-01-01 00:00:00.000000'", "UPDATE periodic_task SET since = {-1h}")
		},
		codes:  []string{"task_overdue"},
		alerts: []string{"NextrunSchedulerDown"},
		says:   []string{"next run not planned yet", "No scheduler has planned it", "nextrun serve"},
	},
}
