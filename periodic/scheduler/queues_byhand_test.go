package scheduler_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Run now and backfill submit to the queue of the task, and say so if the program
// does not know it.
func TestQueueByHand(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		f.addAcme("a", "skip")
		f.exec("UPDATE periodic_task SET enabled = false, timer = '*-*-01'")
		tasks := periodic.NewTasks(f.db.Tasks())
		var unknown *periodic.SinkError
		if err := tasks.RunNow(f.Context(), "a"); !errors.As(err, &unknown) || unknown.Sink != "acme" {
			f.Errorf("without the queue: %v", err)
		}
		f.want(0, "SELECT count(*) FROM periodic_tick")
		tasks = tasks.With(periodic.Submitters{"acme": q})
		f.done(tasks.RunNow(f.Context(), "a"))
		f.want(1, acmeJobs, "a")
		f.want(0, "SELECT count(*) FROM job")
		var pending *periodic.PendingError
		if err := tasks.RunNow(f.Context(), "a"); !errors.As(err, &pending) {
			f.Errorf("while its job is not final: %v", err)
		}
		from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		err := tasks.Backfill(f.Context(), "a", periodic.Backfill{From: from, To: from.AddDate(0, 2, 0),
			Waits:  func(time.Time, sink.Pending) { f.exec("UPDATE acme_job SET state = 'done'") },
			Report: func(time.Time, string) { f.exec("UPDATE acme_job SET state = 'done'") }})
		f.done(err)
		f.want(3, acmeJobs, "a")
		f.guarantees()
	})
}
