package scheduler_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store"
)

// workQueueFixture makes the table of the queue that docs/queues.md shows, and a
// scheduler and tasks that know it.
func workQueueFixture(f *fixture) (with func(*scheduler.Config), tasks *periodic.Tasks) {
	f.exec(`CREATE TABLE work_queue (id text PRIMARY KEY, kind text, payload text, state text DEFAULT 'waiting')`)
	submitters := periodic.Submitters{"work": workQueue{}}
	return func(c *scheduler.Config) { c.Submitters = submitters }, periodic.NewTasks(f.db.Tasks()).With(submitters)
}

// The queue of the documentation does on both databases what the page says.
func TestOwnQueueGetsTheJobs(t *testing.T) {
	both(t, func(f *fixture) {
		with, _ := workQueueFixture(f)
		f.exec(`INSERT INTO periodic_task (id, task, timer, args, sink) VALUES
			('a', 'send', 'yearly', '{"to": "Ada"}', 'work'), ('long', ?, 'yearly', '{}', 'work'), ('plain', 'echo', 'yearly', '{}', 'job')`,
			strings.Repeat("x", 31))
		f.once(with)
		first := f.due("a", 2*time.Minute)
		f.due("long", time.Minute)
		f.due("plain", time.Minute)
		f.once(with)
		f.want(1, `SELECT count(*) FROM work_queue WHERE kind = 'send' AND payload = '{"to": "Ada"}'`)
		f.want(1, `SELECT count(*) FROM work_queue`)
		f.want("echo", `SELECT task FROM job`)
		f.want(1, `SELECT count(*) FROM periodic_tick AS t JOIN work_queue AS q ON q.id = t.jid WHERE decision = 'submitted' AND t.due = ?`, utc(first))
		f.want("skipped", `SELECT decision FROM periodic_tick WHERE task_id = 'long'`)
		if problem := f.one(`SELECT problem FROM periodic_task WHERE id = 'long'`); !strings.Contains(problem, "up to 30 characters") {
			f.Errorf("problem is %q", problem)
		}

		f.due("a", time.Minute)
		f.once(with)
		f.want("skipped", `SELECT decision FROM periodic_tick WHERE task_id = 'a' ORDER BY due DESC LIMIT 1`)
		f.exec(`UPDATE work_queue SET state = 'done'`)
		f.due("a", 30*time.Second)
		f.once(with)
		f.want(2, `SELECT count(*) FROM work_queue`)
	})
}

// Run now of a disabled task and backfill submit without a scheduler. They use the
// same queue, and without its Submitter they say so and write nothing.
func TestOwnQueueWithoutAScheduler(t *testing.T) {
	both(t, func(f *fixture) {
		_, tasks := workQueueFixture(f)
		f.exec(`INSERT INTO periodic_task (id, task, timer, sink, enabled, overlap) VALUES ('a', 'send', 'hourly', 'work', false, 'allow')`)
		now := time.Now()
		past := periodic.Backfill{From: now.Add(-150 * time.Minute), To: now.Add(-30 * time.Minute)}
		without := periodic.NewTasks(f.db.Tasks())
		for _, err := range []error{without.RunNow(f.Context(), "a"), without.Backfill(f.Context(), "a", past)} {
			if err == nil || !strings.Contains(err.Error(), `sink "work": this program has no queue of that name`) {
				f.Errorf("without the queue: %v", err)
			}
		}
		f.want(0, `SELECT count(*) FROM periodic_tick`)
		if err := tasks.RunNow(f.Context(), "a"); err != nil {
			f.Error(err)
		}
		f.want(1, `SELECT count(*) FROM work_queue`)
		if err := tasks.Backfill(f.Context(), "a", past); err != nil {
			f.Error(err)
		}
		f.want(3, `SELECT count(*) FROM work_queue`)
		f.want(0, `SELECT count(*) FROM job`)
		f.want(3, `SELECT count(*) FROM periodic_tick WHERE decision = 'submitted'`)
	})
}

// slowQueue is a work queue whose first call does not end before its context does.
type slowQueue struct {
	workQueue
	mu    sync.Mutex
	calls [][]string // the ids of the jobs
}

func (q *slowQueue) Submit(ctx context.Context, tx jobqueue.DBTX, jobs []jobqueue.Job) ([]sink.Submission, error) {
	ids := make([]string, len(jobs))
	for i, job := range jobs {
		ids[i] = job.JID
	}
	q.mu.Lock()
	q.calls = append(q.calls, ids)
	first := len(q.calls) == 1
	q.mu.Unlock()
	if first {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return q.workQueue.Submit(ctx, tx, jobs)
}

// A queue that takes too long is told so before the server ends its transaction, and the ticks are
// tried again, with the same ids.
func TestOwnQueueHasLimitedTime(t *testing.T) {
	f := newPostgresFixture(t)
	db, err := store.Open(f.Context(), f.URL, store.Options{IdleTimeout: 4 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	f.db = db
	workQueueFixture(f)
	q := &slowQueue{}
	with := func(c *scheduler.Config) { c.Submitters = periodic.Submitters{"work": q} }
	f.exec(`INSERT INTO periodic_task (id, task, timer, sink) SELECT 'a' || i, 'send', 'yearly', 'work' FROM generate_series(1, 150) AS i`)
	f.once(with)
	at := f.at(-time.Minute)
	f.exec("UPDATE periodic_task SET due = ?, nextrun = ?, timer = ? WHERE sink = 'work'", at, at, "*"+at[4:])
	f.once(with)
	f.want(150, `SELECT count(*) FROM work_queue`)
	f.want(150, `SELECT count(*) FROM periodic_tick AS t JOIN work_queue AS q ON q.id = t.jid WHERE decision = 'submitted'`)
	later := slices.Concat(q.calls[1:]...)
	for _, call := range q.calls {
		if len(call) > 100 {
			t.Errorf("a call has %d jobs", len(call))
		}
	}
	for _, id := range q.calls[0] {
		if !slices.Contains(later, id) {
			t.Errorf("the job %s has another id when its tick is tried again", id)
		}
	}
}
