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

// waiting is the query for the events that wait for a relay, by what they tell.
const waiting = "SELECT count(*) FROM outbox_message AS m JOIN event_store AS e ON e.id = m.event_id WHERE m.published IS NULL AND e.type = $1"

// Hooks hear of every final end of a job, and of no attempt that another one follows.
func TestHooksHearOfTheEndsOfJobs(t *testing.T) {
	both(t, func(f *fixture) {
		var failure, success receiver
		h := f.hooks(hooks.Hooks{All: hooks.Set{OnFailure: failure.action(), OnSuccess: success.action()}})
		failed := f.submit("fails", "nightly")
		f.submit("works", "")
		f.submit("fails-once", "")
		f.executor(h)
		f.relay(h)
		f.ended()
		success.wait(t, 2)
		n := failure.wait(t, 1)[0]
		if n.Event != hooks.Failure || n.Task != "nightly" || n.Handler != "fails" || n.Error != "exit status 2" || n.Hook != "on_failure" {
			t.Errorf("got %+v", n)
		}
		if n.Job == nil || n.Job.ID != failed || n.Job.State != "failed" || n.Job.Finished == nil {
			t.Errorf("the job: %+v", n.Job)
		}
		if want := "no such file\nfailed: exit status 2"; len(n.Output) < len(want) || n.Output[len(n.Output)-len(want):] != want {
			t.Errorf("the output: %q", n.Output)
		}
		storetest.Eventually(t, "all to be recorded as delivered", func() bool {
			return f.One("SELECT count(*) FROM outbox_message WHERE published IS NULL") == "0"
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
		h := f.hooks(hooks.Hooks{All: hooks.Set{OnFailure: failure.action(), OnSuccess: success.action()}})
		jid := f.submit("completes", "nightly")
		f.submit("works", "")
		f.executor(h)
		f.relay(h)
		f.ended()
		n := 0
		for _, heard := range success.wait(t, 2) {
			if heard.Job.ID == jid && heard.Task == "nightly" {
				n++
			}
		}
		storetest.Eventually(t, "all to be recorded as delivered", func() bool {
			return f.One("SELECT count(*) FROM outbox_message WHERE published IS NULL") == "0"
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
		h := f.hooks(hooks.Hooks{All: hooks.Set{OnFailure: r.action(), OnSuccess: r.action()}})
		jid := f.submit("works", "")
		if _, err := jobqueue.NewQueue(f.db.Jobs()).Cancel(f.Context(), jid); err != nil {
			t.Fatal(err)
		}
		f.executor(h)
		f.ended()
		f.Want(0, "SELECT count(*) FROM event_store")
	})
}

// The executor that takes a job back from a dead one tells of its failure.
func TestHooksHearOfJobsOfADeadExecutor(t *testing.T) {
	both(t, func(f *fixture) {
		var r receiver
		h := f.hooks(hooks.Hooks{Handlers: map[string]hooks.Set{"works": {OnFailure: r.action()}}})
		jid := f.submit("works", "")
		f.Exec("UPDATE job SET state = 'running', worker = 'gone@1', heartbeat = '2026-01-01 00:00:00.000000', started = submitted WHERE jid = $1", jid)
		f.executor(h, func(c *executor.Config) { c.Lease, c.MaxInterrupts = time.Second, executor.Never })
		f.ended()
		f.Want("failed", "SELECT state FROM job")
		f.Want(1, waiting, "failure")
	})
}

// The notice for a hook is committed with the job's end, or not at all.
func TestHooksShareTheFateOfTheEnd(t *testing.T) {
	both(t, func(f *fixture) {
		var r receiver
		h := f.hooks(hooks.Hooks{All: hooks.Set{OnFailure: r.action()}})
		refused := make(chan struct{}, 100)
		f.refuse("job", "NEW.state = 'failed'")
		f.submit("fails", "")
		f.executor(h, func(c *executor.Config) {
			c.Observe = func(e executor.Event) {
				if e.Kind == executor.EventRefused {
					refused <- struct{}{}
				}
			}
		})
		<-refused
		f.Want(0, "SELECT count(*) FROM event_store")
		f.allow("job")
		f.ended()
		f.Want(1, waiting, "failure")
		f.refuse("outbox_message", "true")
		jid := f.submit("fails", "")
		<-refused
		f.Want("running", "SELECT state FROM job WHERE jid = $1", jid)
		f.allow("outbox_message")
		f.ended()
		f.Want(2, waiting, "failure")
	})
}

// refuse makes the database refuse changes of a table.
func (f *fixture) refuse(table, when string) {
	f.Helper()
	op := map[string]string{"job": "UPDATE", "outbox_message": "INSERT"}[table]
	if f.Kind == storetest.SQLite {
		f.Exec("CREATE TRIGGER own_" + table + " BEFORE " + op + " ON " + table + " WHEN " + when + " BEGIN SELECT RAISE(ABORT, 'refused'); END")
		return
	}
	f.Exec("CREATE FUNCTION own_" + table + "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$")
	f.Exec("CREATE TRIGGER own_" + table + " BEFORE " + op + " ON " + table + " FOR EACH ROW WHEN (" + when + ") EXECUTE FUNCTION own_" + table + "()")
}

func (f *fixture) allow(table string) {
	f.Helper()
	if f.Kind == storetest.SQLite {
		f.Exec("DROP TRIGGER own_" + table)
		return
	}
	f.Exec("DROP FUNCTION own_" + table + "() CASCADE")
}

// A receiver that is down delays neither other hooks nor other tasks, and gets
// everything once it is back.
func TestAReceiverThatIsDown(t *testing.T) {
	both(t, func(f *fixture) {
		var up receiver
		down := receiver{fail: func(hooks.Notice) error { return errors.New("connection refused") }}
		h := f.hooks(hooks.Hooks{
			All:   hooks.Set{OnFailure: down.action(), OnSuccess: up.action()},
			Tasks: map[string]hooks.Set{"important": {OnFailure: up.action()}},
		})
		f.executor(h)
		f.relay(h)
		for range 2 {
			f.submit("fails", "nightly")
		}
		f.submit("works", "nightly")
		f.submit("fails", "important")
		up.wait(t, 2)
		storetest.Eventually(t, "a failed attempt", func() bool {
			return f.One("SELECT count(*) FROM outbox_message WHERE problem = 'connection refused' AND attempts > 1") == "1"
		})
		down.mu.Lock()
		down.fail = nil
		down.mu.Unlock()
		down.wait(t, 2)
	})
}

// The relay of another process, whose configuration lacks a hook, leaves its events
// alone. So does one for events that are not of hooks.
func TestEventsOfHooksWaitForTheProcessThatHasThem(t *testing.T) {
	both(t, func(f *fixture) {
		var mine, other receiver
		h := f.hooks(hooks.Hooks{All: hooks.Set{OnFailure: mine.action()}})
		stranger := f.hooks(hooks.Hooks{All: hooks.Set{OnSuccess: other.action()}})
		f.submit("fails", "")
		f.executor(h)
		f.relay(stranger)
		f.ended()
		f.submit("works", "")
		f.ended()
		f.Want(1, waiting, "failure")
		f.Want(0, "SELECT max(attempts) FROM outbox_message")
		f.relay(h)
		mine.wait(t, 1)
	})
}

// Stop ends what a hook does; the event is delivered again.
func TestAHookThatHangsIsEndedAtStop(t *testing.T) {
	both(t, func(f *fixture) {
		entered := make(chan struct{}, 10)
		h := f.hooks(hooks.Hooks{All: hooks.Set{OnFailure: hooks.Func(func(ctx context.Context, _ hooks.Notice) error {
			entered <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		})}})
		f.submit("fails", "")
		f.executor(h)
		relay := f.relay(h)
		<-entered
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_ = relay.Stop(ctx)
		f.Want(1, waiting, "failure")
	})
}
