package executor_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

var errLate = errors.New("too late")

// effect is a handler that writes a row, ends its job in the same transaction, and goes on
// with after. If before returns an error, it rolls back and returns that.
func (q *fixture) effect(before, after func(job *jobqueue.JobContext) error) jobqueue.Handler {
	return func(ctx context.Context, job *jobqueue.JobContext) error {
		tx, err := q.SQL.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() // after a commit there is nothing to do
		if _, err := tx.ExecContext(ctx, "INSERT INTO effect (jid) VALUES ('"+job.JID+"')"); err != nil {
			return err
		}
		job.Log(jobqueue.Info, "worked")
		job.SetResult("done")
		if err := before(job); err != nil {
			return err
		}
		if err := jobqueue.CompleteTx(ctx, tx, job); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		return after(job)
	}
}

func fine(*jobqueue.JobContext) error { return nil }

// effects checks how many rows there are of a job.
func (q *fixture) effects(jid string, want string) {
	q.Helper()
	if n := q.value("SELECT count(*) FROM effect WHERE jid = '%s'", jid); n != want {
		q.Errorf("%s effects, want %s", n, want)
	}
}

func onBothWithEffects(t *testing.T, test func(t *testing.T, q *fixture)) {
	t.Helper()
	onBoth(t, func(t *testing.T, q *fixture) {
		q.sql("CREATE TABLE effect (jid varchar(254) NOT NULL)")
		test(t, q)
	})
}

func TestCompleteTxEndsTheJobWithItsWork(t *testing.T) {
	onBothWithEffects(t, func(t *testing.T, q *fixture) {
		tries := 0
		e := q.run(executor.Config{RetryDelay: 1}, map[string]jobqueue.Handler{"t": q.effect(func(*jobqueue.JobContext) error {
			if tries++; tries == 1 {
				return errLate // the first attempt is undone
			}
			return nil
		}, func(job *jobqueue.JobContext) error {
			if state := q.get(job.JID).State; state != jobqueue.Success {
				t.Errorf("after the commit the job is %s", state)
			}
			return errLate // what was committed stays
		})})
		jid := q.submit(jobqueue.Job{Task: "t"})[0]
		e.awaitEnd(jid, jobqueue.Success)
		q.effects(jid, "1")
		job := q.get(jid)
		if job.Result != "done" || job.Progress != 100 || job.Retries != 1 || job.Finished.IsZero() {
			t.Errorf("at the end: %+v", job)
		}
		if log := q.log(jid); !slices.Contains(log, "worked") || !slices.Contains(log, "after CompleteTx the handler returned: too late") {
			t.Errorf("log: %q", log)
		}
		if lost := e.count(kind(executor.EventLost)); lost != 0 {
			t.Errorf("%d jobs count as lost", lost)
		}
	})
}

// A handler that forgets the commit has not succeeded.
func TestCompleteTxWithoutCommit(t *testing.T) {
	onBothWithEffects(t, func(t *testing.T, q *fixture) {
		e := q.run(executor.Config{RetryLimit: -1}, map[string]jobqueue.Handler{"t": func(ctx context.Context, job *jobqueue.JobContext) error {
			tx, err := q.SQL.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			err = jobqueue.CompleteTx(ctx, tx, job)
			return errors.Join(err, tx.Rollback())
		}})
		jid := q.submit(jobqueue.Job{Task: "t"})[0]
		e.awaitEnd(jid, jobqueue.Failed)
		if job := q.get(jid); !strings.Contains(job.Result, "did not commit") {
			t.Errorf("the result is %q", job.Result)
		}
	})
}

