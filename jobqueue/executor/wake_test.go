package executor_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

// spy is a store that reports when its executor has nothing more to look for.
type spy struct {
	executor.Store
	mu     sync.Mutex
	empty  int // claims in a row that found nothing, since the last wake-up
	settle chan struct{}
}

func (s *spy) WatchJobs(ctx context.Context, wake func(), report func(error)) {
	s.Store.WatchJobs(ctx, func() { s.count(false); wake() }, report)
}

func (s *spy) Sync(ctx context.Context, q exchange.Request) (exchange.Result, error) {
	result, err := s.Store.Sync(ctx, q)
	if q.Claim.Limit > 0 {
		s.count(err == nil && len(result.Claimed) == 0)
	}
	return result, err
}

// count counts; an executor that hears of a change looks twice.
func (s *spy) count(empty bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !empty {
		s.empty = 0
	} else if s.empty++; s.empty == 2 {
		s.settle <- struct{}{}
	}
}

// A new job wakes an idle executor. Those of a task that is paused wait, also those that others are behind, and
// keep nobody looking. When the pause ends, they run at once.
func TestJobsWakeAnIdleExecutor(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		s := &spy{Store: q.store, settle: make(chan struct{}, 1000)}
		if err := q.queue.SetLimit(q.ctx, jobqueue.ScopeTask, "paused", 0); err != nil {
			t.Fatal(err)
		}
		held := q.submit(slices.Repeat([]jobqueue.Job{{Task: "t", Tracker: "paused"}}, 20)...)
		e := q.executorOn(s, executor.Config{PoolSize: 3, PollInterval: 10 * time.Hour}, map[string]jobqueue.Handler{"t": nothing}).start()
		receive(q, s.settle, "idleness")
		jids, err := jobqueue.NewQueue(q.Open().Jobs()).Submit(q.ctx, jobqueue.Job{Task: "t", Tracker: "other"})
		if err != nil {
			t.Fatal(err)
		}
		e.awaitEnd(jids[0], jobqueue.Success)
		q.Want(20, "SELECT count(*) FROM job WHERE state = 'waiting'")
		if _, err := q.queue.DropLimit(q.ctx, jobqueue.ScopeTask, "paused"); err != nil {
			t.Fatal(err)
		}
		for _, jid := range held {
			e.awaitEnd(jid, jobqueue.Success)
		}
	})
}

// A job that waits for a time begins then, not before, whoever submitted it, and without
// waiting for a poll. Others go on meanwhile.
func TestJobsWaitForTheirTime(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		e := q.run(executor.Config{PollInterval: time.Hour}, map[string]jobqueue.Handler{"x": nothing})
		e.awaitEnd(q.submit(jobqueue.Job{Task: "x"})[0], jobqueue.Success)
		soon := time.Now().Add(time.Second).UTC().Truncate(time.Microsecond)
		never := q.submit(jobqueue.Job{Task: "x", Retry: soon.Add(time.Hour)})[0]
		jid := q.submit(jobqueue.Job{Task: "x", Retry: soon})[0]
		q.sql("INSERT INTO job (jid, task, retry) VALUES ('sql', 'x', %s), ('past', 'x', '2020-01-01 00:00:00')", utc(soon))
		if job := q.get(jid); job.State != jobqueue.Waiting || !job.Retry.Equal(soon) {
			t.Errorf("submitted as %+v, to begin at %s", job, soon)
		}
		e.awaitEnd(q.submit(jobqueue.Job{Task: "x"})[0], jobqueue.Success)
		for _, id := range []string{jid, "sql", "past"} {
			e.awaitEnd(id, jobqueue.Success)
			if job := q.get(id); !job.Retry.IsZero() || id != "past" && job.Started.Before(soon) {
				t.Errorf("%s began at %s, before %s; %+v", id, job.Started, soon, job)
			}
		}
		if state := q.get(never).State; state != jobqueue.Waiting {
			t.Errorf("the job of later is %s", state)
		}
		q.sql("UPDATE job SET retry = NULL WHERE jid = '%s'", never) // now, after all
		e.awaitEnd(never, jobqueue.Success)
	})
}

func TestIdleExecutorOnlyPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{overdue: exchange.Overdue{Next: -1}}
		_, stop := startFake(t, s, executor.Config{}, func(context.Context, *jobqueue.JobContext) error { return nil })
		pass(time.Hour + time.Second)
		if r, x, b := s.count("overdue"), s.count("sync"), s.count("beat"); r != 121 || x != 241 || b < 120 || b > 122 {
			t.Errorf("in an hour, each 30 s: %d times looked for what is due, %d times claimed or compared, %d times beaten; want 121, 241, 121", r, x, b)
		}
		if n := s.count("cancel"); n != 0 {
			t.Errorf("%d looks for cancellations without a job", n)
		}
		stop()
	})
}

func TestTroubleIsRetriedWithGrowingPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{overdue: exchange.Overdue{Next: -1}, fail: errors.New("down")}
		_, stop := startFake(t, s, executor.Config{}, func(context.Context, *jobqueue.JobContext) error { return nil })
		pass(5 * time.Minute)
		// The pauses grow to 5 to 10 s, and a look may have to wait for the end of that of another try, too.
		if n := s.count("overdue"); n < 15 || n > 80 {
			t.Errorf("%d tries in five minutes of trouble", n)
		}
		stop()
	})
}

// The jobs of a worker that dies while this one stops are for others.
func TestStoppingExecutorRescuesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{overdue: exchange.Overdue{Next: -1}, jobs: []jobqueue.Job{{JID: "1", Task: "t"}}, others: map[string]int64{"other@000000000009": 1}}
		_, stop := startFake(t, s, executor.Config{ShutdownGrace: time.Hour}, func(context.Context, *jobqueue.JobContext) error { pass(time.Minute); return nil })
		pass(5 * time.Second)
		stop()
		if n := s.count("overdue"); n < 2 || n > 10 {
			t.Errorf("%d looks for jobs to rescue, want one each time that the other worker counts as dead", n)
		}
	})
}

// While long jobs run, the executor beats and looks for
// cancellations, and does nothing else: in a bubble, time passes only while it
// sleeps.
func TestLongJobsKeepNobodyBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{overdue: exchange.Overdue{Next: -1}, jobs: []jobqueue.Job{{JID: "1", Task: "t"}, {JID: "2", Task: "t"}, {JID: "3", Task: "t"}}}
		_, stop := startFake(t, s, executor.Config{}, func(context.Context, *jobqueue.JobContext) error { pass(time.Hour); return nil })
		pass(30 * time.Minute)
		if n := s.count("beat"); n < 940 || n > 950 {
			t.Errorf("%d beats in half an hour, want one each 1.9 s", n)
		}
		if n := s.count("sync"); n > 130 {
			t.Errorf("%d syncs in half an hour, want two each poll", n)
		}
		pass(time.Hour)
		stop()
		if len(s.ended) != 3 {
			t.Errorf("ended: %+v", s.ended)
		}
	})
}
