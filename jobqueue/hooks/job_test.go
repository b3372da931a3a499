package hooks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/hooks"
)

var errFailed = errors.New("exit status 2")

// written is the query for the jobs of hooks, by what they tell.
const written = "SELECT count(*) FROM job WHERE task = 'nextrun.hook' AND group_ = 'nextrun.hooks' AND tracker IS NULL AND subject LIKE CAST($1 AS text) || ' of %'"

// undelivered is the query for those that have not succeeded.
const undelivered = "SELECT count(*) FROM job WHERE task = 'nextrun.hook' AND state <> 'success'"

// Hooks hear of every final end of a job, and of no attempt that another one follows.
func TestHooksHearOfTheEndsOfJobs(t *testing.T) {
	both(t, func(f *fixture) {
		var failure, success receiver
		h := f.hooks(hooks.Hooks{All: hooks.Set{hooks.OnFailure: failure.action(), hooks.OnSuccess: success.action()}})
		failed := f.submit("fails", "nightly")
		f.submit("works", "")
		f.submit("fails-once", "")
		f.executor(h)
		f.ended()
		success.wait(t, 2)
		n := failure.wait(t, 1)[0]
		if n.Event != hooks.Failure || n.Task != "nightly" || n.Handler != "fails" || n.Error != "exit status 2" || n.Hook != "on_failure" {
			t.Errorf("got %+v", n)
		}
		if n.Job == nil || n.Job.ID != failed || n.Job.State != "failed" || n.Job.Finished.IsZero() {
			t.Errorf("the job: %+v", n.Job)
		}
		if want := "no such file\nfailed: exit status 2"; len(n.Output) < len(want) || n.Output[len(n.Output)-len(want):] != want {
			t.Errorf("the output: %q", n.Output)
		}
		storetest.Eventually(t, "all to be recorded as delivered", func() bool {
			return f.One(undelivered) == "0"
		})
		if len(failure.got()) != 1 || len(success.got()) != 2 {
			t.Errorf("%d failures, %d successes", len(failure.got()), len(success.got()))
		}
	})
}

// Hooks hear once of a job that its handler ends in its own transaction.
func TestHooksHearOfCompleteTx(t *testing.T) {
	both(t, func(f *fixture) {
		var success, failure receiver
		h := f.hooks(hooks.Hooks{All: hooks.Set{hooks.OnFailure: failure.action(), hooks.OnSuccess: success.action()}})
		jid := f.submit("completes", "nightly")
		f.submit("works", "")
		f.executor(h)
		f.ended()
		n := 0
		for _, heard := range success.wait(t, 2) {
			if heard.Job.ID == jid && heard.Task == "nightly" {
				n++
			}
		}
		storetest.Eventually(t, "all to be recorded as delivered", func() bool {
			return f.One(undelivered) == "0"
		})
		if n != 1 || len(success.got()) != 2 || len(failure.got()) != 0 {
			t.Errorf("heard %d times of it, of %d successes and %d failures", n, len(success.got()), len(failure.got()))
		}
	})
}

// A cancelled job is none that failed.
func TestHooksDoNotHearOfCancelledJobs(t *testing.T) {
	both(t, func(f *fixture) {
		var r receiver
		h := f.hooks(hooks.Hooks{All: hooks.Set{hooks.OnFailure: r.action(), hooks.OnSuccess: r.action()}})
		jid := f.submit("works", "")
		if _, err := jobqueue.NewQueue(f.db.Jobs()).Cancel(f.Context(), jid); err != nil {
			t.Fatal(err)
		}
		f.executor(h)
		f.ended()
		f.Want(0, "SELECT count(*) FROM job WHERE task = 'nextrun.hook'")
	})
}

// The executor that takes a job back from a dead one tells of its failure.
func TestHooksHearOfJobsOfADeadExecutor(t *testing.T) {
	both(t, func(f *fixture) {
		var r receiver
		h := f.hooks(hooks.Hooks{Handlers: map[string]hooks.Set{"works": {hooks.OnFailure: r.action()}}})
		jid := f.submit("works", "")
		f.Exec("UPDATE job SET state = 'running', worker = 'gone@000000000001', started = submitted WHERE jid = $1", jid)
		f.executor(h, func(c *executor.Config) { c.MaxInterrupts = executor.Never })
		f.ended()
		f.Want("failed", "SELECT state FROM job WHERE jid = $1", jid)
		f.Want(1, written, "failure")
	})
}

// The notice for a hook is committed with the job's end, or not at all.
func TestHooksShareTheFateOfTheEnd(t *testing.T) {
	both(t, func(f *fixture) {
		var r receiver
		h := f.hooks(hooks.Hooks{All: hooks.Set{hooks.OnFailure: r.action()}})
		refused := make(chan struct{}, 100)
		f.refuse("UPDATE", "NEW.state = 'failed'")
		f.submit("fails", "")
		f.executor(h, func(c *executor.Config) {
			c.Observe = func(e executor.Event) {
				if e.Kind == executor.EventRefused {
					refused <- struct{}{}
				}
			}
		})
		<-refused
		f.Want(0, "SELECT count(*) FROM job WHERE task = 'nextrun.hook'")
		f.allow()
		f.ended()
		f.Want(1, written, "failure")
		f.refuse("INSERT", "NEW.task = 'nextrun.hook'")
		jid := f.submit("fails", "")
		<-refused
		f.Want("running", "SELECT state FROM job WHERE jid = $1", jid)
		f.allow()
		f.ended()
		f.Want(2, written, "failure")
	})
}