// A job that another attempt has is not completed, and what was written is rolled back.
func TestCompleteTxIsFenced(t *testing.T) {
	thefts := map[string]string{
		"another worker has it": "UPDATE job SET worker = 'other@1' WHERE jid = '%s'",
		"it waits again":        "UPDATE job SET state = 'waiting', worker = NULL WHERE jid = '%s'",
		"it is gone":            "DELETE FROM joblog WHERE jid = '%[1]s'; DELETE FROM job WHERE jid = '%[1]s'",
		"another attempt of the same worker has it": "UPDATE job SET started = '2001-01-01 00:00:00.000000' WHERE jid = '%s'",
	}
	onBothWithEffects(t, func(t *testing.T, q *fixture) {
		result := make(chan error, 10)
		var stolen sync.Map
		q.run(executor.Config{}, map[string]jobqueue.Handler{"t": func(ctx context.Context, job *jobqueue.JobContext) error {
			if _, again := stolen.LoadOrStore(job.JID, true); again {
				return nil
			}
			q.sql(thefts[job.Subject], job.JID)
			err := q.effect(fine, fine)(context.WithoutCancel(ctx), job) // whether it notices the loss before or not
			result <- err
			return err
		}})
		for name := range thefts {
			jid := q.submit(jobqueue.Job{Task: "t", Subject: name, Limits: jobqueue.Limits{RetryLimit: -1}})[0]
			if err := receive(q, result, "the handler"); !errors.Is(err, jobqueue.ErrLeaseLost) || !strings.Contains(err.Error(), jid) {
				t.Errorf("%s: CompleteTx returns %v", name, err)
			}
			q.effects(jid, "0")
		}
	})
}

// After the commit a handler may go on: comparisons do not take its job for lost.
func TestAHandlerGoesOnAfterCompleteTx(t *testing.T) {
	onBothWithEffects(t, func(t *testing.T, q *fixture) {
		committed, release, over := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		s, compared := q.comparing()
		e := q.executorOn(s, executor.Config{}, map[string]jobqueue.Handler{"t": func(ctx context.Context, job *jobqueue.JobContext) error {
			return q.effect(fine, func(*jobqueue.JobContext) error {
				close(committed)
				<-release
				over <- context.Cause(ctx)
				return nil
			})(ctx, job)
		}}).hastened().start()
		jid := q.submit(jobqueue.Job{Task: "t"})[0]
		<-committed
		for range 2 { // the first may have begun before the commit
			receive(q, compared, "a comparison")
		}
		close(release)
		if cause := receive(q, over, "the handler"); cause != nil {
			t.Errorf("its context has ended: %v", cause)
		}
		e.awaitEnd(jid, jobqueue.Success)
	})
}

func TestRecordOfCompleteTx(t *testing.T) {
	t.Parallel()
	job := jobqueue.NewJobContext(jobqueue.Job{})
	if err := jobqueue.CompleteTx(t.Context(), nil, job); err != nil || !job.Record().Completed {
		t.Errorf("the record is %+v, %v", job.Record(), err)
	}
	if err := jobqueue.CompleteTx(t.Context(), nil, &jobqueue.JobContext{}); err != nil {
		t.Error(err)
	}
}

// If another executor takes the job of one that stands still, only the effect of one of them stays.
func TestG11EffectsHappenOnce(t *testing.T) {
	onBothWithEffects(t, func(t *testing.T, q *fixture) {
		stands, goesOn, first := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		q.run(executor.Config{Name: "first", PoolSize: 1}, map[string]jobqueue.Handler{"t": func(ctx context.Context, job *jobqueue.JobContext) error {
			close(stands)
			<-goesOn
			err := q.effect(fine, fine)(context.WithoutCancel(ctx), job)
			first <- err
			return err
		}})
		jid := q.submit(jobqueue.Job{Task: "t"})[0]
		<-stands
		q.sql("UPDATE job SET state = 'waiting', worker = NULL WHERE jid = '%s'", jid) // as if it were dead
		second := q.run(executor.Config{Name: "second"}, map[string]jobqueue.Handler{"t": q.effect(fine, fine)})
		second.awaitEnd(jid, jobqueue.Success)
		close(goesOn)
		if err := receive(q, first, "the first one"); !errors.Is(err, jobqueue.ErrLeaseLost) {
			t.Errorf("the first executor gets %v", err)
		}
		q.effects(jid, "1")
	})
}
