package executor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/internal/jobdb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

// apartStore is a backlog that takes two requests at the same time.
type apartStore struct {
	backlogStore
	inFlight, most atomic.Int32
	lost           atomic.Bool // the reply to the next request that only claims
	lostJobs       map[string]bool
	given          atomic.Int32
	limited        atomic.Bool // the next request that only claims finds jobs that a limit holds back
	more           []string    // jobs that the test has added
	unwilling      string      // a job that the database does not let anybody claim
	claimedAt      []time.Time
	events         []executor.Event
}

// refuses reports whether a claim comes to the job that nobody can claim.
func (s *apartStore) refuses(c jobdb.Claim) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Limit > 0 {
		s.claimedAt = append(s.claimedAt, time.Now())
	}
	return c.Limit > 0 && s.unwilling != "" && !slices.Contains(c.Except, s.unwilling)
}

// told counts the events of a kind.
func (s *apartStore) told(kind executor.EventKind) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// unclaim lets the jobs wait again that the executor does not know of.
func (s *apartStore) unclaim(inFlight []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, jid := range append(slices.Clone(s.claims), s.more...) {
		ended := slices.ContainsFunc(s.ended, func(t jobdb.Transition) bool { return t.JID == jid })
		if !ended && !slices.Contains(inFlight, jid) {
			s.lostJobs[jid] = true
		}
	}
}

func (*apartStore) Concurrent() bool { return true }

func (s *apartStore) Sync(ctx context.Context, q jobdb.Request) (jobdb.Result, error) {
	if n := s.inFlight.Add(1); n > s.most.Load() {
		s.most.Store(n)
	}
	defer s.inFlight.Add(-1)
	if q.ReplyLost {
		s.given.Add(1)
		s.unclaim(q.InFlight)
	}
	if s.refuses(q.Claim) {
		return jobdb.Result{Chosen: []string{s.unwilling}}, errRefused
	}
	claims := q.Claim.Limit > 0 && len(q.Transitions) == 0
	if claims && s.limited.CompareAndSwap(true, false) {
		pass(s.takes)
		return jobdb.Result{Limited: true}, nil
	}
	result, err := s.backlogStore.Sync(ctx, q)
	if err == nil && claims && s.lost.CompareAndSwap(true, false) {
		s.mu.Lock()
		for _, job := range result.Claimed {
			s.lostJobs[job.JID] = true
		}
		s.mu.Unlock()
		return jobdb.Result{}, errors.New("the connection broke")
	}
	return result, err
}

// apartTakes is how long a request takes, and between is when to look: not when one ends.
const (
	apartTakes = 40 * time.Millisecond
	between    = time.Second + apartTakes/2
)

func runApart(t *testing.T, check func(s *apartStore)) { runApartIn(t, apartTakes, check) }

// runApartIn runs an executor on a store of which a request takes so long.
func runApartIn(t *testing.T, takes time.Duration, check func(s *apartStore)) {
	synctest.Test(t, func(t *testing.T) {
		s := &apartStore{lostJobs: map[string]bool{}, backlogStore: backlogStore{takes: takes, fakeStore: fakeStore{overdue: jobdb.Overdue{Next: -1}}}}
		observe := func(e executor.Event) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.events = append(s.events, e)
		}
		_, stop := startFake(t, s, executor.Config{PoolSize: 24, Observe: observe}, func(context.Context, *jobqueue.JobContext) error { return nil })
		check(s)
		s.mu.Lock()
		ended := map[string]bool{}
		for _, e := range s.ended {
			if ended[e.JID] || e.To != jobqueue.Success {
				t.Errorf("job %s ended twice, or as %s", e.JID, e.To)
			}
			ended[e.JID] = true
		}
		s.accept = true
		s.mu.Unlock()
		pass(3 * time.Second) // until it is tried again
		stop()
		s.nothingForgotten(t)
	})
}

