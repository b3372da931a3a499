package consumers_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/queues"
)

// follower submits jobs without a scheduler, and follows them.
type follower struct {
	*fixture
	sink.Submitter
	task string // of the jobs
}

func follow(t *testing.T, q queue, kind queues.Kind) *follower {
	t.Helper()
	t.Parallel()
	f := newFixture(t, q)
	db, err := store.Open(t.Context(), f.URL, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	submitter, err := queues.Open(db, kind)
	if err != nil {
		t.Fatal(err)
	}
	return &follower{f, submitter, "proof"}
}

// in runs something in a transaction, and returns when it was committed.
func (f *follower) in(fn func(ctx context.Context, tx jobqueue.DBTX) error) time.Time {
	f.Helper()
	tx, err := f.SQL.BeginTx(f.Context(), nil)
	if err == nil {
		err = fn(f.Context(), tx)
	}
	before := time.Now()
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		f.Fatal(err)
	}
	return before
}

// submit submits jobs of new tasks.
func (f *follower) submit(n int, name, args string) (open []sink.Open, refused []string, at time.Time) {
	f.Helper()
	f.Exec(`INSERT INTO periodic_task (id, task, args, timer) SELECT ? || '-' || i, ?, ?, 'daily' FROM generate_series(1, ?) AS i`,
		name, f.task, args, n)
	now := time.Now().UTC().Truncate(time.Microsecond)
	jobs := make([]jobqueue.Job, n)
	for i := range jobs {
		jobs[i] = jobqueue.Job{
			JID: jobqueue.NewID(), Tracker: fmt.Sprintf("%s-%d", name, i+1), Task: f.task, Group: "default", Due: now, Submitted: now, Single: true,
		}
	}
	at = f.in(func(ctx context.Context, tx jobqueue.DBTX) error {
		done, err := f.Submit(ctx, tx, jobs)
		for _, s := range done {
			if s.Refused != "" {
				refused = append(refused, s.Refused)
				continue
			}
			i := slices.IndexFunc(jobs, func(j jobqueue.Job) bool { return j.JID == s.JID })
			open = append(open, sink.Open{TaskID: jobs[i].Tracker, JID: s.JID, Ref: s.Ref, Due: now, Submitted: now})
		}
		return err
	})
	return open, refused, at
}

// state is the state of an open job, "" if it is final.
func (f *follower) state(o sink.Open) (state jobqueue.State) {
	f.Helper()
	f.in(func(ctx context.Context, tx jobqueue.DBTX) error {
		pending, err := f.Pending(ctx, tx, []sink.Open{o})
		if len(pending) > 0 {
			state = pending[0].State
		}
		return err
	})
	return state
}

func (f *follower) becomes(o sink.Open, want jobqueue.State) {
	f.Helper()
	storetest.Eventually(f, fmt.Sprintf("the state %q of %s", want, o.TaskID), func() bool { return f.state(o) == want })
}

func (f *follower) cancel(open ...sink.Open) (jids []string) {
	f.Helper()
	f.in(func(ctx context.Context, tx jobqueue.DBTX) (err error) {
		jids, err = f.Submitter.(sink.Canceller).Cancel(ctx, tx, open, time.Now())
		return err
	})
	return jids
}

// TestGraphileWorkerIsFollowed: a job that fails waits for its next attempt.
func TestGraphileWorkerIsFollowed(t *testing.T) {
	f := follow(t, graphile, queues.GraphileWorker{})
	f.states()
	failing, _, _ := f.submit(1, "failing", `{"fail": "this test wants it"}`)
	f.becomes(failing[0], jobqueue.Stuck)
	if got := f.cancel(failing...); len(got) != 1 || f.state(failing[0]) != "" {
		t.Errorf("a job that waits for its next attempt is not cancelled")
	}
	f.volley()
}

func TestGraphileWorkerGivesUp(t *testing.T) {
	f := follow(t, graphile, queues.GraphileWorker{MaxAttempts: 1})
	f.startWorker()
	failing, _, _ := f.submit(1, "failing", `{"fail": "this test wants it"}`)
	f.becomes(failing[0], "")
	f.Want("1", "SELECT count(*) FROM graphile_worker.jobs WHERE attempts = 1 AND last_error IS NOT NULL")
}

