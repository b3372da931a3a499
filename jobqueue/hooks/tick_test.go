package hooks_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/periodic"
)

// Hooks hear of ticks that get no job: those that were missed, those that were too late, and those that their queue
// refuses for good, but none of a pause.
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
		f.Exec("INSERT INTO periodic_task (id, task, timer, sink, created) VALUES ('refused', 'echo', 'every 24h', 'closed', $1)", ago(24*time.Hour))
		closed := periodic.Submitters{"closed": refusing{}}
		f.schedule(h, closed)                                                                                     // plans
		f.Exec("UPDATE periodic_task SET due = $1, nextrun = $1 WHERE id NOT LIKE 'nextrun%'", ago(36*time.Hour)) // nobody scheduled since
		f.Exec("UPDATE periodic_task SET due = $1, nextrun = $1 WHERE id IN ('fine', 'refused')", ago(0))
		f.schedule(h, closed)
		f.Want("skipped", "SELECT decision FROM periodic_tick WHERE task_id = 'paused' ORDER BY due LIMIT 1")
		f.Want("4", written, "missed")
		e, err := executor.NewHooks(f.db.Jobs(), executor.Config{Name: "hooks", Logger: silent(), Hooks: h})
		if err != nil {
			t.Fatal(err)
		}
		f.start(e)
		got := map[string]hooks.Notice{}
		for _, n := range r.wait(t, 4) {
			got[n.Task+" "+n.Tick.Decision] = n
		}
		if n := got["missed missed"]; n.Event != hooks.Missed || n.Handler != "echo" || n.Job != nil || n.Tick.Missed != 2 || n.Tick.Until.IsZero() || n.Tick.Cause != "grace" {
			t.Errorf("missed: %+v, tick %+v", n, n.Tick)
		}
		if got["late late"].Event != hooks.Missed || got["late missed"].Event != hooks.Missed || got["refused skipped"].Event != hooks.Missed {
			t.Errorf("got %+v", got)
		}
	})
}
