package situations_test

import (
	"os"
	"path/filepath"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/queues"
)

// Events.
var ofEvents = []situation{
	{
		name:  "no relay takes the event",
		set:   func(w *world) { w.event("attempts = 0") },
		codes: []string{"event_undelivered"},
		says:  []string{"Its last event has been waiting for a relay for 1 min", `the topic "default"`},
		not:   []string{"no executor"},
	},
	{
		name: "no relay takes the events of a task that is due often",
		set: func(w *world) {
			w.event("attempts = 0")
			w.planned(-time.Second)
			w.scheduled()
		},
		codes: []string{"event_undelivered"},
		says:  []string{"The oldest event of its topic has been waiting for a relay for 1 min", `the topic "default"`},
		not:   []string{"no executor", "Its last event"},
	},
	{
		name: "an older event is refused, and the newest waits behind it",
		set: func(w *world) {
			w.event("attempts = 3, problem = 'connection refused'")
			w.planned(-time.Second)
			w.scheduled()
		},
		codes: []string{"event_undelivered"},
		says:  []string{"Its last event waits behind an older one of its topic, which is not delivered yet: connection refused."},
		not:   []string{"for a relay"},
	},
	{
		name:  "the receiver of the event does not answer",
		set:   func(w *world) { w.event("attempts = 3, problem = 'connection refused'") },
		codes: []string{"event_undelivered"},
		says:  []string{"Its last event is not delivered yet: connection refused."},
		not:   []string{"waiting for a relay", "no executor"},
	},
	{
		name:   "the event was refused too often",
		set:    func(w *world) { w.event("attempts = 99, problem = 'status 404', dead = {-1s}") },
		codes:  []string{"event_undelivered"},
		alerts: []string{"NextrunOutboxDead"},
		says:   []string{"status 404", "nextrun event resend"},
		not:    []string{"waiting for a relay"},
	},
	{
		name: "the event has been delivered",
		set:  func(w *world) { w.event("attempts = 1, published = {-1s}") },
		says: []string{"state success", "last run success"},
		not:  []string{"waiting", "no executor", "why Its"},
	},
}

// Hooks.
var ofHooks = []situation{
	{
		name:   "nobody delivers the hooks",
		set:    func(w *world) { w.hook("state = 'waiting'") },
		codes:  []string{"tick_missed", "hook_undelivered"},
		cause:  "grace",
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"Its hook on_missed waits for an executor that has hooks."},
		not:    []string{"no executor"},
	},
	{
		name:   "the receiver of a hook does not answer",
		set:    func(w *world) { w.hook("state = 'stuck', retry = {1m}, retries = 2, result = 'connection refused'") },
		codes:  []string{"tick_missed", "hook_undelivered"},
		cause:  "grace",
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"Its hook on_missed is not delivered, and is tried again: connection refused."},
	},
	{
		name:   "a hook was given up",
		set:    func(w *world) { w.hook("state = 'failed', finished = {-1s}, result = 'status 404'") },
		codes:  []string{"tick_missed", "hook_undelivered"},
		cause:  "grace",
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"Its hook on_missed was given up: status 404.", "nextrun job retry"},
	},
	{
		name:   "the hook has arrived",
		set:    func(w *world) { w.hook("state = 'success', finished = {-1s}") },
		codes:  []string{"tick_missed"},
		cause:  "grace",
		alerts: []string{"NextrunTaskStale"},
		not:    []string{"Its hook"},
	},
}

// event has the task emit one, of which the relay has recorded something.
func (w *world) event(recorded string) {
	w.sql("UPDATE periodic_task SET sink = 'event'")
	w.planned(-time.Second)
	w.scheduled()
	w.sql("UPDATE event_store SET created = {-1m}", "UPDATE outbox_message SET created = {-1m}", "UPDATE outbox_message SET "+recorded)
}

