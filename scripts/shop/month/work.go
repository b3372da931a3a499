package month

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// The defaults of an executor, for the retries.
const (
	retryLimit = 2
	retryDelay = 5 * time.Minute
)

// begin claims the jobs that were submitted, and plans their ends. It reports whether there were any.
func (s *shop) begin(ctx context.Context) (bool, error) {
	s.mu.Lock()
	jids := s.begins
	s.begins = nil
	s.mu.Unlock()
	for _, jid := range jids {
		if err := s.attempt(ctx, jid); err != nil {
			return false, err
		}
	}
	return len(jids) > 0, nil
}

// left reports whether a task is still due that is not known to have a problem, and does not wait for the end of a job. The scheduler leaves
// one alone for some seconds of the host's clock while autovacuum has a lock; here, these are days.
func left(ctx context.Context, s *shop) (left bool, err error) {
	err = s.pool.QueryRowContext(ctx, s.bind(`SELECT EXISTS (SELECT 1 FROM periodic_task
		WHERE enabled AND paused IS NULL AND problem IS NULL AND nextrun <= $1 AND overlap NOT IN ('queue', 'replace'))`), sqldb.Timestamp(s.now())).Scan(&left)
	return left, err
}

// attempt begins a job, and plans its end.
func (s *shop) attempt(ctx context.Context, jid string) error {
	job, err := s.jobs().Get(ctx, jid)
	if err != nil {
		return err
	}
	if job.State.Final() { // replaced or cancelled before it began
		return nil
	}
	result, err := s.db.Jobs().Sync(ctx, exchange.Request{Worker: worker, Hooks: s.hooks, Claim: exchange.Claim{
		Limit: 1, Tasks: []string{job.Task}, Only: []string{jid}, Name: "shop", High: 1, Low: 1,
	}})
	if err != nil {
		return err
	}
	if len(result.Claimed) != 1 { // limits, a pause of its group
		s.at(s.now().Add(time.Minute), func(ctx context.Context) error { return s.attempt(ctx, jid) })
		return nil
	}
	job = result.Claimed[0]
	p := planOf(job.Tracker)
	if p == nil {
		return fmt.Errorf("a job of the unknown task %q", job.Tracker)
	}
	n := s.tally.attempt(job.Tracker)
	s.at(s.now().Add(p.takes), func(ctx context.Context) error { return s.finish(ctx, job, p, p.fails(n)) })
	return nil
}

// finish ends an attempt.
func (s *shop) finish(ctx context.Context, job jobqueue.Job, p *plan, fails bool) error {
	t := exchange.Transition{JID: job.JID, Worker: worker, From: jobqueue.Running, To: jobqueue.Success, Result: "done: 42 rows"}
	t.Lines = []exchange.Line{exchange.NewLine(job.JID, jobqueue.Info, "42 rows")}
	if now, err := s.jobs().Get(ctx, job.JID); err != nil || now.Worker != worker {
		return err
	} else if !now.Cancel.IsZero() {
		t.To, t.Result, fails = jobqueue.Cancelled, "", false
	}
	if fails {
		t.To, t.Result = jobqueue.Failed, "exit status 3: FATAL: connection to shop-db refused"
		said := "failed: "
		if !p.fatal && job.Retries < retryLimit {
			t.To, t.Delay = jobqueue.Stuck, retryDelay<<job.Retries
			said = fmt.Sprintf("failed, to be tried again in %s: ", t.Delay)
		}
		t.Lines = []exchange.Line{exchange.NewLine(job.JID, jobqueue.Error, "FATAL: connection to shop-db refused"), exchange.NewLine(job.JID, jobqueue.Warn, said+t.Result)}
	}
	if err := s.transition(ctx, t); err != nil {
		return err
	}
	switch t.To {
	case jobqueue.Stuck:
		s.at(s.now().Add(t.Delay), func(ctx context.Context) error { return s.again(ctx, job.JID) })
	default:
		s.tally.end(job.Tracker, t.To, t.Result)
		return s.deliver(ctx)
	}
	return nil
}

// again tries a job again that has failed.
func (s *shop) again(ctx context.Context, jid string) error {
	if err := s.transition(ctx, exchange.Transition{JID: jid, Worker: worker, From: jobqueue.Stuck, To: jobqueue.Waiting}); err != nil {
		return err
	}
	return s.attempt(ctx, jid)
}

func (s *shop) transition(ctx context.Context, t exchange.Transition) error {
	result, err := s.db.Jobs().Sync(ctx, exchange.Request{Worker: worker, Hooks: s.hooks, Transitions: []exchange.Transition{t}})
	if err == nil && len(result.Done) != 1 {
		err = fmt.Errorf("the job %s did not go from %s to %s", t.JID, t.From, t.To)
	}
	return err
}
