package check

import (
	"context"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/internal/why"
)

// checkQueued looks for jobs that wait although executors run, since none has their handler: one of each handler.
func (r *report) checkQueued(ctx context.Context) error {
	jobs, err := jobqueue.NewQueue(r.db.Jobs()).List(ctx, jobqueue.Filter{States: []jobqueue.State{jobqueue.Waiting}})
	seen := map[string]bool{}
	for i := range jobs {
		j := &jobs[i]
		if seen[j.Task] {
			continue
		}
		seen[j.Task] = true
		findings, err := why.ExplainJob(ctx, r.db, j, r.env.Zone)
		if err != nil {
			return err
		}
		for _, f := range findings {
			if f.Code == "job_no_handler" {
				r.explain("job "+j.JID, f)
			}
		}
	}
	return err
}

// checkEvents looks for events that wait for a relay, and for hooks that were not delivered.
func (r *report) checkEvents(ctx context.Context) error {
	lags, err := r.db.Outbox().Lag(ctx)
	if err != nil {
		r.warn("events", "%v", err)
	}
	for _, l := range lags {
		switch {
		case l.Problem != "":
			r.warn("topic "+l.Topic, "events that wait: %d; the oldest, of %s ago, was refused: %s; see: nextrun event list --topic %s", l.Pending, text.Text(l.Age), l.Problem, text.Word(l.Topic))
		case l.Unattended():
			r.warn("topic "+l.Topic, "events that wait: %d, the oldest for %s; no relay has the topic now. To publish them: nextrun relay --config FILE", l.Pending, text.Text(l.Age))
		}
	}
	jobs, err := jobqueue.NewQueue(r.db.Jobs()).List(ctx, jobqueue.Filter{Group: jobqueue.HookGroup, States: []jobqueue.State{jobqueue.Stuck, jobqueue.Failed}})
	switch {
	case err != nil:
		r.warn("hooks", "%v", err)
	case len(jobs) > 0:
		r.warn("hooks", "hooks that were not delivered: %d; the newest: %s: %s; see: nextrun job list --group %s --state failed,retrying",
			len(jobs), jobs[0].Subject, jobs[0].Result, jobqueue.HookGroup)
	}
	return nil
}
