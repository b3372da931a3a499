package executor_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

// pass lets time of a synctest bubble pass.
func pass(d time.Duration) { <-time.After(d) }

// fakeStore is a queue that is empty, and counts what it is asked.
type fakeStore struct {
	executor.Store
	mu      sync.Mutex
	calls   map[string]int
	overdue exchange.Overdue
	fail    error
	jobs    []jobqueue.Job // to be claimed
	ended   []exchange.Transition
	lines   []string
	worker  string
	others  map[string]int64 // who have jobs, and their beats
}

func (s *fakeStore) note(call string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == nil {
		s.calls = map[string]int{}
	}
	s.calls[call]++
	return s.fail
}

func (s *fakeStore) LastGroup(context.Context, string) (string, error) { return "", nil }

func (s *fakeStore) Sync(_ context.Context, q exchange.Request) (r exchange.Result, err error) {
	if err := s.note("sync"); err != nil {
		return r, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, jid := range q.InFlight {
		r.Compared = append(r.Compared, exchange.JobStatus{JID: jid, State: jobqueue.Running, Worker: s.worker})
	}
	for _, line := range q.Lines {
		s.lines = append(s.lines, line.Message)
	}
	for _, by := range q.Transitions {
		r.Done = append(r.Done, by.JID)
		s.ended = append(s.ended, by)
	}
	if q.Claim.Limit > 0 {
		for _, job := range s.jobs {
			job.State = jobqueue.Running
			r.Claimed = append(r.Claimed, job)
		}
		s.jobs = nil
	}
	return r, nil
}

func (s *fakeStore) Beat(_ context.Context, who exchange.Service, _ map[string]int64) (map[string]int64, error) {
	s.mu.Lock()
	s.worker = who.Worker
	s.mu.Unlock()
	return s.others, s.note("beat")
}

func (s *fakeStore) Leave(context.Context, string) error { return s.note("leave") }

func (s *fakeStore) Fault(error) service.Fault { return service.FaultDatabase }

func (s *fakeStore) CancelRequests(context.Context, string) ([]string, error) {
	return nil, s.note("cancel")
}

func (s *fakeStore) Overdue(ctx context.Context, _ exchange.OverdueQuery) (exchange.Overdue, error) {
	return s.overdue, errors.Join(s.note("overdue"), ctx.Err())
}

func (s *fakeStore) WatchJobs(ctx context.Context, _ func(), _ func(error)) { <-ctx.Done() }

// goDown makes everything fail from now on.
func (s *fakeStore) goDown(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

func (s *fakeStore) count(call string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[call]
}

// startFake starts an executor on the store and returns a function to end it.
func startFake(t *testing.T, s executor.Store, cfg executor.Config, h jobqueue.Handler) (e *executor.Executor, stop func()) {
	t.Helper()
	cfg.Name, cfg.Logger = "w", silent
	e, err := executor.New(s, cfg)
	if err != nil {
		t.Fatal(err)
	}
	e.Register("t", h)
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e, func() {
		if err := e.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}
}
