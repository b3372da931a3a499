package hooks_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

// fixture is a database with hooks on it.
type fixture struct {
	*migrated.Database
	db *store.DB
}

func both(t *testing.T, test func(f *fixture)) {
	t.Helper()
	t.Parallel()
	migrated.Both(t, func(_ *testing.T, d *migrated.Database) { test(&fixture{d, d.Store}) })
}

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

func (f *fixture) hooks(h hooks.Hooks) *store.Hooks {
	f.Helper()
	made, err := f.db.Hooks(h, nil)
	if err != nil {
		f.Fatal(err)
	}
	return made
}

func (f *fixture) start(e *executor.Executor) {
	f.Helper()
	if err := e.Start(context.Background()); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = e.Stop(context.Background()) })
}

// executor starts an executor whose handlers do what they are called.
func (f *fixture) executor(h *store.Hooks, change ...func(*executor.Config)) {
	f.Helper()
	f.start(f.newExecutor(h, change...))
}

func (f *fixture) newExecutor(h *store.Hooks, change ...func(*executor.Config)) *executor.Executor {
	f.Helper()
	cfg := executor.Config{Name: "executor", Logger: silent(), PollInterval: 100 * time.Millisecond,
		RetryLimit: 1, RetryDelay: time.Millisecond}
	if h != nil {
		cfg.Hooks = h
	}
	for _, c := range change {
		c(&cfg)
	}
	e, err := executor.New(f.db.Jobs(), cfg)
	if err != nil {
		f.Fatal(err)
	}
	e.Register("works", func(_ context.Context, job *jobqueue.JobContext) error {
		job.Log(jobqueue.Info, "all is well")
		return nil
	})
	e.Register("completes", func(ctx context.Context, job *jobqueue.JobContext) error {
		tx, err := f.SQL.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := jobqueue.CompleteTx(ctx, tx, job); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	})
	e.Register("fails", func(_ context.Context, job *jobqueue.JobContext) error {
		job.Log(jobqueue.Warn, "no such file")
		return jobqueue.Permanent(errFailed)
	})
	e.Register("fails-once", func(_ context.Context, job *jobqueue.JobContext) error {
		if job.Attempt() == 1 {
			return errFailed
		}
		return nil
	})
	return e
}

func (f *fixture) submit(handler, tracker string) string {
	f.Helper()
	jids, err := jobqueue.NewQueue(f.db.Jobs()).Submit(f.Context(), jobqueue.Job{Task: handler, Group: "g", Tracker: tracker})
	if err != nil {
		f.Fatal(err)
	}
	return jids[0]
}

// own are the jobs that are not those of hooks.
const own = "task <> 'nextrun.hook'"

// ended waits for the end of the jobs of a condition.
func (f *fixture) ended(which string) {
	f.Helper()
	storetest.Eventually(f, "the end of all jobs", func() bool {
		return f.One("SELECT count(*) FROM job WHERE "+which+" AND state NOT IN ('success', 'failed', 'cancelled')") == "0"
	})
}

// schedule has a scheduler do what is due.
func (f *fixture) schedule(h *store.Hooks, others periodic.Submitters) {
	f.Helper()
	f.Schedule(func(c *scheduler.Config) { c.Name, c.Hooks, c.Submitters = "scheduler", h, others })
}

// receiver is an action that records its notices.
type receiver struct {
	mu      sync.Mutex
	notices []hooks.Notice
	fail    func(hooks.Notice) error
}

func (r *receiver) action() *hooks.Action {
	return hooks.Func(func(_ context.Context, n hooks.Notice) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.fail != nil {
			if err := r.fail(n); err != nil {
				return err
			}
		}
		r.notices = append(r.notices, n)
		return nil
	})
}

func (r *receiver) got() []hooks.Notice {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]hooks.Notice(nil), r.notices...)
}

// wait waits for so many notices.
func (r *receiver) wait(t testing.TB, n int) []hooks.Notice {
	t.Helper()
	storetest.Eventually(t, "notices", func() bool { return len(r.got()) >= n })
	return r.got()
}

// refusing is a queue that takes no job.
type refusing struct{}

func (refusing) Submit(_ context.Context, _ jobqueue.DBTX, jobs []jobqueue.Job) (list []sink.Submission, err error) {
	for _, j := range jobs {
		list = append(list, sink.Submission{JID: j.JID, Refused: "the queue is closed"})
	}
	return list, nil
}

func (refusing) Pending(context.Context, jobqueue.DBTX, []sink.Open) ([]sink.Pending, error) {
	return nil, nil
}