// hook has the task miss a tick, of which a hook hears, and an executor has recorded something.
func (w *world) hook(recorded string) {
	file := filepath.Join(w.TempDir(), "nextrun.yaml")
	if err := os.WriteFile(file, []byte("on_missed: {url: 'http://127.0.0.1:9/missed'}\n"), 0o600); err != nil {
		w.Fatal(err)
	}
	w.sql("UPDATE periodic_task SET catchup = 'none'")
	w.planned(-10 * time.Minute)
	w.sh.Must(w.T, "scheduler", "--once", "--config", file)
	w.sql("UPDATE job SET submitted = {-1m}, " + recorded + " WHERE task = 'nextrun.hook'")
}

// The queue of another project, with rows in a table of its own.
var mail = queues.SQL{
	Enqueue: "INSERT INTO mail_queue (id, kind) SELECT jid, handler FROM nextrun_batch",
	Pending: "SELECT o.jid FROM nextrun_open AS o JOIN mail_queue AS m ON m.id = o.jid WHERE m.state = 'new'",
	Outcome: "SELECT o.jid, CASE WHEN m.state <> 'new' THEN m.state END AS outcome, m.tries AS attempts, m.said AS error " +
		"FROM nextrun_open AS o JOIN mail_queue AS m ON m.id = o.jid",
}

// elsewhere has a scheduler submit a job to the other queue, and look again after something was

func (w *world) elsewhere(done string) {
	w.Helper()
	w.other = true
	file := filepath.Join(w.TempDir(), "nextrun.yaml")
	text := "queues:\n  mail:\n    type: sql\n    enqueue: " + mail.Enqueue + "\n    pending: " + mail.Pending + "\n    outcome: " + mail.Outcome + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	w.sh.Env["NEXTRUN_CONFIG"] = file
	w.sql("CREATE TABLE mail_queue (id varchar(254) PRIMARY KEY, kind text, state varchar(10) DEFAULT 'new', tries integer, said text)",
		"UPDATE periodic_task SET sink = 'mail'")
	w.planned(-5 * time.Minute)
	w.scheduled()
	w.sql(done, "UPDATE periodic_open SET look = submitted")
	w.scheduled()
}

// queues are the queues of other projects that the dashboard knows.
func (w *world) queues(db *store.DB) periodic.Submitters {
	if !w.other {
		return nil
	}
	q, err := queues.Open(db, mail)
	if err != nil {
		w.Fatal(err)
	}
	return periodic.Submitters{"mail": q}
}

// How the last job in the queue of another project ended.
var ofEnds = []situation{
	{
		name:  "a worker has its job in another queue, and an attempt has failed",
		set:   func(w *world) { w.elsewhere("UPDATE mail_queue SET tries = 1, said = 'no such host'") },
		codes: []string{"job_elsewhere", "task_stale"}, alerts: []string{"NextrunTaskStale"},
		says: []string{`in the queue "mail"`, "The last attempt failed: no such host."},
		not:  []string{"Its last run failed", "no executor", "nextrun task run"},
	},
	{
		name: "its job failed in another queue",
		set: func(w *world) {
			w.elsewhere("UPDATE mail_queue SET state = 'failed', tries = 3, said = 'no such host'")
		},
		codes:  []string{"run_failed"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"Its last run failed", ", after 3 attempts: no such host.", "to run the task again: nextrun task run t"},
		not:    []string{"no executor", "job retry"},
	},
	{
		name: "its job in another queue succeeded after two attempts",
		set: func(w *world) {
			w.elsewhere("UPDATE mail_queue SET state = 'success', tries = 2, said = 'no such host'")
		},
		says: []string{"state success", "last run success, now, after 2 attempts"},
		not:  []string{"failed", "no such host", "no executor"},
	},
	{
		name:   "its job was cancelled in another queue",
		set:    func(w *world) { w.elsewhere("UPDATE mail_queue SET state = 'cancelled'") },
		codes:  []string{"task_stale"},
		says:   []string{"state cancelled", "last run cancelled, "},
		alerts: []string{"NextrunTaskStale"},
		not:    []string{"failed", "no executor"},
	},
	{
		name:   "another queue does not have its job any more",
		set:    func(w *world) { w.elsewhere("DELETE FROM mail_queue") },
		codes:  []string{"run_unknown", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{`How its last run ended is not known: the queue "mail" does not have the job any more.`, "`gone: success` of queues.mail"},
		not:    []string{"Its last run failed", "no executor"},
	},
}
