package nextruntest

import (
	"context"
	"log/slog"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

// Run is an attempt at a job.
type Run struct {
	Job   jobqueue.Job // as the attempt left it: State, Result, Progress, Retries; Retry if it is tried again
	Err   error        // of the handler, nil if it returned none
	Lines []jobqueue.LogLine
}

// workPatience is how long [Schedule.Work] waits for a handler. It is real time.
const workPatience = 5 * time.Minute

// Work runs the jobs of a task that are ready now, with a real executor, and returns the
// attempts in the order in which they ended. task is the column task: the name of the
// handler. A job that fails is stuck until its Retry; move the clock there and call Work
// again for the next attempt.
//
// The scheduler sees that jobs have ended at the next move of the clock.
func (s *Schedule) Work(task string, h jobqueue.Handler, limits ...jobqueue.Limits) []Run {
	s.t.Helper()
	ended := make(chan executor.Event, 1000)
	worker, err := executor.New(s.run.db.Jobs(), executor.Config{
		Name: "nextruntest", PoolSize: 1, PollInterval: 50 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
		Observe: func(e executor.Event) {
			switch e.Kind {
			case executor.EventEnded, executor.EventLost, executor.EventTrouble, executor.EventRefused:
				ended <- e
			}
		},
	})
	s.must("make an executor", err)
	worker.Register(task, h, limits...)
	ctx, cancel := context.WithTimeout(s.t.Context(), workPatience)
	defer cancel()
	s.must("start the executor", worker.Start(ctx))
	stop := func() { s.must("stop the executor", worker.Stop(context.WithoutCancel(ctx))) }
	defer stop()
	var runs []Run
	for s.ready(ctx, task) > 0 {
		select {
		case e := <-ended:
			if e.Kind != executor.EventEnded {
				s.t.Fatalf("nextruntest: %s of a job of %q: %v", e.Kind, task, e.Err)
			}
			runs = append(runs, s.attempt(ctx, e))
		case <-ctx.Done():
			s.t.Fatalf("nextruntest: the handler of %q did not end within %s", task, workPatience)
		}
	}
	stop() // it may have told the database of an end, and not yet this function
	for len(ended) > 0 {
		runs = append(runs, s.attempt(ctx, <-ended))
	}
	return runs
}

// ready is how many jobs of a task can run now, or do.
func (s *Schedule) ready(ctx context.Context, task string) (n int) {
	s.t.Helper()
	query := `SELECT count(*) FROM job WHERE task = ?1 AND (state IN ('scheduled', 'running')
		OR state IN ('waiting', 'stuck') AND (retry IS NULL OR retry <= ?2))`
	s.must("look for jobs", s.run.pool.QueryRowContext(ctx, query, task, sqldb.Timestamp(s.Now())).Scan(&n))
	return n
}

// attempt is what an attempt left.
func (s *Schedule) attempt(ctx context.Context, e executor.Event) Run {
	s.t.Helper()
	queue := jobqueue.NewQueue(s.run.db.Jobs())
	job, err := queue.Get(ctx, e.Job.JID)
	s.must("read the job", err)
	lines, err := queue.Logs(ctx, jobqueue.LogFilter{JID: e.Job.JID, Limit: maxTicks})
	s.must("read the log", err)
	return Run{Job: job, Err: e.Err, Lines: lines}
}
