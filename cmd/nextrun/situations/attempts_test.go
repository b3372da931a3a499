package situations_test

import (
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
)

// What becomes of a job that an executor has, or had.
var ofAttempts = []situation{
	{
		name: "the job runs",
		set: func(w *world) {
			w.executor("one", 5, nil, handler{name: "backup"})
			w.tick()
			w.runs("backup", 1)
		},
		codes:  []string{"job_running", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"state running", "Its job has been running for ", " s on one@", "> to follow it: nextrun job log --follow"},
		not:    []string{"waiting", "why It"},
		job:    "state running",
	},
	{
		name: "the job has failed once and is tried again",
		set: func(w *world) {
			w.executor("one", 5, nil, handler{name: "backup", fails: true, limits: jobqueue.Limits{RetryLimit: 1, RetryDelay: time.Hour}})
			w.tick()
			w.until("the job has failed", "SELECT count(*) FROM job WHERE state = 'stuck'")
		},
		codes:  []string{"job_retrying", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"state retrying", "Its job failed and is tried again in ", ": attempt 2 of 2.", "exit status 3"},
		not:    []string{"stuck", "attempt 3"},
		job:    "attempt 2 of 2.",
	},
	{
		name: "the next attempt is due, and no executor runs",
		set: func(w *world) {
			w.sql("INSERT INTO job (jid, task, tracker, single, state, worker, retries, retry, retry_limit, started, result) VALUES ('j', 'backup', 't', true, 'stuck', 'old@000000000001', 1, {-1m}, 4, {-2m}, 'no')")
		},
		codes: []string{"job_no_executor"},
		says:  []string{"Its job failed, and attempt 2 of 5 has been due for 1 min", "no executor runs"},
		not:   []string{"tried again 1 min", "define handlers"},
		job:   "attempt 2 of 5 has been due",
	},
	{
		name: "the job is to be tried again, and no executor runs",
		set: func(w *world) {
			w.sql("INSERT INTO job (jid, task, tracker, single, state, worker, retries, retry, started, result) VALUES ('j', 'backup', 't', true, 'stuck', 'old@000000000001', 1, {1m}, {-2m}, 'no')")
		},
		codes: []string{"job_no_executor"},
		says:  []string{"state retrying", "Its job failed, and attempt 2 is due in ", "Now no executor runs, as far as the database shows."},
		not:   []string{"attempt 2 of", "attempt 3", "is tried again"},
		job:   "and attempt 2 is due in ",
	},
	{
		name: "the executor was killed, and there is no other",
		set: func(w *world) {
			w.killedExecutor(func() { w.tick(); w.runs("backup", 1) })
		},
		codes:  []string{"job_silent", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"Its job runs on killed@", "which last gave a sign of life ", "and seems to have ended. No other executor runs that could take the job back", "> start one: nextrun executor --config FILE"},
		not:    []string{"has been running for", "define handlers"},
		job:    "and seems to have ended",
	},
	{
		name: "the executor was killed before the job was added",
		set: func(w *world) {
			w.killedExecutor(func() {})
			w.tick()
		},
		codes:  []string{"job_no_executor", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"no executor runs, as far as the database shows; killed@", `which had a handler "backup", seems to have ended.`},
		not:    []string{"define handlers"},
		job:    "seems to have ended",
	},
	{
		name: "an executor is silent, and another one runs",
		set: func(w *world) {
			w.sql("INSERT INTO worker (id, kind, version, started, seen) VALUES ('old@000000000001', 'executor', 'v1', {-1h}, {-20s})")
			w.executor("one", 5, nil, handler{name: "mail"})
			w.sql("INSERT INTO job (jid, task, tracker, single, state, worker, started) VALUES ('j', 'backup', 't', true, 'running', 'old@000000000001', {-50s})")
		},
		codes: []string{"job_silent"},
		says:  []string{"Its job runs on old@000000000001, which last gave a sign of life 2", "Another executor takes the job back within 12 s"},
		not:   []string{"seems to have ended"},
		job:   "which last gave a sign of life 2",
	},
	{
		name: "Docspell's executor runs the job",
		set: func(w *world) {
			w.sql("INSERT INTO job (jid, task, tracker, single, state, worker, started) VALUES ('j', 'backup', 't', true, 'running', 'joex1', {-1m})")
		},
		codes: []string{"job_running"},
		says:  []string{"Its job is running with another kind of executor: joex1."},
		not:   []string{"define handlers", "no executor"},
		job:   "another kind of executor: joex1.",
	},
	{
		name: "the job is claimed and has not begun",
		set: func(w *world) {
			w.sql("INSERT INTO job (jid, task, tracker, single, state, worker) VALUES ('j', 'backup', 't', true, 'scheduled', 'one@000000000001')")
		},
		codes: []string{"job_waits"},
		says:  []string{"Its job has been claimed by one, and has not begun."},
		job:   "has been claimed by one",
	},
	{
		name: "the job waits for its time",
		set: func(w *world) {
			w.sql("INSERT INTO job (jid, task, tracker, single, state, retry) VALUES ('j', 'backup', 't', true, 'waiting', {1h})")
		},
		codes: []string{"job_waits"},
		says:  []string{"Its job is to begin in "},
		not:   []string{"define handlers", "no executor"},
		job:   "It is to begin in ",
	},
	{
		name: "somebody has locked the job", only: storetest.Postgres,
		set: func(w *world) {
			w.sh.Must(w.T, "job", "limit", "handler", "backup", "0")
			w.tick()
			w.d.Hold("SELECT * FROM job FOR UPDATE")
			w.executor("one", 5, nil, handler{name: "backup"})
			w.sh.Must(w.T, "job", "limit", "handler", "backup", "none")
		},
		codes:  []string{"job_not_taken", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"one@", " could take it, but its row is locked by pid ", "idle in transaction for ", "SELECT pg_terminate_backend("},
		not:    []string{"define handlers", "no executor", "place"},
		job:    "its row is locked by pid ",
	},
	{
		name: "an executor could take the job and does not",
		set: func(w *world) {
			w.sql("INSERT INTO worker (id, kind, version, started, seen, places, handlers) VALUES ('hung@000000000001', 'executor', 'v1', {-1h}, {0s}, 5, '[{\"name\": \"backup\", \"attempts\": 6}]')")
			w.tick()
		},
		codes:  []string{"job_not_taken", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{`hung@000000000001 could take it, with a handler "backup" and a free place, and has not; the database does not show why.`, "nextrun health"},
		not:    []string{"define handlers", "no executor", "locked"},
		job:    "hung@000000000001 could take it",
	},
}
