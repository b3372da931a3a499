package queues_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/queues"
)

// TestSchedulerKeepsAJobThatItMayNotSee: a task whose job is in a queue of PGMQ that was
// closed to the scheduler gets no second job. Tasks of other queues go on.
func TestSchedulerKeepsAJobThatItMayNotSee(t *testing.T) {
	f := pgmqFixture(t)
	f.Exec("INSERT INTO periodic_task (id, task, timer, sink) SELECT g, 'report', 'yearly', g FROM unnest(ARRAY['mail', 'bulk']) AS g")
	role := f.role()
	f.Exec("GRANT USAGE ON SCHEMA pgmq TO " + role.name + "; GRANT ALL ON ALL TABLES IN SCHEMA pgmq TO " + role.name +
		"; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO " + role.name)
	round := func() { // every task is due
		t.Helper()
		db, err := store.Open(t.Context(), role.url, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		submitters := periodic.Submitters{}
		for _, name := range []string{"mail", "bulk"} {
			if submitters[periodic.Sink(name)], err = queues.Open(db, queues.PGMQ{Queue: name}); err != nil {
				t.Fatal(err)
			}
		}
		scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "test", Submitters: submitters})
		if err != nil {
			t.Fatal(err)
		}
		f.Exec("UPDATE periodic_task SET nextrun = ? WHERE timer = 'yearly'", sqldb.Timestamp(time.Now()))
		err = scheduler.RunOnce(t.Context())
		for tries := 0; errors.Is(err, queues.ErrUnusable) && tries < 20; tries++ { // the search for the task has a limit
			err = scheduler.RunOnce(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	round()
	f.Want("1 1", "SELECT (SELECT count(*) FROM pgmq.q_mail) || ' ' || (SELECT count(*) FROM pgmq.q_bulk)")
	f.Exec("SELECT pgmq.archive('bulk', ARRAY[1::bigint])")
	f.Exec("REVOKE SELECT ON pgmq.q_mail FROM " + role.name)
	round()
	f.Want("mail/1", "SELECT ref FROM periodic_open WHERE task_id = 'mail'")
	f.Want("1 1", "SELECT (SELECT count(*) FROM pgmq.q_mail) || ' ' || (SELECT count(*) FROM pgmq.q_bulk)")
}

// TestSchedulerFeedsRiver: each overlap policy keeps its promise with jobs in
// River's tables, and a tick that waits goes as soon as the job is not open any more.
func TestSchedulerFeedsRiver(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		db, err := store.Open(t.Context(), f.URL, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		q, err := queues.Open(db, queues.River{})
		if err != nil {
			t.Fatal(err)
		}
		scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "test", Submitters: periodic.Submitters{"river": q}})
		if err != nil {
			t.Fatal(err)
		}
		for _, policy := range []string{"skip", "queue", "replace", "allow"} {
			f.Exec("INSERT INTO periodic_task (id, task, timer, sink, overlap) VALUES (?, 'report', 'yearly', 'river', ?)", policy, policy)
		}
		f.Exec("INSERT INTO periodic_task (id, task, timer, sink, args) VALUES ('bad', 'report', 'yearly', 'river', 'not JSON')")
		round := func() { // every task is due
			f.Exec("UPDATE periodic_task SET nextrun = ? WHERE timer = 'yearly'", sqldb.Timestamp(time.Now()))
			if err := scheduler.RunOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		round()
		round()
		jobs := func(task string) string {
			return f.One(`SELECT `+f.join("state")+` FROM (SELECT CAST(state AS text) AS state FROM river_job
				WHERE metadata->'nextrun'->>'task' = ? ORDER BY id) AS j`, task)
		}
		ticks := func(task string) string {
			return f.One(`SELECT `+f.join("decision")+` FROM (SELECT decision FROM periodic_tick WHERE task_id = ? ORDER BY due) AS t`, task)
		}
		for _, c := range []struct{ task, jobs, ticks string }{
			{"skip", "available", "submitted skipped"},
			{"queue", "available", "submitted"},
			{"replace", "cancelled available", "submitted submitted"},
			{"allow", "available available", "submitted submitted"},
			{"bad", "", "skipped skipped"},
		} {
			if got := jobs(c.task); got != c.jobs {
				t.Errorf("%s: jobs %s, want %s", c.task, got, c.jobs)
			}
			if got := ticks(c.task); got != c.ticks {
				t.Errorf("%s: ticks %s, want %s", c.task, got, c.ticks)
			}
		}
		if f.Kind == storetest.Postgres {
			f.Want(1, "SELECT count(*) FROM periodic_task WHERE id = 'bad' AND problem LIKE '%invalid input syntax for type json%'")
		} else {
			f.Want(1, "SELECT count(*) FROM periodic_task WHERE id = 'bad' AND problem LIKE '%malformed JSON%'")
		}
		f.Exec("UPDATE river_job SET state = 'completed', finalized_at = CURRENT_TIMESTAMP WHERE metadata->'nextrun'->>'task' = 'queue'")
		f.Exec("DELETE FROM periodic_open WHERE task_id = 'queue'")
		if err := scheduler.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := jobs("queue"); got != "completed available" {
			t.Errorf("queue: jobs %s after the first has ended", got)
		}
	})
}