// nothingForgotten checks that each job that was claimed has ended, or was unclaimed.
func (s *apartStore) nothingForgotten(t *testing.T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ended := map[string]bool{}
	for _, e := range s.ended {
		ended[e.JID] = true
	}
	for _, jid := range append(s.claims, s.more...) {
		if !ended[jid] && !s.lostJobs[jid] {
			t.Errorf("job %s was claimed and forgotten", jid)
		}
	}
}

// While many jobs end, the next are claimed at the same time.
func TestJobsEndWhileOthersAreClaimed(t *testing.T) {
	runApart(t, func(s *apartStore) {
		pass(between)
		if n := s.most.Load(); n != 2 {
			t.Errorf("at most %d requests at a time", n)
		}
	})
}

// A request that takes long goes on beside the others, up to a bound; nothing is said twice, and
// what comes back after the end waits in the queue again.
func TestSlowRequestsGoOnBeside(t *testing.T) {
	for _, takes := range []time.Duration{70 * time.Millisecond, 300 * time.Millisecond, 2 * time.Second} {
		t.Run(takes.String(), func(t *testing.T) {
			runApartIn(t, takes, func(s *apartStore) {
				pass(5*takes + takes/2)
				if n := s.most.Load(); n < 2 || n > 6 {
					t.Errorf("at most %d requests at a time", n)
				}
			})
		})
	}
}

// If the reply to such a claim is lost, its jobs are unclaimed, and those that ended meanwhile have ended.
func TestReplyOfAClaimBesideReportsIsLost(t *testing.T) {
	runApart(t, func(s *apartStore) {
		pass(between)
		s.lost.Store(true)
		pass(between)
		if s.lost.Load() || s.given.Load() != 1 {
			t.Errorf("jobs of a claim without a reply were unclaimed %d times", s.given.Load())
		}
		if n := s.told(executor.EventTrouble); n != 1 {
			t.Errorf("%d events tell of the connection that broke, want 1", n)
		}
	})
}

// A job whose end the database refuses holds up neither the ends of others nor claims, and
// is named.
func TestRefusedReportBesideAClaim(t *testing.T) {
	runApart(t, func(s *apartStore) {
		pass(between)
		s.mu.Lock()
		s.jobs, s.more = append(s.jobs, jobqueue.Job{JID: "bad", Task: "t"}), []string{"bad"}
		before := len(s.ended)
		s.mu.Unlock()
		pass(2 * time.Second)
		s.goOn(t, before, "bad")
	})
}

// Nor does one that the database lets nobody claim.
func TestRefusedClaimBesideReports(t *testing.T) {
	runApart(t, func(s *apartStore) {
		pass(between)
		s.mu.Lock()
		s.unwilling = "unwilling"
		before := len(s.ended)
		s.mu.Unlock()
		pass(2 * time.Second)
		s.goOn(t, before, "unwilling")
	})
}

// goOn checks that others go on beside a job that the database refuses.
func (s *apartStore) goOn(t *testing.T, before int, refused string) {
	t.Helper()
	if n := s.told(executor.EventTrouble); n > 0 {
		t.Errorf("%d events tell that the database does not work", n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.ended) - before; n < 200 {
		t.Errorf("%d jobs ended in two seconds beside one that is refused", n)
	}
	if fmt.Sprint(s.jobs) != "[]" {
		t.Errorf("%d jobs were not claimed", len(s.jobs))
	}
	if !slices.ContainsFunc(s.events, func(e executor.Event) bool { return e.Kind == executor.EventRefused && e.Job.JID == refused }) {
		t.Errorf("no event names the job %s", refused)
	}
}

// A claim that found only jobs which have to wait for others is repeated at once if jobs
// ended beside it: it may not have seen that.
func TestLimitsAreLookedAtAgainAfterReportsBesideAClaim(t *testing.T) {
	runApart(t, func(s *apartStore) {
		pass(between)
		s.limited.Store(true)
		pass(between)
		s.mu.Lock()
		defer s.mu.Unlock()
		for i := range s.claimedAt[1:] {
			if gap := s.claimedAt[i+1].Sub(s.claimedAt[i]); gap > 3*s.takes {
				t.Errorf("%s without a claim", gap)
			}
		}
	})
}
