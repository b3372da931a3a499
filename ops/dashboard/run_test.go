package dashboard_test

import (
	"context"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard"
)

// The page of a run tells what became of it in order of time, with links to the runs beside it. It shows no secret that a job wrote.
func TestPageOfARun(t *testing.T) {
	both(t, dashboard.Options{Prefix: "/p"}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('report', 'work', 'hourly', '2026-03-28 23:00:00')`)
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, reason, decided) VALUES ('report', '2026-03-28 22:00:00.000000', 'skipped', 'its last job still runs', '2026-03-28 22:00:00')`)
		s.history(1, func(_ context.Context, job *jobqueue.JobContext) error {
			job.Logf(jobqueue.Info, `{"password": "geheim"}`)
			return nil
		})
		s.shows("/run?id=report&at=2026-03-28T22:20&zone=UTC", "No tick was due at 2026-03-28 22:20:00 UTC. The nearest one, of 2026-03-28 22:00:00 UTC (20 min earlier), was skipped: its last job still runs.",
			`class="note off"`, "decided", `rel="next"`, `value="2026-03-28 22:20:00"`)
		s.shows("/run?id=report&at=2026-03-28T23:00:00Z&zone=Europe/Berlin", "succeeded", "attempt 1", `rel="prev"`, "attempt 1 begins on", "Handler work", "!geheim")
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, cause, decided) VALUES ('report', '2026-03-29 00:00:00.000000', 'skipped', 'overlap', '2026-03-29 00:00:00')`)
		s.shows("/run?id=report&zone=Europe/Berlin", "was skipped: a job of the task had not ended, that of the tick of 2026-03-29 00:00:00 CET (job ", "!No tick was due")
		s.shows("/run?id=report&at=2026-03-28T23:00:00%2B01:00&zone=Europe/Berlin", "The tick of 2026-03-28 23:00:00 CET was skipped", `!rel="prev"`) // before the clock changed
	})
}

// A job has the page of its run. One of no task, too, has a page, which says what it waits for and what can be done.
func TestPageOfAJob(t *testing.T) {
	one(t, dashboard.Options{Authorize: may}, func(s *site) {
		s.task("report")
		now := time.Now().UTC().Truncate(time.Hour)
		for i := range 4 {
			s.ran("report", now.Add(-time.Duration(i+1)*time.Hour), []time.Duration{4 * time.Minute, time.Minute, time.Minute, time.Minute}[i], "success")
		}
		s.shows("/run?job=report"+now.Add(-time.Hour).Format(time.RFC3339), "It took 4 min, 4.0 × the usual.", "the task", "Run again", `!value="cancel"`)
		s.Exec(`INSERT INTO job (jid, task, submitted) VALUES ('alone', 'work', ?)`, sqldb.Timestamp(now))
		s.shows("/run?job=alone", "A job of no run", "waiting", `value="cancel"`, `!value="retry"`)
		s.post("/run", map[string][]string{"id": {"alone"}, "action": {"cancel"}}, "/run?done=The+job+is+cancelled.&job=alone")
		s.shows("/run?job=alone", "cancelled", `value="retry"`, `!value="cancel"`)
		s.post("/run", map[string][]string{"id": {"alone"}, "action": {"retry"}}, "/run?done=The+job+waits+again.&job=alone")
		s.Want("waiting", `SELECT state FROM job WHERE jid = 'alone'`)
	})
}