// refuse makes the database refuse changes of the table job, an UPDATE or an INSERT.
func (f *fixture) refuse(op, when string) {
	f.Helper()
	if f.Kind == storetest.SQLite {
		f.Exec("CREATE TRIGGER own_job BEFORE " + op + " ON job WHEN " + when + " BEGIN SELECT RAISE(ABORT, 'refused'); END")
		return
	}
	f.Exec("CREATE FUNCTION own_job() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$")
	f.Exec("CREATE TRIGGER own_job BEFORE " + op + " ON job FOR EACH ROW WHEN (" + when + ") EXECUTE FUNCTION own_job()")
}

func (f *fixture) allow() {
	f.Helper()
	if f.Kind == storetest.SQLite {
		f.Exec("DROP TRIGGER own_job")
		return
	}
	f.Exec("DROP FUNCTION own_job() CASCADE")
}

// A receiver that is down delays neither other hooks nor other tasks, and gets
// everything once it is back.
func TestAReceiverThatIsDown(t *testing.T) {
	both(t, func(f *fixture) {
		var up receiver
		down := receiver{fail: func(hooks.Notice) error { return errors.New("connection refused") }}
		h := f.hooks(hooks.Hooks{
			All:   hooks.Set{hooks.OnFailure: down.action(), hooks.OnSuccess: up.action()},
			Tasks: map[string]hooks.Set{"important": {hooks.OnFailure: up.action()}},
		})
		f.executor(h)
		for range 2 {
			f.submit("fails", "nightly")
		}
		f.submit("works", "nightly")
		f.submit("fails", "important")
		up.wait(t, 2)
		storetest.Eventually(t, "failed attempts", func() bool {
			return f.One("SELECT count(*) FROM job WHERE task = 'nextrun.hook' AND state = 'stuck' AND retries = 1") == "2"
		})
		down.mu.Lock()
		down.fail = nil
		down.mu.Unlock()
		f.Exec("UPDATE job SET retry = submitted WHERE state = 'stuck'")
		down.wait(t, 2)
	})
}

// A process whose configuration lacks a hook does not lose its notice.
func TestHooksOfAnotherConfiguration(t *testing.T) {
	both(t, func(f *fixture) {
		var mine, other receiver
		h := f.hooks(hooks.Hooks{All: hooks.Set{hooks.OnMissed: other.action()}})
		stranger := f.start(f.newExecutor(f.hooks(hooks.Hooks{All: hooks.Set{hooks.OnFailure: mine.action()}})), nil)
		f.submit("fails", "")
		mine.wait(t, 1)
		_ = stranger.Stop(t.Context())
		f.Exec("UPDATE job SET state = 'waiting', worker = NULL WHERE task = 'nextrun.hook'")
		f.deliver(h)
		storetest.Eventually(t, "an attempt", func() bool {
			return f.One("SELECT count(*) FROM job WHERE task = 'nextrun.hook' AND state = 'stuck' AND result LIKE 'this process has no hook on_failure%'") == "1"
		})
	})
}

// Stop ends what a hook does; the notice is delivered again.
func TestAHookThatHangsIsEndedAtStop(t *testing.T) {
	both(t, func(f *fixture) {
		entered := make(chan struct{}, 10)
		h := f.hooks(hooks.Hooks{All: hooks.Set{hooks.OnFailure: hooks.Func(func(ctx context.Context, _ hooks.Notice) error {
			entered <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		})}})
		f.submit("fails", "")
		executor := f.executor(h)
		<-entered
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_ = executor.Stop(ctx)
		f.Want(1, undelivered)
	})
}

// The jobs of hooks have no hooks, and are left out of lists that do not ask for them.
func TestJobsOfHooksAreApart(t *testing.T) {
	both(t, func(f *fixture) {
		fails := receiver{fail: func(hooks.Notice) error { return jobqueue.Permanent(errFailed) }}
		h := f.hooks(hooks.Hooks{All: hooks.Set{hooks.OnFailure: fails.action(), hooks.OnSuccess: fails.action()}})
		jid := f.submit("works", "")
		f.executor(h)
		f.allEnded()
		f.Want("2", "SELECT count(*) FROM job")
		queue := jobqueue.NewQueue(f.db.Jobs())
		own, err1 := queue.List(t.Context(), jobqueue.Filter{})
		hooked, err2 := queue.List(t.Context(), jobqueue.Filter{Group: jobqueue.HookGroup})
		if err := errors.Join(err1, err2); err != nil || len(own) != 1 || own[0].JID != jid || len(hooked) != 1 {
			t.Fatalf("%v, %v, %v", own, hooked, err)
		}
		if j := hooked[0]; j.State != jobqueue.Failed || j.Result != "exit status 2" || j.Subject != "success of works" {
			t.Errorf("got %+v", j)
		}
	})
}

// A hook waits for no job that takes long, and no job for a hook that hangs.
func TestHooksHavePlacesOfTheirOwn(t *testing.T) {
	both(t, func(f *fixture) {
		told, free := make(chan hooks.Notice, 10), make(chan struct{})
		h := f.hooks(hooks.Hooks{All: hooks.Set{hooks.OnSuccess: hooks.Func(func(ctx context.Context, n hooks.Notice) error {
			told <- n
			select {
			case <-free:
			case <-ctx.Done():
			}
			return nil
		})}})
		e := f.newExecutor(h, func(c *executor.Config) { c.PoolSize = 1 })
		e.Register("long", func(ctx context.Context, _ *jobqueue.JobContext) error {
			select {
			case <-free:
			case <-ctx.Done():
			}
			return nil
		})
		f.start(e, nil)
		for range 3 {
			f.submit("works", "")
		}
		f.ended() // though the hooks of the first jobs hang
		f.submit("long", "")
		for range 3 {
			<-told
		}
		close(free)
		f.allEnded()
	})
}
