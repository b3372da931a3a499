package hooks_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/queues"
)

// legacy is a queue of type sql.
var legacy = queues.SQL{
	Enqueue: `INSERT INTO legacy (jid) SELECT jid FROM nextrun_batch`,
	Pending: `SELECT o.jid FROM nextrun_open AS o CROSS JOIN legacy AS l WHERE l.jid = o.jid AND l.outcome IS NULL`,
	Outcome: `SELECT o.jid, l.outcome, CASE WHEN l.outcome = 'failed' THEN 'exit status 2' END AS error FROM nextrun_open AS o CROSS JOIN legacy AS l WHERE l.jid = o.jid`,
}

// The tick after three failures pauses a task until somebody resumes it, in nextrun's own queue and in another one. Each
// hook hears once of each turn.
func TestFailuresPauseATask(t *testing.T) {
	for _, sink := range []string{"job", "legacy"} {
		t.Run(sink, func(t *testing.T) { both(t, func(f *fixture) { testTurns(f, sink) }) })
	}
}

func testTurns(f *fixture, sink string) {
	var r receiver
	first := r.action()
	first.First = true
	h := f.hooks(hooks.Hooks{All: hooks.Set{hooks.OnFailure: first, hooks.OnPaused: r.action(), hooks.OnRecovered: r.action()}})
	var fails atomic.Bool
	e := f.newExecutor(h)
	e.Register("flaky", func(context.Context, *jobqueue.JobContext) error {
		if fails.Load() {
			return errFailed // once more, which does not count
		}
		return nil
	})
	f.start(e)
	f.Exec("CREATE TABLE legacy (jid varchar(254), outcome varchar(16))")
	q, err := queues.Open(f.db, legacy)
	if err != nil {
		f.Fatal(err)
	}
	f.Exec("INSERT INTO periodic_task (id, task, timer, sink, pause_after) VALUES ('import', 'flaky', 'yearly', $1, 3)", sink)
	schedule := func() { f.schedule(h, periodic.Submitters{"legacy": q}) }
	schedule()
	tick := func(ends string) { // the task elapses, as if its timer did each year at this time, and its job ends so
		fails.Store(ends == "failed")
		now := utc(time.Now())
		f.Exec("UPDATE periodic_task SET due = $1, nextrun = $1, timer = $2", now, "*"+now[4:])
		schedule()
		f.ended(own)
		f.Exec("UPDATE legacy SET outcome = $1 WHERE outcome IS NULL", ends)
		f.Exec("UPDATE periodic_open SET look = '2026-01-01 00:00:00.000000'")
		schedule()
	}
	const submitted, pause = "SELECT count(*) FROM periodic_tick WHERE decision = 'submitted'", "SELECT paused_by || ': ' || paused_reason FROM periodic_task"
	for range 3 {
		tick("failed")
	}
	f.Want(3, submitted)
	f.Want("", pause) // the next tick pauses
	tick("success")
	f.Want(1, "SELECT count(*) FROM periodic_tick WHERE decision = 'skipped' AND reason LIKE 'nextrun: paused after %'")
	f.Want("nextrun: paused after 3 failures in a row; the last: exit status 2", pause)
	if was, err := periodic.NewTasks(f.db.Tasks()).Resume(f.Context(), "import"); err != nil || !was {
		f.Fatalf("resumed a paused task: %t, %v", was, err)
	}
	for _, ends := range []string{"failed", "success", "success"} {
		tick(ends)
	}
	f.Want(6, submitted)
	f.Want("", pause)
	f.ended("true")
	var heard []string
	for _, n := range r.got() {
		heard = append(heard, fmt.Sprintf("%s %s", n.Event, n.Turned))
	}
	slices.Sort(heard)
	if want := []string{"failure failing", "paused ", "recovered recovered"}; !slices.Equal(heard, want) {
		f.Errorf("heard %q, want %q", heard, want)
	}
}

func utc(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000") }

// The most specific hook decides, kind by kind.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	act := func() *hooks.Action { return hooks.Func(func(context.Context, hooks.Notice) error { return nil }) }
	h := hooks.Hooks{
		All:      hooks.Set{hooks.OnFailure: act(), hooks.OnMissed: act()},
		Handlers: map[string]hooks.Set{"backup": {hooks.OnFailure: act(), hooks.OnSuccess: act()}, "quiet": {hooks.OnFailure: hooks.None}},
		Tasks: map[string]hooks.Set{
			"nightly": {hooks.OnFailure: act(), hooks.OnMissed: hooks.None},
			"silent":  {hooks.OnFailure: hooks.None, hooks.OnSuccess: hooks.None, hooks.OnMissed: hooks.None, hooks.OnPing: act()},
			"again":   {hooks.OnFailure: act()},
		},
	}
	for _, test := range []struct {
		kind          hooks.Kind
		handler, task string
		want          string
	}{
		{hooks.OnFailure, "backup", "nightly", "tasks.nightly.on_failure"},
		{hooks.OnFailure, "backup", "weekly", "handlers.backup.on_failure"},
		{hooks.OnFailure, "backup", "", "handlers.backup.on_failure"},
		{hooks.OnFailure, "other", "weekly", "on_failure"},
		{hooks.OnFailure, "other", "", "on_failure"},
		{hooks.OnFailure, "quiet", "weekly", ""},
		{hooks.OnFailure, "quiet", "again", "tasks.again.on_failure"},
		{hooks.OnFailure, "backup", "silent", ""},
		{hooks.OnSuccess, "backup", "nightly", "handlers.backup.on_success"},
		{hooks.OnSuccess, "other", "nightly", ""},
		{hooks.OnSuccess, "backup", "silent", ""},
		{hooks.OnMissed, "backup", "nightly", ""},
		{hooks.OnMissed, "backup", "weekly", "on_missed"},
		{hooks.OnPing, "backup", "silent", "tasks.silent.ping"},
		{hooks.OnPing, "backup", "nightly", ""},
	} {
		found, ok := h.Of(test.kind, test.handler, test.task)
		if ok != (test.want != "") || ok && found.Name != test.want {
			t.Errorf("%s of handler %q, task %q: %q, %t; want %q", test.kind, test.handler, test.task, found.Name, ok, test.want)
		}
	}
}

func TestHooksThatCannotBe(t *testing.T) {
	t.Parallel()
	act := hooks.Func(func(context.Context, hooks.Notice) error { return nil })
	err := hooks.Hooks{
		All:      hooks.Set{hooks.OnPing: act},
		Handlers: map[string]hooks.Set{"a": {hooks.OnPing: act, hooks.OnSuccess: {Submit: ""}}},
	}.Validate()
	want := "ping: only a task has a ping\nhandlers.a.on_success: name the task to submit\nhandlers.a.ping: only a task has a ping"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

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