// A named queue runs one job at a time; a worker may look for the next one only when
// it polls.
func TestGraphileWorkerRunsANamedQueueInOrder(t *testing.T) {
	q := graphile
	q.poll = 100 * time.Millisecond
	f := follow(t, q, queues.GraphileWorker{Queue: "orderly"})
	f.startWorker()
	open, _, _ := f.submit(5, "named", `{"ms": 50}`)
	for _, o := range open {
		f.becomes(o, "")
	}
	var last time.Time
	for _, w := range f.work.all() {
		if w.at.Before(last) {
			t.Errorf("a job began at %s, another ended at %s", w.at, last)
		}
		last = w.done
	}
}

// TestPgBossIsFollowed: pg-boss tries a job three times.
func TestPgBossIsFollowed(t *testing.T) {
	f := follow(t, pgBoss, queues.PgBoss{})
	f.states()
	failing, _, _ := f.submit(1, "failing", `{"fail": "this test wants it"}`)
	f.becomes(failing[0], "")
	f.Want("3", "SELECT retry_count + 1 FROM pgboss.job WHERE state = 'failed'")

	f.task = "one"
	first, refused, _ := f.submit(2, "one", `{"ms": 1}`)
	if len(first) != 1 || len(refused) != 1 {
		t.Fatalf("the queue took %d jobs and refused %v, want one of each", len(first), refused)
	}
	t.Log(refused[0])
	f.becomes(first[0], "")
	if open, _, _ := f.submit(1, "again", "{}"); len(open) != 1 {
		t.Error("the queue takes no job after the first has ended")
	}
	f.task = "proof"
	f.volley()
}

// states follows a job that runs and one that is cancelled. It leaves a worker.
func (f *follower) states() {
	f.Helper()
	cancelled, _, _ := f.submit(1, "cancelled", `{"task": "cancelled"}`)
	f.becomes(cancelled[0], jobqueue.Waiting)
	if got := f.cancel(cancelled...); len(got) != 1 || got[0] != cancelled[0].JID {
		f.Errorf("cancelled %v, want %s", got, cancelled[0].JID)
	}
	f.becomes(cancelled[0], "")
	f.startWorker()
	running, _, _ := f.submit(1, "running", `{"task": "running", "ms": 1500}`)
	f.becomes(running[0], jobqueue.Running)
	if got := f.cancel(running...); len(got) > 0 {
		f.Errorf("cancelled %v, which runs", got)
	}
	f.becomes(running[0], "")
	for _, w := range f.work.all() {
		if w.args.Task == "cancelled" {
			f.Error("a job that was cancelled ran")
		}
	}
	if n := len(f.work.all()); n != 1 {
		f.Errorf("%d jobs ran, want 1", n)
	}
}

// volley submits a thousand jobs at once.
func (f *follower) volley() {
	f.Helper()
	const size = 1000
	volleys := 0
	storetest.Punctual(f, "the first job of a volley", func() []time.Duration {
		volleys++
		return []time.Duration{f.oneVolley(fmt.Sprintf("volley-%d", volleys), size)}
	})
}

// oneVolley returns how soon after the commit the first job began.
func (f *follower) oneVolley(name string, size int) time.Duration {
	f.Helper()
	asked := time.Now()
	open, _, committed := f.submit(size, name, `{"task": "`+name+`"}`)
	var list []work
	storetest.Eventually(f, "all jobs", func() bool {
		list = slices.DeleteFunc(f.work.all(), func(w work) bool { return w.args.Task != name })
		return len(list) == size
	})
	first, last := list[0].at, list[size-1].at
	f.Logf("%d jobs: submitted in %d ms, the first began %d ms after the commit, the last %d ms", len(open),
		committed.Sub(asked).Milliseconds(), first.Sub(committed).Milliseconds(), last.Sub(committed).Milliseconds())
	return first.Sub(committed)
}
