package situations_test

import (
	"time"
)

// What the row itself says, and what the scheduler makes of it.
var ofRows = []situation{
	{
		name: "all is well", set: func(w *world) { w.ended("success", "42 rows") },
		not: []string{"why It", "no scheduler", "no executor", "failed"},
	},
	{
		name: "the task is disabled", set: func(w *world) { w.sh.Must(w.T, "task", "disable", "t") },
		codes: []string{"task_disabled"},
		says:  []string{"state disabled", "next run never", "It is disabled.", "> nextrun task enable t"},
		not:   []string{"no scheduler", "overdue"},
	},
	{
		name: "nobody can read the timer",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET timer = 'Fry 12:00'")
			w.scheduled()
		},
		codes:   []string{"task_problem"},
		problem: `timer "Fry 12:00": "Fry" is not a weekday or a name such as daily; did you mean "Fri"?`,
		alerts:  []string{"NextrunTaskProblem"},
		says:    []string{"state blocked", `did you mean "Fri"?`, "nextrun task set t"},
		not:     []string{`"Fri"?.`, "..", "no scheduler"},
	},
	{
		name: "it starts later",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET starts = '2090-01-01 00:00:00'")
			w.scheduled()
		},
		codes: []string{"task_idle"},
		says:  []string{"It starts at 2090-01-01 00:00:00 UTC", "> to start it now: nextrun task set t --starts none"},
		not:   []string{"never elapses", "no scheduler"},
	},
	{
		name: "it has ended",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET ends = {-1h}")
			w.scheduled()
		},
		codes: []string{"task_idle"},
		says:  []string{"state ended", "It ended at ", "> to go on: nextrun task set t --ends none"},
		not:   []string{"never elapses", "no scheduler", "state waiting"},
	},
	{
		name: "its args are no JSON",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET args = '{'")
			w.planned(-time.Second)
			w.scheduled()
		},
		codes:   []string{"task_warning", "job_no_executor"},
		problem: `warning: args is not JSON`,
		alerts:  []string{"NextrunTaskProblem"},
		says:    []string{"warning", "args"},
		not:     []string{"state blocked"},
	},
	{
		name: "its queue is one that nobody has configured", set: func(w *world) { w.sql("UPDATE periodic_task SET sink = 'river'") },
		codes: []string{"queue_broken"},
		says:  []string{`the queue "river", which this program does not know`, "--config"},
		not:   []string{"no scheduler", "to fix it"},
	},
	{
		name: "it was inserted a moment ago, and no scheduler runs",
		set: func(w *world) {
			w.sql("DELETE FROM periodic_task", "INSERT INTO periodic_task (id, task, timer) VALUES ('t', 'backup', 'yearly')")
		},
		codes: []string{"task_overdue"},
		says:  []string{"It is not planned yet, and no scheduler runs, as far as the database shows.", "nextrun serve"},
		not:   []string{"overdue", "within a second"},
	},
	{
		name: "it was edited a moment ago, and a scheduler runs",
		set: func(w *world) {
			w.sql("INSERT INTO worker (id, kind, version, started, seen) VALUES ('s@1', 'scheduler', '1', {-1m}, {-1s})",
				"UPDATE periodic_task SET created = {-1h}", "UPDATE periodic_task SET timer = 'daily'",
				"UPDATE periodic_task SET since = {1m}") // so that the moment is not over on a busy machine
		},
		says: []string{"next run not planned yet"},
		not:  []string{"No scheduler has planned it", "for 1 h"},
	},
	{
		name: "its timer elapses only before its starts",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET timer = '2040-01-01 10:00', starts = '2041-01-01 00:00:00'")
			w.scheduled()
		},
		codes:   []string{"task_warning", "task_idle"},
		problem: `warning: timer "2040-01-01 10:00" never elapses between starts and ends`,
		alerts:  []string{"NextrunTaskProblem"},
		says:    []string{`Its timer "2040-01-01 10:00" never elapses after its `, "between starts and ends"},
		not:     []string{"from now on", "no scheduler"},
	},
	{
		name: "its jitter delays it",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET jitter = 7200", "UPDATE periodic_task SET due = {-1m}, nextrun = {1h}")
		},
		says: []string{", and its jitter adds 1 h 1 min"},
		not:  []string{"no scheduler", "overdue"},
	},
}

// oldLives has the worker of a job live.
const oldLives = "INSERT INTO worker (id, kind, version, started, seen) VALUES ('old@000000000001', 'executor', 'v1', {-1h}, {0s})"

