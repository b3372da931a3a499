package situations_test

import (
	"os"
	"path/filepath"
	"testing"
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
		says:  []string{"state disabled", "It is disabled.", "> nextrun task enable t"},
		not:   []string{"no scheduler", "overdue"},
	},
	{
		name: "the task is paused", set: func(w *world) { w.sh.Must(w.T, "task", "pause", "t", "--reason", "the disk is full") },
		codes: []string{"task_paused"},
		says:  []string{"state paused", "the disk is full", "> to end the pause: nextrun task resume t"},
		not:   []string{"no scheduler", "has its next tick ready"},
	},
	{
		name: "nobody can read the timer",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET timer = 'Fry 12:00'")
			w.scheduled()
		},
		codes: []string{"task_problem"},
		says:  []string{"state problem", `did you mean "Fri"?`, "nextrun task set t"},
		not:   []string{`"Fri"?.`, "no scheduler"},
	},
	{
		name: "the timer never elapses again",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET timer = '2020-02-29 12:00'")
			w.scheduled()
		},
		codes: []string{"timer_never"},
		says:  []string{"Its timer", "elapse", "nextrun task set t --timer TIMER"},
		not:   []string{"no scheduler", "state waiting"},
	},
	{
		name: "it starts later",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET starts = '2090-01-01 00:00:00'")
			w.scheduled()
		},
		codes: []string{"task_starts_later"},
		says:  []string{"It starts at 2090-01-01 00:00:00 UTC", "--starts none"},
		not:   []string{"never elapses", "no scheduler"},
	},
	{
		name: "it has ended",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET ends = {-1h}")
			w.scheduled()
		},
		codes: []string{"task_ended"},
		says:  []string{"It ended at ", "--ends none"},
		not:   []string{"never elapses", "no scheduler", "state waiting"},
	},
	{
		name: "its args are no JSON",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET args = '{'")
			w.planned(-time.Second)
			w.scheduled()
		},
		codes: []string{"task_warning", "job_no_executor"},
		says:  []string{"warning", "args"},
		not:   []string{"state problem"},
	},
	{
		name: "its queue is one that nobody has configured", set: func(w *world) { w.sql("UPDATE periodic_task SET sink = 'river'") },
		codes: []string{"queue_unknown"},
		says:  []string{`the queue "river", which this program does not know`, "--config"},
		not:   []string{"no scheduler", "change the row"},
	},
	{
		name: "it was inserted a moment ago",
		set: func(w *world) {
			w.sql("DELETE FROM periodic_task", "INSERT INTO periodic_task (id, task, timer) VALUES ('t', 'backup', 'yearly')")
		},
		codes: []string{"task_plan_soon"},
		says:  []string{"It is not planned yet"},
		not:   []string{"overdue"},
	},
	{
		name: "its jitter delays it",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET jitter = 7200", "UPDATE periodic_task SET due = {-1m}, nextrun = {1h}")
		},
		codes: []string{"task_jitter"},
		says:  []string{"Its jitter delays the tick of "},
		not:   []string{"no scheduler", "overdue"},
	},
}

// What became of the last tick.
var ofTicks = []situation{
	{
		name: "its job still runs, and the tick is skipped",
		set: func(w *world) {
			w.sql("INSERT INTO job (jid, task, tracker, single, state, worker, due, submitted, started, heartbeat) VALUES ('j', 'backup', 't', true, 'running', 'old@1', {-5m}, {-5m}, {-5m}, {-1s})")
			w.planned(-time.Second)
			w.scheduled()
		},
		codes: []string{"job_running", "tick_skipped"},
		says:  []string{"Its job has been running for 5 min", "was skipped: the job of ", "--overlap queue"},
		not:   []string{"no executor", "no scheduler"},
	},
	{
		name: "its job still runs, and the tick waits for it",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET overlap = 'queue'",
				"INSERT INTO job (jid, task, tracker, single, state, worker, due, submitted, started, heartbeat) VALUES ('j', 'backup', 't', true, 'running', 'old@1', {-5m}, {-5m}, {-5m}, {-1s})")
			w.planned(-time.Second)
			w.scheduled()
		},
		codes: []string{"job_running", "tick_queued"},
		says:  []string{"Its job has been running for 5 min", " waits: the job of "},
		not:   []string{"skipped", "no scheduler"},
	},
	{
		name: "it was due too long ago for its deadline",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET deadline = 60")
			w.planned(-10 * time.Minute)
			w.scheduled()
		},
		codes: []string{"tick_late"},
		says:  []string{"was too late: ", "a longer deadline: nextrun task set t --deadline SECONDS"},
		not:   []string{"has been due for"},
	},
	{
		name: "no scheduler ran when it was due",
		set: func(w *world) {
			w.sql("UPDATE periodic_task SET catchup = 'none'")
			w.planned(-10 * time.Minute)
			w.scheduled()
		},
		codes: []string{"tick_missed"},
		says:  []string{" was missed: no scheduler", "to run what was missed now: nextrun task backfill t --from "},
		not:   []string{"has been due for", "locked"},
	},
	{
		name: "no scheduler ran for hours",
		set: func(w *world) {
			begin := time.Now().UTC().Add(-330 * time.Minute) // so that the last tick was half an hour ago
			w.sql("UPDATE periodic_task SET catchup = 'none', timer = 'every 1h from " + begin.Format(time.RFC3339) + "'")
			w.planned(-330 * time.Minute)
			w.scheduled()
		},
		codes: []string{"tick_missed"},
		says:  []string{" ticks were missed, from ", "nextrun task backfill t --from "},
		not:   []string{"has been due for"},
	},
	{
		name:  "its last run failed",
		set:   func(w *world) { w.ended("failed", "no such host") },
		codes: []string{"run_failed"},
		says:  []string{"state failed", "Its last run failed 50 s ago: no such host.", "to run the job again: nextrun job retry j"},
		not:   []string{"no executor", "no scheduler"},
	},
}

