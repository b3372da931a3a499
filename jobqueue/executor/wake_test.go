package executor_test

import (
	"context"
	"slices"
	"sync"
	"testing"
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