// What became of the last tick.
var ofTicks = []situation{
	{
		name: "two of its jobs run",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET overlap = 'allow'", oldLives)
			for _, jid := range []string{"j1", "j2"} {
				w.sql("INSERT INTO job (jid, task, tracker, state, worker, due, submitted, started) VALUES ('" + jid + "', 'backup', 't', 'running', 'old@000000000001', {-5m}, {-5m}, {-5m})")
			}
		},
		codes:  []string{"job_running", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"One of its jobs has been running for 5 min"},
		not:    []string{"Its job"},
	},
	{
		name: "its job still runs, and the tick is skipped",
		set: func(w *world) {
			w.sql("INSERT INTO job (jid, task, tracker, single, state, worker, due, submitted, started) VALUES ('j', 'backup', 't', true, 'running', 'old@000000000001', {-5m}, {-5m}, {-5m})", oldLives)
			w.planned(-time.Second)
			w.scheduled()
		},
		codes:  []string{"job_running", "task_stale", "tick_skipped"},
		alerts: []string{"NextrunTaskStale"},
		cause:  "overlap",
		says:   []string{"Its job has been running for 5 min", "was skipped: a job of the task had not ended", "--overlap queue"},
		not:    []string{"no executor", "no scheduler"},
	},
	{
		name: "its job still runs, and the tick waits for it",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET overlap = 'queue'", oldLives,
				"INSERT INTO job (jid, task, tracker, single, state, worker, due, submitted, started) VALUES ('j', 'backup', 't', true, 'running', 'old@000000000001', {-5m}, {-5m}, {-5m})")
			w.planned(-time.Second)
			w.scheduled()
		},
		codes:  []string{"tick_waits", "job_running", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"Its job has been running for 5 min", " waits: the job of "},
		not:    []string{"skipped", "no scheduler"},
	},
	{
		name: "it was due too long ago for its deadline",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET deadline = 60")
			w.planned(-10 * time.Minute)
			w.scheduled()
		},
		codes:  []string{"tick_missed"},
		cause:  "deadline",
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"was too late: ", "a longer deadline: nextrun task set t --deadline SECONDS"},
		not:    []string{"has been due for"},
	},
	{
		name: "no scheduler ran when it was due",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET catchup = 'none'")
			w.planned(-10 * time.Minute)
			w.scheduled()
		},
		codes:  []string{"tick_missed"},
		cause:  "grace",
		alerts: []string{"NextrunTaskStale"},
		says:   []string{" was missed: not decided in time", "to run what was missed now: nextrun task backfill t --from "},
		not:    []string{"has been due for", "locked"},
	},
	{
		name: "no scheduler ran for hours",
		set: func(w *world) {
			begin := time.Now().UTC().Add(-330 * time.Minute).Format("2006-01-02T15:04:05Z") // so that the last tick was half an hour ago
			w.sql("UPDATE periodic_task SET catchup = 'none', timer = 'every 1h from "+begin+"'",
				"UPDATE periodic_task SET due = '"+begin[:10]+" "+begin[11:19]+".000000', nextrun = '"+begin[:10]+" "+begin[11:19]+".000000'")
			w.scheduled()
		},
		codes:  []string{"tick_missed"},
		cause:  "grace",
		alerts: []string{"NextrunTaskStale"},
		says:   []string{" ticks were missed, from ", "nextrun task backfill t --from "},
		not:    []string{"has been due for"},
	},
	{
		name:   "its last run failed",
		set:    func(w *world) { w.ended("failed", "no such host") },
		codes:  []string{"run_failed"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"state failed", "Its last run failed 5", " s ago: no such host.", "to run the job again: nextrun job retry j"},
		not:    []string{"no executor", "no scheduler"},
	},
}

// scheduled is what a scheduler makes of the task now.
func (w *world) scheduled() {
	w.Helper()
	w.sh.Must(w.T, "scheduler", "--once")
}

// ended is a job of the task that ended in a state 50 s ago.
func (w *world) ended(state, result string) {
	w.sql("INSERT INTO job (jid, task, tracker, state, result, due, submitted, started, finished) VALUES ('j', 'backup', 't', '"+state+"', '"+result+"', {-1m}, {-1m}, {-1m}, {-50s})",
		"INSERT INTO periodic_tick (task_id, due, decision, jid, decided) SELECT 't', due, 'submitted', 'j', due FROM job")
}
