package executor_test

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

// backlogStore has jobs without end.
type backlogStore struct {
	fakeStore
	takes  time.Duration // an exchange; 0: 5 ms
	limits []int         // of the claims
	claims []string      // jobs that were claimed
}

func (s *backlogStore) Sync(ctx context.Context, q exchange.Request) (exchange.Result, error) {
	pass(cmp.Or(s.takes, 5*time.Millisecond))
	s.mu.Lock()
	for range q.Claim.Limit {
		job := jobqueue.Job{JID: fmt.Sprintf("j%05d", len(s.claims)), Task: "t"}
		s.claims, s.jobs = append(s.claims, job.JID), append(s.jobs, job)
	}
	if q.Claim.Limit > 0 {
		s.limits = append(s.limits, q.Claim.Limit)
	}
	s.mu.Unlock()
	result, err := s.fakeStore.Sync(ctx, q)
	if q.Claim.Limit > 0 {
		for _, job := range result.Claimed {
			result.Chosen = append(result.Chosen, job.JID)
		}
	}
	return result, err
}

func (s *backlogStore) largest() (most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.limits {
		most = max(most, n)
	}
	s.limits = nil
	return most
}

// unclaimed names the jobs that went back to waiting.
func (s *backlogStore) unclaimed() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	back := map[string]bool{}
	for _, t := range s.ended {
		if t.To == jobqueue.Waiting {
			back[t.JID] = true
		}
	}
	return back
}

// crowded is an executor on such a store.
type crowded struct {
	*testing.T
	backlogStore
	length        atomic.Int64 // of its jobs
	running, most atomic.Int32
	called        sync.Map // by the ids of jobs
}

func (a *crowded) handle(ctx context.Context, job *jobqueue.JobContext) error {
	a.called.Store(job.JID, true)
	if n := a.running.Add(1); n > a.most.Load() {
		a.most.Store(n)
	}
	defer a.running.Add(-1)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(a.length.Load())):
		return nil
	}
}

func runCrowded(t *testing.T, takes time.Duration, pool int, check func(a *crowded, stop func())) {
	synctest.Test(t, func(t *testing.T) {
		a := &crowded{T: t, backlogStore: backlogStore{takes: takes, fakeStore: fakeStore{overdue: exchange.Overdue{Next: -1}}}}
		a.length.Store(int64(time.Millisecond))
		_, stop := startFake(t, a, executor.Config{PoolSize: pool, ShutdownGrace: time.Second}, a.handle)
		check(a, stop)
		if n := int(a.most.Load()); n != pool {
			t.Errorf("%d handlers ran at once, with a pool of %d", n, pool)
		}
	})
}

// However long a claim takes, its jobs then get their time to begin.
func TestShortJobsWaitForAPlace(t *testing.T) {
	for _, takes := range []time.Duration{0, 300 * time.Millisecond} {
		runCrowded(t, takes, 4, func(a *crowded, stop func()) {
			pass(10 * time.Second)
			if n, back := a.largest(), len(a.unclaimed()); n != 8 || back != 0 {
				t.Errorf("the largest claim asked for %d jobs, want two pools of 4, and %d were unclaimed", n, back)
			}
			stop()
		})
	}
}

// Jobs that have waited for a place too long, or when the executor stops, wait in the queue again, and their handlers
// were never called.
func TestJobsWithoutAPlaceGoBack(t *testing.T) {
	for wait, stops := range map[time.Duration]bool{200 * time.Millisecond: false, 10 * time.Millisecond: true} {
		runCrowded(t, 0, 4, func(a *crowded, stop func()) {
			pass(time.Second)
			a.length.Store(int64(time.Hour))
			pass(wait)
			if stops {
				go stop()
				pass(20 * time.Millisecond)
			}
			back := a.unclaimed()
			if len(back) < 4 {
				t.Errorf("%d jobs were unclaimed; the executor stops: %t", len(back), stops)
			}
			for jid := range back {
				if _, called := a.called.Load(jid); called {
					t.Errorf("job %s was unclaimed, although its handler was called", jid)
				}
			}
			if stops {
				pass(2 * time.Second)
				return
			}
			a.largest()
			pass(time.Minute)
			if n, more := a.largest(), len(a.unclaimed()); n != 0 || more != len(back) {
				t.Errorf("while all places are taken, a claim asked for %d jobs, and %d more were unclaimed", n, more-len(back))
			}
			stop()
		})
	}
}

func TestLongJobsAreClaimedForFreePlacesOnly(t *testing.T) {
	for _, pool := range []int{1, 4} {
		runCrowded(t, 0, pool, func(a *crowded, stop func()) {
			for _, length := range []time.Duration{50 * time.Millisecond, time.Second} {
				a.length.Store(int64(length))
				pass(2 * time.Second)
				a.largest()
				pass(time.Minute)
				if n, back := a.largest(), len(a.unclaimed()); n == 0 || n > pool || back != 0 {
					t.Errorf("with a pool of %d and jobs of %s a claim asked for %d jobs, and %d were unclaimed", pool, length, n, back)
				}
			}
			stop()
		})
	}
}
