package situations_test

import (
	"context"
	"log/slog"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// scheduler starts one, and waits until it has planned the task.
func (w *world) scheduler(lead time.Duration) {
	w.Helper()
	w.schedulerOn(w.d.Open(), lead)
	w.until("the scheduler has planned the task", "SELECT count(*) FROM periodic_task WHERE nextrun > '1970-01-02 00:00:00' OR problem IS NOT NULL OR NOT enabled")
}

// schedulerMay starts one that has few rights, on PostgreSQL, and waits until it reports that.
func (w *world) schedulerMay(grants string) {
	w.Helper()
	role := strings.ToLower("nextrun_" + path.Base(strings.Split(w.d.URL, "?")[0]))
	w.d.Exec("CREATE ROLE " + role + "; " + strings.ReplaceAll(grants, "ROLE", role))
	address, err := url.Parse(w.d.URL)
	if err != nil {
		w.Fatal(err)
	}
	query := address.Query()
	query.Set("options", "-c role="+role)
	address.RawQuery = query.Encode()
	db, err := store.Open(w.Context(), address.String(), store.Options{})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = db.Close(); w.d.Exec("DROP OWNED BY " + role + "; DROP ROLE " + role) })
	w.schedulerOn(db, 0)
	w.until("the scheduler reports its trouble", "SELECT count(*) FROM worker WHERE trouble IS NOT NULL")
}

func (w *world) schedulerOn(db *store.DB, lead time.Duration) {
	w.Helper()
	log := slog.New(slog.DiscardHandler)
	s, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "main", Logger: log, Lead: lead})
	if err == nil {
		err = s.Start(context.WithoutCancel(w.Context()))
	}
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = s.Stop(context.Background()) })
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
		not:   []string{"has its next tick ready", "in 1 min", "working on it"},
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
			w.scheduler(0)
		},
		codes:   []string{"task_idle"},
		problem: `warning: timer "*-02-30" never elapses`,
		alerts:  []string{"NextrunTaskProblem"},
		says:    []string{"state never elapses", "last run never", "next run never", `Its timer "*-02-30" never elapses from now on.`},
		not:     []string{"state waiting", "again"},
	},
	{
		name: "the timer cannot be read, and the mistake is known",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET timer = 'Fry 10:00'")
			w.scheduler(0)
		},
		codes:   []string{"task_problem"},
		problem: `timer "Fry 10:00": "Fry" is not a weekday or a name such as daily; did you mean "Fri"?`,
		alerts:  []string{"NextrunTaskProblem"},
		says:    []string{"state blocked", `did you mean "Fri"?`, "nextrun task set t"},
		not:     []string{"?.", ".."},
	},
	{
		name: "the task has ended",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET ends = {-1h}")
			w.scheduler(0)
		},
		codes: []string{"task_idle"},
		says:  []string{"state ended", "It ended at 20", "> to go on: nextrun task set t --ends none"},
		not:   []string{"state waiting"},
	},
	{
		name: "the task starts later",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET starts = {48h}")
			w.scheduler(0)
		},
		codes: []string{"task_idle"},
		says:  []string{"It starts at 20", "> to start it now: nextrun task set t --starts none"},
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
