package scheduler_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// waiting is a scheduler whose batches wait for their time, on a database whose
// clock the test moves. The time of the tasks comes by such a step only, so that a slow
// machine does not matter.
type waiting struct {
	*fixture
	step      func(time.Duration)
	scheduler *scheduler.Scheduler
	seen      *events
	hooks     *hooked
	onUpdate  atomic.Pointer[func(n int64) error] // before a transaction
	claimed   chan []periodic.Task
}

const (
	// soonDue is when tasks are due, from the beginning of a test on.
	soonDue = 9 * time.Second
	// farLead makes the scheduler claim them at once.
	farLead = 10 * time.Second
)

// whileWaiting runs a test on both databases.
func whileWaiting(t *testing.T, test func(w *waiting)) {
	t.Helper()
	both(t, func(f *fixture) { test(newWaiting(f)) })
}

func newWaiting(f *fixture) *waiting {
	f.Helper()
	w := &waiting{fixture: f, claimed: make(chan []periodic.Task, 1000)}
	file := filepath.Join(f.TempDir(), "step")
	w.step = f.stepDatabaseClock(file)
	db, err := store.Open(f.Context(), f.URL, store.Options{
		Clock: steppedClock(f.URL, file), LockTimeout: storetest.Patience, ConnectTimeout: storetest.Patience, IdleTimeout: sqldb.DefaultStatementTimeout,
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() })
	f.db = db
	return w
}

// task adds a task that is due soon, with a policy for overlaps.
func (w *waiting) task(id, timer, overlap string) (due string) {
	w.Helper()
	w.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES (?, 'backup', ?, ?)", id, timer, overlap)
	return utc(w.due(id, -soonDue))
}

// start starts the scheduler and returns when it has prepared so many tasks, which are not
// due yet.
func (w *waiting) start(tasks int, change ...func(*scheduler.Config)) {
	w.Helper()
	w.hooks = &hooked{
		Store: w.db.Periodic(),
		beforeUpdate: func(n int64) error {
			if act := w.onUpdate.Load(); act != nil {
				return (*act)(n)
			}
			return nil
		},
	}
	eager := func(c *scheduler.Config) { c.Lead = farLead }
	w.scheduler, w.seen = w.fixture.start(claims{w.hooks, w.claimed}, append([]func(*scheduler.Config){eager}, change...)...)
	w.await(tasks)
}

// await returns when tasks have been prepared.
func (w *waiting) await(tasks int) {
	w.Helper()
	for limit := time.After(storetest.Patience); tasks > 0; {
		select {
		case some := <-w.claimed:
			tasks -= len(some)
		case <-limit:
			w.Fatal("the scheduler claims no task before its time")
		}
	}
}

// pass has the time come, and more.
func (w *waiting) pass(more time.Duration) {
	w.Helper()
	w.step(soonDue + more)
	w.scheduler.Wake()
}

// decided waits for the decision on a tick.
func (w *waiting) decided(id string, decision periodic.Decision) {
	w.Helper()
	w.seen.until(w, string(decision)+" tick of "+id, func(e scheduler.Event) bool {
		return e.Kind == scheduler.EventTick && e.Tick.TaskID == id && e.Tick.Decision == decision
	})
}

// claims tells of the tasks that were claimed before their time.
type claims struct {
	scheduler.Store
	claimed chan<- []periodic.Task
}

func (c claims) Read(ctx context.Context, fn func(batch.Tx) error) error {
	var tasks []periodic.Task
	err := c.Store.Read(ctx, func(tx batch.Tx) error { tasks = nil; return fn(&claimsTx{tx, &tasks}) })
	if err == nil && len(tasks) > 0 {
		c.claimed <- tasks
	}
	return err
}

type claimsTx struct {
	batch.Tx
	tasks *[]periodic.Task
}

func (tx *claimsTx) Tasks(ctx context.Context, w batch.Wanted) ([]periodic.Task, error) {
	tasks, err := tx.Tx.Tasks(ctx, w)
	if w.Ahead > 0 {
		*tx.tasks = tasks
	}
	return tasks, err
}
