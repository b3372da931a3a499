package executor_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

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
