package situations_test

import (
	"os"
	"path/filepath"
	"time"
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
		says: []string{"state ok", "last run success"},
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
