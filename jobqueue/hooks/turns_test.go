package hooks_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/queues"
)

// turning is a task whose jobs end as a test says, in one queue or the other.
type turning struct {
	*fixture
	sink  string
	hooks *store.Hooks
	queue periodic.Submitters
	fails atomic.Bool
}

// turns runs a test with a task in nextrun's own queue, and with one in a queue of type sql. heard are
// the events that hooks of turns have heard of.
func turns(t *testing.T, test func(f *turning, heard func() []string)) {
	for _, sink := range []string{"job", "legacy"} {
		t.Run(sink, func(t *testing.T) {
			both(t, func(f *fixture) {
				var r receiver
				w := &turning{fixture: f, sink: sink, hooks: f.hooks(hooks.Hooks{All: hooks.Set{hooks.OnFailure: r.first(), hooks.OnPaused: r.action(), hooks.OnRecovered: r.action()}})}
				w.open()
				f.Exec("INSERT INTO periodic_task (id, task, timer, sink, pause_after) VALUES ('import', 'flaky', 'yearly', $1, 3)", sink)
				w.schedule()
				test(w, func() (list []string) {
					for _, n := range r.got() {
						list = append(list, fmt.Sprintf("%s %s", n.Event, n.Turned))
					}
					slices.Sort(list)
					return list
				})
			})
		})
	}
}

func (f *turning) open() {
	if f.sink == "job" {
		e, err := executor.New(f.db.Jobs(), executor.Config{Name: "executor", Logger: silent(), Hooks: f.hooks, RetryLimit: 1, RetryDelay: time.Millisecond})
		if err != nil {
			f.Fatal(err)
		}
		e.Register("flaky", func(context.Context, *jobqueue.JobContext) error {
			if f.fails.Load() {
				return errFailed // once more, which does not count
			}
			return nil
		})
		f.start(e, nil)
		return
	}
	f.Exec("CREATE TABLE legacy (jid varchar(254), outcome varchar(16))")
	q, err := queues.Open(f.db, queues.SQL{
		Enqueue: `INSERT INTO legacy (jid) SELECT jid FROM nextrun_batch`,
		Pending: `SELECT o.jid FROM nextrun_open AS o CROSS JOIN legacy AS l WHERE l.jid = o.jid AND l.outcome IS NULL`,
		Outcome: `SELECT o.jid, l.outcome, CASE WHEN l.outcome = 'failed' THEN 'exit status 2' END AS error FROM nextrun_open AS o CROSS JOIN legacy AS l WHERE l.jid = o.jid`,
	})
	if err != nil {
		f.Fatal(err)
	}
	f.queue = periodic.Submitters{"legacy": q}
}

func (f *turning) schedule() {
	f.Helper()
	f.once(f.hooks, func(c *scheduler.Config) { c.Submitters = f.queue })
}

// tick lets the task elapse, and its job end so; what says what became of the tick.
func (f *turning) tick(state string) (what string) {
	f.Helper()
	f.fails.Store(state == "failed")
	f.elapses()
	f.schedule()
	f.ended()
	if f.sink == "legacy" {
		f.Exec("UPDATE legacy SET outcome = $1 WHERE outcome IS NULL", state)
		f.Exec("UPDATE periodic_open SET look = '2026-01-01 00:00:00.000000'")
		f.schedule()
	}
	return f.One("SELECT decision || coalesce(' ' || reason, '') FROM periodic_tick ORDER BY due DESC LIMIT 1")
}

// state is the pause of the task.
func (f *turning) state() string {
	return f.One("SELECT coalesce(paused_by || ': ' || paused_reason, '') FROM periodic_task")
}

// elapses makes the tasks due, as if their timer elapsed each year at this time.
func (f *fixture) elapses() {
	f.Helper()
	now := utc(time.Now())
	f.Exec("UPDATE periodic_task SET due = $1, nextrun = $1, timer = $2", now, "*"+now[4:])
}

func utc(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000") }

// The tick after three failures pauses a task until somebody resumes it. Each hook hears once of each turn.
func TestFailuresPauseATask(t *testing.T) {
	turns(t, func(f *turning, heard func() []string) {
		for n := range 3 {
			if got := f.tick("failed"); got != "submitted" {
				f.Fatalf("tick %d: %s", n, got)
			}
		}
		const last = " in a row; the last: exit status 2"
		wantText(f, "", f.state()) // the next tick pauses
		if got := f.tick("success"); !strings.HasPrefix(got, "skipped nextrun: paused after ") {
			f.Error(got)
		}
		wantText(f, "nextrun: paused after 3 failures"+last, f.state())
		f.resume()
		wantText(f, "submitted", f.tick("failed"))
		wantText(f, "submitted", f.tick("success"))
		wantText(f, "", f.state())
		wantText(f, "submitted", f.tick("success"))
		want := []string{"failure failing", "paused ", "recovered recovered"}
		f.deliver(f.hooks)
		f.delivered()
		if got := heard(); !slices.Equal(got, want) {
			f.Errorf("heard %q, want %q", got, want)
		}
	})
}

func (f *turning) resume() {
	if was, err := periodic.NewTasks(f.db.Tasks()).Resume(f.Context(), "import"); err != nil || !was {
		f.Fatalf("resumed a paused task: %t, %v", was, err)
	}
}

func (f *turning) delivered() {
	storetest.Eventually(f, "all to be delivered", func() bool { return f.One(undelivered) == "0" })
}

func wantText(f *turning, want, got string) {
	f.Helper()
	if got != want {
		f.Errorf("got %q, want %q", got, want)
	}
}

// What several workers record at once pauses a task once. On PostgreSQL two that do not see each other may each have the
// first failure.
func TestFailuresAtOncePauseOnce(t *testing.T) {
	both(t, func(f *fixture) {
		var r receiver
		h := f.hooks(hooks.Hooks{All: hooks.Set{hooks.OnFailure: r.first(), hooks.OnPaused: r.action()}})
		f.Exec("INSERT INTO periodic_task (id, task, timer, overlap, pause_after) VALUES ('import', 'fails', 'yearly', 'allow', 3)")
		for n := range 12 {
			due := fmt.Sprintf("2026-01-01 00:00:%02d.000000", n)
			f.Exec("INSERT INTO job (jid, task, tracker, due) VALUES ($1, 'fails', 'import', $2)", due, due)
			f.Exec("INSERT INTO periodic_tick (task_id, due, decision, jid, decided) SELECT tracker, due, 'submitted', jid, due FROM job WHERE jid = $1", due)
		}
		for range 3 {
			f.executor(h, func(c *executor.Config) { c.PoolSize = 2 })
		}
		f.ended()
		f.elapses()
		for range 2 {
			f.once(h)
		}
		f.Want("nextrun: paused after 12 failures in a row", "SELECT paused_by || ': ' || substr(paused_reason, 1, 33) FROM periodic_task WHERE paused_until IS NULL")
		storetest.Eventually(t, "all to be delivered", func() bool { return f.One(undelivered) == "0" })
		var heard []string
		for _, n := range r.got() {
			heard = append(heard, string(n.Event))
		}
		if slices.Sort(heard); heard[0] != "failure" || len(heard) > 4 || heard[len(heard)-1] != "paused" || f.Kind == storetest.SQLite && len(heard) != 2 {
			t.Errorf("heard %q, want one failure and one pause", heard)
		}
	})
}
