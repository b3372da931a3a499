package hooks_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/hooks"
)

var errFailed = errors.New("exit status 2")

// written is the query for the jobs of hooks, by what they tell.
const written = "SELECT count(*) FROM job WHERE task = 'nextrun.hook' AND group_ = 'nextrun.hooks' AND tracker IS NULL AND subject LIKE CAST($1 AS text) || ' of %'"

// Hooks hear once of every final end of a job, whoever records it, of no attempt that another one follows, and of no job
// that was cancelled.
func TestHooksHearOfTheEndsOfJobs(t *testing.T) {
	both(t, func(f *fixture) {
		var r receiver
		h := f.hooks(hooks.Hooks{All: hooks.Set{hooks.OnFailure: r.action(), hooks.OnSuccess: r.action()}})
		cancelled := f.submit("works", "")
		if _, err := jobqueue.NewQueue(f.db.Jobs()).Cancel(f.Context(), cancelled); err != nil {
			t.Fatal(err)
		}
		dead, failed := f.submit("works", ""), f.submit("fails", "nightly")
		f.Exec("UPDATE job SET state = 'running', worker = 'gone@000000000001', started = submitted WHERE jid = $1", dead)
		f.Exec("INSERT INTO joblog (id, jid, level, created, message, counter) VALUES ('a', $1, 'info', '2026-01-01 00:00:00.000000', $2, 1)",
			failed, strings.Repeat("x", 1<<20)+"the end")
		want := map[string]hooks.Event{dead: hooks.Failure, failed: hooks.Failure}
		for _, handler := range []string{"works", "fails-once", "completes"} {
			want[f.submit(handler, "")] = hooks.Success
		}
		f.executor(h, func(c *executor.Config) { c.MaxInterrupts = executor.Never })
		f.ended("true")
		heard := map[string]hooks.Event{}
		for _, n := range r.got() {
			heard[n.Job.ID] += n.Event
			if n.Job.ID != failed {
				continue
			}
			if n.Task != "nightly" || n.Handler != "fails" || n.Error != "exit status 2" || n.Hook != "on_failure" || n.Job.State != "failed" || n.Job.Finished.IsZero() {
				t.Errorf("got %+v of the job %+v", n, n.Job)
			}
			if !strings.HasSuffix(n.Output, "no such file\nfailed: exit status 2") || !strings.Contains(n.Output, "the end\n") || len(n.Output) > 8<<10 {
				t.Errorf("the output has %d bytes", len(n.Output))
			}
		}
		if !maps.Equal(heard, want) {
			t.Errorf("heard %q, want %q", heard, want)
		}
	})
}

// The notice for a hook is committed with the job's end, or not at all.
func TestHooksShareTheFateOfTheEnd(t *testing.T) {
	both(t, func(f *fixture) {
		var r receiver
		h := f.hooks(hooks.Hooks{All: hooks.Set{hooks.OnFailure: r.action()}})
		refused := make(chan struct{}, 100)
		allow := f.Refuse("job", "UPDATE", "NEW.state = 'failed'", "P0001")
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
		allow()
		f.ended(own)
		f.Want(1, written, "failure")
		allow = f.Refuse("job", "INSERT", "NEW.task = 'nextrun.hook'", "P0001")
		jid := f.submit("fails", "")
		<-refused
		f.Want("running", "SELECT state FROM job WHERE jid = $1", jid)
		allow()
		f.ended(own)
		f.Want(2, written, "failure")
	})
}

// A process whose configuration lacks a hook does not lose its notice.
func TestHooksOfAnotherConfiguration(t *testing.T) {
	both(t, func(f *fixture) {
		var mine, other receiver
		h := f.hooks(hooks.Hooks{All: hooks.Set{hooks.OnMissed: other.action()}})
		stranger := f.newExecutor(f.hooks(hooks.Hooks{All: hooks.Set{hooks.OnFailure: mine.action()}}))
		f.start(stranger)
		f.submit("fails", "")
		mine.wait(t, 1)
		_ = stranger.Stop(t.Context())
		f.Exec("UPDATE job SET state = 'waiting', worker = NULL WHERE task = 'nextrun.hook'")
		f.executor(h)
		storetest.Eventually(t, "an attempt", func() bool {
			return f.One("SELECT count(*) FROM job WHERE task = 'nextrun.hook' AND state = 'stuck' AND result LIKE 'this process has no hook on_failure%'") == "1"
		})
	})
}

// The jobs of hooks have no hooks, and are left out of lists that do not ask for them.
func TestJobsOfHooksAreApart(t *testing.T) {
	both(t, func(f *fixture) {
		fails := receiver{fail: func(hooks.Notice) error { return jobqueue.Permanent(errFailed) }}
		h := f.hooks(hooks.Hooks{All: hooks.Set{hooks.OnFailure: fails.action(), hooks.OnSuccess: fails.action()}})
		jid := f.submit("works", "")
		f.executor(h)
		f.ended("true")
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
		f.start(e)
		for range 3 {
			f.submit("works", "")
		}
		f.ended(own) // though the hooks of the first jobs hang
		f.submit("long", "")
		for range 3 {
			<-told
		}
		close(free)
		f.ended("true")
	})
}
