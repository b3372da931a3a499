package hooks_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
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
