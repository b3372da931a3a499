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
		codes: []string{"event_no_relay"},
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
		codes: []string{"event_no_relay"},
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
		codes: []string{"event_refused"},
		says:  []string{"Its last event waits behind an older one of its topic, which is not delivered yet: connection refused."},
		not:   []string{"for a relay"},
	},
	{
		name:  "the receiver of the event does not answer",
		set:   func(w *world) { w.event("attempts = 3, problem = 'connection refused'") },
		codes: []string{"event_refused"},
		says:  []string{"Its last event is not delivered yet: connection refused."},
		not:   []string{"waiting for a relay", "no executor"},
	},
	{
		name:   "the event was refused too often",
		set:    func(w *world) { w.event("attempts = 99, problem = 'status 404', dead = {-1s}") },
		codes:  []string{"event_dead"},
		alerts: []string{"NextrunOutboxDead"},
		says:   []string{"status 404", "nextrun event resend"},
		not:    []string{"waiting for a relay"},
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
		name:   "nobody delivers the hooks",
		set:    func(w *world) { w.hook("attempts = 0") },
		codes:  []string{"tick_missed", "hook_no_relay"},
		reason: `no scheduler ran in time;`,
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"A hook of it has been waiting for a relay for 1 min"},
		not:    []string{"no executor"},
	},
	{
		name:   "the receiver of a hook does not answer",
		set:    func(w *world) { w.hook("attempts = 2, problem = 'connection refused'") },
		codes:  []string{"tick_missed", "hook_refused"},
		reason: `no scheduler ran in time;`,
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"A hook of it ", "connection refused"},
	},
	{
		name:   "a hook was given up",
		set:    func(w *world) { w.hook("attempts = 99, problem = 'status 404', dead = {-1s}") },
		codes:  []string{"tick_missed", "hook_dead"},
		reason: `no scheduler ran in time;`,
		alerts: []string{"NextrunOutboxDead", "NextrunTaskStale"},
		says:   []string{"A hook of it ", "status 404", "nextrun event resend"},
	},
	{
		name:   "the hook has arrived",
		set:    func(w *world) { w.hook("attempts = 1, published = {-1s}") },
		codes:  []string{"tick_missed"},
		reason: `no scheduler ran in time;`,
		alerts: []string{"NextrunTaskStale"},
		not:    []string{"A hook of it"},
	},
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