// Events.
var ofEvents = []situation{
	{
		name:  "no relay takes the event",
		set:   func(w *world) { w.event("attempts = 0") },
		codes: []string{"event_no_relay"},
		says:  []string{"Its last event has been waiting for a relay for 1 min", `the topic "default"`},
		not:   []string{"no executor"},
	},
	{
		name:  "the receiver of the event does not answer",
		set:   func(w *world) { w.event("attempts = 3, problem = 'connection refused'") },
		codes: []string{"event_refused"},
		says:  []string{"Its last event is not delivered yet: connection refused."},
		not:   []string{"waiting for a relay", "no executor"},
	},
	{
		name: "the event has been delivered",
		set:  func(w *world) { w.event("attempts = 1, published = {-1s}") },
		says: []string{"state ok", "published"},
		not:  []string{"waiting", "no executor", "why Its"},
	},
}

// Hooks.
var ofHooks = []situation{
	{
		name:  "nobody delivers the hooks",
		set:   func(w *world) { w.hook("attempts = 0") },
		codes: []string{"tick_missed", "hook_no_relay"},
		says:  []string{"A hook of it has been waiting for a relay for 1 min"},
		not:   []string{"no executor"},
	},
	{
		name:  "the receiver of a hook does not answer",
		set:   func(w *world) { w.hook("attempts = 2, problem = 'connection refused'") },
		codes: []string{"tick_missed", "hook_refused"},
		says:  []string{"A hook of it ", "connection refused"},
	},
	{
		name:  "a hook was given up",
		set:   func(w *world) { w.hook("attempts = 99, problem = 'status 404', dead = {-1s}") },
		codes: []string{"tick_missed", "hook_dead"},
		says:  []string{"A hook of it ", "status 404", "nextrun event resend"},
	},
	{
		name:  "the hook has arrived",
		set:   func(w *world) { w.hook("attempts = 1, published = {-1s}") },
		codes: []string{"tick_missed"},
		not:   []string{"A hook of it"},
	},
}

func TestTasks(t *testing.T) {
	t.Parallel()
	for _, list := range [][]situation{ofRows, ofTicks, ofEvents, ofHooks} {
		for _, s := range list {
			t.Run(s.name, func(t *testing.T) { t.Parallel(); s.run(t) })
		}
	}
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

// event has the task emit one, of which the relay has recorded something.
func (w *world) event(recorded string) {
	w.sql("UPDATE periodic_task SET sink = 'event'")
	w.planned(-time.Second)
	w.scheduled()
	w.sql("UPDATE event_store SET created = {-1m}", "UPDATE outbox_message SET created = {-1m}", "UPDATE outbox_message SET "+recorded)
}

// hook has the task miss a tick, of which a hook hears, and a relay has recorded something.
func (w *world) hook(recorded string) {
	file := filepath.Join(w.TempDir(), "nextrun.yaml")
	if err := os.WriteFile(file, []byte("on_missed: {url: 'http://127.0.0.1:9/missed'}\n"), 0o600); err != nil {
		w.Fatal(err)
	}
	w.sql("UPDATE periodic_task SET catchup = 'none'")
	w.planned(-10 * time.Minute)
	w.sh.Must(w.T, "scheduler", "--once", "--config", file)
	w.sql("UPDATE event_store SET created = {-1m}", "UPDATE outbox_message SET created = {-1m}", "UPDATE outbox_message SET "+recorded)
}
