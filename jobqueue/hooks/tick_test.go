package hooks_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// Hooks hear of ticks that get no job: those that were missed, and those that were too late,
// but none of a pause.
func TestHooksHearOfMissedTicks(t *testing.T) {
	both(t, func(f *fixture) {
		var r receiver
		h := f.hooks(hooks.Hooks{
			All:   hooks.Set{hooks.OnMissed: r.action()},
			Tasks: map[string]hooks.Set{"silent": {hooks.OnMissed: hooks.None}},
		})
		now := time.Now().UTC().Truncate(time.Second)
		ago := func(d time.Duration) string { return now.Add(-d).Format("2006-01-02 15:04:05.000000") }
		for _, id := range []string{"missed", "silent"} {
			f.Exec("INSERT INTO periodic_task (id, task, timer, catchup, grace, created) VALUES ($1, 'echo', 'every 24h', 'none', 60, $2)", id, ago(84*time.Hour))
		}
		f.Exec("INSERT INTO periodic_task (id, task, timer, deadline, created) VALUES ('late', 'echo', 'every 24h', 60, $1)", ago(84*time.Hour))
		f.Exec("INSERT INTO periodic_task (id, task, timer, created) VALUES ('fine', 'echo', 'every 24h', $1)", ago(24*time.Hour))
		f.Exec("INSERT INTO periodic_task (id, task, timer, created, paused) VALUES ('paused', 'echo', 'every 24h', $1, $2)", ago(84*time.Hour), ago(50*time.Hour))
		f.Exec("INSERT INTO periodic_task (id, task, timer, created, paused, paused_until) VALUES ('was paused', 'echo', 'every 24h', $1, $2, $3)",
			ago(84*time.Hour), ago(50*time.Hour), ago(time.Minute))
		f.once(h)                                                                                                 // plans
		f.Exec("UPDATE periodic_task SET due = $1, nextrun = $1 WHERE id NOT LIKE 'nextrun%'", ago(36*time.Hour)) // nobody scheduled since
		f.Exec("UPDATE periodic_task SET due = $1, nextrun = $1 WHERE id = 'fine'", ago(0))
		f.once(h)
		f.Want("skipped", "SELECT decision FROM periodic_tick WHERE task_id = 'paused' ORDER BY due LIMIT 1")
		f.Want("3", written, "missed")
		f.deliver(h)
		got := map[string]hooks.Notice{}
		for _, n := range r.wait(t, 3) {
			got[n.Task+" "+n.Tick.Decision] = n
		}
		if n := got["missed missed"]; n.Event != hooks.Missed || n.Handler != "echo" || n.Job != nil || n.Tick.Missed != 2 || n.Tick.Until.IsZero() || n.Tick.Cause != "grace" {
			t.Errorf("missed: %+v, tick %+v", n, n.Tick)
		}
		if got["late late"].Event != hooks.Missed || got["late missed"].Event != hooks.Missed {
			t.Errorf("got %+v", got)
		}
	})
}

// A ping tells of the end of each job of its task.
func TestPingOfATask(t *testing.T) {
	both(t, func(f *fixture) {
		url, requests := server(t, http.StatusOK)
		ping, err := hooks.Ping(url + "/uuid")
		if err != nil {
			t.Fatal(err)
		}
		h := f.hooks(hooks.Hooks{Tasks: map[string]hooks.Set{"nightly": {hooks.OnPing: ping}}})
		f.executor(h)
		for _, handler := range []string{"works", "fails"} {
			f.submit(handler, "nightly")
			f.submit(handler, "other")
			f.allEnded()
		}
		for _, want := range []string{"POST /uuid", "POST /uuid/fail"} {
			select {
			case r := <-requests:
				if r.path != want {
					t.Errorf("%s, want %s", r.path, want)
				}
			case <-time.After(storetest.Patience):
				t.Fatalf("no %s", want)
			}
		}
		f.Want("2", "SELECT count(*) FROM job WHERE task = 'nextrun.hook'")
	})
}

// The task that comes next is submitted once, though the event is delivered twice.
func TestSubmitNextOnce(t *testing.T) {
	both(t, func(f *fixture) {
		h := f.hooks(hooks.Hooks{Tasks: map[string]hooks.Set{"first": {hooks.OnSuccess: {Submit: "second"}}}})
		f.Exec("INSERT INTO periodic_task (id, task, timer) VALUES ('second', 'works', 'yearly')")
		f.submit("works", "first")
		f.executor(h)
		const submitted = "SELECT count(*) FROM job WHERE tracker = 'second'"
		storetest.Eventually(t, "the second task", func() bool { return f.One(submitted) == "1" })
		f.Want("submitted by tasks.first.on_success of first", "SELECT reason FROM periodic_tick WHERE task_id = 'second'")
		f.allEnded()
		f.Exec("UPDATE job SET state = 'waiting', finished = NULL, worker = NULL WHERE task = 'nextrun.hook'")
		f.allEnded()
		f.Want("1", submitted)
	})
}

// A hook that names a task which is not there fails at once, and says so.
func TestSubmitOfATaskThatIsNotThere(t *testing.T) {
	both(t, func(f *fixture) {
		h := f.hooks(hooks.Hooks{All: hooks.Set{hooks.OnSuccess: {Submit: "nowhere"}}})
		f.submit("works", "first")
		f.executor(h)
		f.allEnded()
		f.Want("1", "SELECT count(*) FROM job WHERE task = 'nextrun.hook' AND state = 'failed' AND retries = 0 AND result LIKE '%nowhere%'")
	})
}

// Hooks hear of a tick that its queue refuses for good.
func TestHooksHearOfRefusedTicks(t *testing.T) {
	both(t, func(f *fixture) {
		var r receiver
		h := f.hooks(hooks.Hooks{Handlers: map[string]hooks.Set{"echo": {hooks.OnMissed: r.action()}}})
		f.Exec("INSERT INTO periodic_task (id, task, timer, sink) VALUES ('a', 'echo', 'yearly', 'closed')")
		known := func(c *scheduler.Config) { c.Submitters = periodic.Submitters{"closed": refusing{}} }
		f.once(h, known)
		f.Exec("UPDATE periodic_task SET nextrun = $1, due = NULL WHERE id = 'a'", time.Now().UTC().Add(-time.Second).Format("2006-01-02 15:04:05.000000"))
		f.once(h, known)
		f.Want("skipped", "SELECT decision FROM periodic_tick WHERE task_id = 'a'")
		f.Want("1", written, "missed")
	})
}
