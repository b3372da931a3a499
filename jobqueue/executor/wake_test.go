package executor_test

import (
	"context"
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

func TestNewJobWakesAnIdleExecutor(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		s := &spy{Store: q.store, settle: make(chan struct{}, 1000)}
		cfg := executor.Config{PollInterval: 10 * time.Hour}
		e := q.executorOn(s, cfg, map[string]jobqueue.Handler{"t": nothing}).start()
		receive(q, s.settle, "idleness")
		jids, err := jobqueue.NewQueue(q.Open().Jobs()).Submit(q.ctx, jobqueue.Job{Task: "t"})
		if err != nil {
			t.Fatal(err)
		}
		e.awaitEnd(jids[0], jobqueue.Success)
		if err := q.queue.SetLimit(q.ctx, jobqueue.ScopeHandler, "t", 0); err != nil {
			t.Fatal(err)
		}
		for len(s.settle) > 0 {
			<-s.settle
		}
		jid := q.submit(jobqueue.Job{Task: "t"})[0]
		receive(q, s.settle, "idleness")
		if job := q.get(jid); job.State != jobqueue.Waiting {
			t.Errorf("a job of a paused handler is %s", job.State)
		}
		if _, err := q.queue.DropLimit(q.ctx, jobqueue.ScopeHandler, "t"); err != nil {
			t.Fatal(err)
		}
		e.awaitEnd(jid, jobqueue.Success)
	})
}
