package hooks_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// Hooks hear of ticks that get no job: those that were missed, and those that were too late,
// but none of a pause.
func TestHooksHearOfMissedTicks(t *testing.T) {
	both(t, func(f *fixture) {
		var r receiver
		h := f.hooks(hooks.Hooks{
			All:   hooks.Set{OnMissed: r.action()},
			Tasks: map[string]hooks.Set{"silent": {OnMissed: hooks.None}},
		})
		now := time.Now().UTC()
		ago := func(d time.Duration) string { return now.Add(-d).Format("2006-01-02 15:04:05.000000") }
		for _, id := range []string{"missed", "silent"} {
			f.Exec("INSERT INTO periodic_task (id, task, timer, catchup, grace, created) VALUES ($1, 'echo', 'every 24h', 'none', 60, $2)", id, ago(84*time.Hour))
		}
		f.Exec("INSERT INTO periodic_task (id, task, timer, deadline, created) VALUES ('late', 'echo', 'every 24h', 60, $1)", ago(84*time.Hour))
		f.Exec("INSERT INTO periodic_task (id, task, timer, created) VALUES ('fine', 'echo', 'every 24h', $1)", ago(12*time.Hour))
		f.Exec("INSERT INTO periodic_task (id, task, timer, created, paused) VALUES ('paused', 'echo', 'every 24h', $1, $2)", ago(84*time.Hour), ago(50*time.Hour))
		f.Exec("INSERT INTO periodic_task (id, task, timer, created, paused, paused_until) VALUES ('was paused', 'echo', 'every 24h', $1, $2, $3)",
			ago(84*time.Hour), ago(50*time.Hour), ago(time.Minute))
		f.once(h)                                                                                                 // plans
		f.Exec("UPDATE periodic_task SET due = $1, nextrun = $1 WHERE id NOT LIKE 'nextrun%'", ago(36*time.Hour)) // nobody scheduled since
		f.Exec("UPDATE periodic_task SET due = $1, nextrun = $1 WHERE id = 'fine'", ago(0))
		f.once(h)
		f.Want("skipped", "SELECT decision FROM periodic_tick WHERE task_id = 'paused' ORDER BY due LIMIT 1")
		f.Want("3", waiting, "missed")
		f.relay(h)
		got := map[string]hooks.Notice{}
		for _, n := range r.wait(t, 3) {
			got[n.Task+" "+n.Tick.Decision] = n
		}
		if n := got["missed missed"]; n.Event != hooks.Missed || n.Handler != "echo" || n.Job != nil || n.Tick.Missed != 2 || n.Tick.Until == nil || n.Tick.Reason == "" {
			t.Errorf("missed: %+v, tick %+v", n, n.Tick)
		}
		if got["late late"].Event != hooks.Missed || got["late missed"].Event != hooks.Missed {
			t.Errorf("got %+v", got)
		}
	})
}

// A ping tells of the start and of the end of each job of its task.
func TestPingOfATask(t *testing.T) {
	both(t, func(f *fixture) {
		url, requests := server(t, http.StatusOK)
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		ping, err := hooks.Ping(hooks.PingConfig{URL: url + "/uuid", Transport: transport})
		if err != nil {
			t.Fatal(err)
		}
		h := f.hooks(hooks.Hooks{Tasks: map[string]hooks.Set{"nightly": {Ping: ping}}})
		f.executor(h)
		f.relay(h)
		for _, handler := range []string{"works", "fails"} {
			f.submit(handler, "nightly")
			f.submit(handler, "other")
			f.ended()
		}
		for _, want := range []string{"POST /uuid/start", "POST /uuid", "POST /uuid/start", "POST /uuid/fail"} {
			select {
			case r := <-requests:
				if r.path != want {
					t.Errorf("%s, want %s", r.path, want)
				}
			case <-time.After(storetest.Patience):
				t.Fatalf("no %s", want)
			}
		}
		f.Want("4", "SELECT count(*) FROM event_store")
	})
}

// The task that comes next is submitted once, though the event is delivered twice.
func TestSubmitNextOnce(t *testing.T) {
	both(t, func(f *fixture) {
		h := f.hooks(hooks.Hooks{Tasks: map[string]hooks.Set{"first": {OnSuccess: hooks.Submit("second")}}})
		f.Exec("INSERT INTO periodic_task (id, task, timer) VALUES ('second', 'works', 'yearly')")
		f.submit("works", "first")
		f.executor(h)
		f.relay(h)
		const submitted = "SELECT count(*) FROM job WHERE tracker = 'second'"
		storetest.Eventually(t, "the second task", func() bool { return f.One(submitted) == "1" })
		f.Want("submitted by tasks.first.on_success of first", "SELECT reason FROM periodic_tick WHERE task_id = 'second'")
		f.ended()
		delivered := func() bool { return f.One("SELECT count(*) FROM outbox_message WHERE published IS NULL") == "0" }
		storetest.Eventually(t, "delivery", delivered)
		if _, err := f.db.Outbox().Resend(t.Context(), []string{f.One("SELECT id FROM event_store WHERE type = 'success'")}); err != nil {
			t.Fatal(err)
		}
		storetest.Eventually(t, "a second delivery", delivered)
		f.Want("1", submitted)
	})
}

// A hook that names a task which is not there ends as a dead event, which says so.
func TestSubmitOfATaskThatIsNotThere(t *testing.T) {
	both(t, func(f *fixture) {
		h := f.hooks(hooks.Hooks{All: hooks.Set{OnSuccess: hooks.Submit("nowhere")}})
		f.submit("works", "first")
		f.executor(h)
		f.relay(h)
		storetest.Eventually(t, "a dead event", func() bool {
			return f.One("SELECT count(*) FROM outbox_message WHERE dead IS NOT NULL") == "1"
		})
		list, err := f.db.Outbox().List(t.Context(), outbox.Filter{Status: outbox.Dead})
		if err != nil || len(list) != 1 || list[0].Problem == "" {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

// Published events of hooks are deleted with their messages, and others are not.
func TestPruneOfHooks(t *testing.T) {
	both(t, func(f *fixture) {
		var r receiver
		h := f.hooks(hooks.Hooks{All: hooks.Set{OnSuccess: r.action()}})
		for i, topic := range []string{"nextrun.hooks/all/on_success/x", "own"} {
			id := []string{"a", "b"}[i]
			f.Exec("INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ($1, $2, 't', $1, 1)", id, topic)
			f.Exec("INSERT INTO outbox_message (event_id, topic, published) VALUES ($1, $2, '2026-01-01 00:00:00.000000')", id, topic)
		}
		removed, err := h.Prune(t.Context(), time.Hour, 0, 10)
		if err != nil || removed.Messages != 1 {
			t.Errorf("%+v, %v", removed, err)
		}
		f.Want("b", "SELECT id FROM event_store")
		f.Want("b", "SELECT event_id FROM outbox_message")
	})
}

// Hooks hear of a tick that its queue refuses for good.
func TestHooksHearOfRefusedTicks(t *testing.T) {
	both(t, func(f *fixture) {
		var r receiver
		h := f.hooks(hooks.Hooks{Handlers: map[string]hooks.Set{"echo": {OnMissed: r.action()}}})
		f.Exec("INSERT INTO periodic_task (id, task, timer, sink) VALUES ('a', 'echo', 'yearly', 'closed')")
		known := func(c *scheduler.Config) { c.Submitters = periodic.Submitters{"closed": refusing{}} }
		f.once(h, known)
		f.Exec("UPDATE periodic_task SET nextrun = $1, due = NULL WHERE id = 'a'", time.Now().UTC().Add(-time.Second).Format("2006-01-02 15:04:05.000000"))
		f.once(h, known)
		f.Want("skipped", "SELECT decision FROM periodic_tick WHERE task_id = 'a'")
		f.Want("1", waiting, "missed")
	})
}

// Relays of events, even of all topics, and consumer groups leave the events of hooks
// alone, and the relay of hooks leaves theirs.
func TestEventsOfHooksAreApart(t *testing.T) {
	both(t, func(f *fixture) {
		var r receiver
		h := f.hooks(hooks.Hooks{All: hooks.Set{OnSuccess: r.action()}})
		f.submit("works", "nightly")
		f.executor(h)
		f.ended()
		own := outbox.Event{Topic: "own", Type: "t", AggregateID: "a", Payload: "{}"}
		if err := f.db.Update(t.Context(), func(tx *store.Tx) error {
			_, err := outbox.AppendTx(t.Context(), tx, own)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		published := make(chan string, 10)
		f.start(relay.New(f.db.Outbox(), outbox.OneByOne(func(_ context.Context, e outbox.Event) error {
			published <- e.Topic
			return nil
		}), relay.Config{Name: "all", Logger: silent()}))
		if topic := <-published; topic != "own" {
			t.Errorf("the relay of events published %s", topic)
		}
		f.Want("1", waiting, "success")
		f.relay(h)
		r.wait(t, 1)
		if len(published) > 0 {
			t.Errorf("the relay of events published %s", <-published)
		}
	})
}
