package queues_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store/queues"
)

// TestEndTrigger: the trigger deletes the row of periodic_open when a job ends, and
// only then, and leaves nothing behind when it is dropped.
func TestEndTrigger(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		sink := "river-" + strings.Repeat("x", 58) // the longest
		q := f.queue(queues.River{})
		trigger, err := q.EndTrigger(t.Context(), sink)
		if err != nil {
			t.Fatal(err)
		}
		open := f.accept(q, f.tasks(5)...)
		for _, o := range open {
			f.Exec("INSERT INTO periodic_open (task_id, sink, ref, jid, due, submitted) VALUES (?, ?, ?, ?, '2026-03-04 05:06:07.000000', '2026-03-04 05:06:07.000000')",
				o.TaskID, sink, o.Ref, o.JID)
		}
		f.Exec("UPDATE periodic_open SET sink = 'other' WHERE task_id = 't4'")
		f.Exec(trigger.Create)
		f.Exec(trigger.Create) // again, as after a change of the queue
		set := func(i int, what string) {
			f.Exec("UPDATE river_job SET "+what+" WHERE id = CAST(? AS integer)", open[i].Ref)
		}
		set(0, "state = 'running'")
		set(1, "state = 'completed', finalized_at = CURRENT_TIMESTAMP")
		set(4, "state = 'completed', finalized_at = CURRENT_TIMESTAMP")
		f.Exec("DELETE FROM river_job WHERE id = CAST(? AS integer)", open[2].Ref)
		f.Want("t0 t3 t4", "SELECT "+f.join("task_id")+" FROM (SELECT task_id FROM periodic_open ORDER BY task_id) AS o")
		f.Exec(trigger.Drop)
		set(3, "state = 'cancelled', finalized_at = CURRENT_TIMESTAMP")
		f.Want(3, "SELECT count(*) FROM periodic_open")
		f.Exec("DELETE FROM river_job")
	})
}

func TestEndTriggerNeedsAName(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		if _, err := f.queue(queues.River{}).EndTrigger(t.Context(), `x'; DROP TABLE job; --`); err == nil || errors.Is(err, queues.ErrNoTrigger) {
			t.Errorf("the error is %v, want one about the name", err)
		}
	})
}

// TestEndTriggerIsTheUsers: migrations leave what the printed SQL has made alone, and
// are not taken back while it is there, since no job of the queue could end then.
func TestEndTriggerIsTheUsers(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		q := f.queue(queues.River{})
		migrator := migrations.Of(f.db)
		trigger, err := q.EndTrigger(t.Context(), "river")
		if err != nil {
			t.Fatal(err)
		}
		f.Exec(trigger.Create)
		open := f.accept(q, f.tasks(2)...)
		for _, o := range open {
			f.Exec("INSERT INTO periodic_open (task_id, sink, ref, jid, due, submitted) VALUES (?, 'river', ?, ?, '2026-03-04 05:06:07.000000', '2026-03-04 05:06:07.000000')",
				o.TaskID, o.Ref, o.JID)
		}
		if err := migrator.Check(t.Context()); err != nil {
			t.Errorf("Check: %v", err)
		}
		f.Exec("DROP INDEX nextrun_task_due") // something to repair
		if done, err := migrator.Up(t.Context()); err != nil || len(done) != 1 {
			t.Errorf("Up restored %v: %v; want the index nextrun_task_due alone", done, err)
		}
		_, err = migrator.Down(t.Context())
		if err == nil || !strings.Contains(err.Error(), "nextrun queue trigger NAME --drop") {
			t.Fatalf("Down: %v; want an error with the remedy", err)
		}
		f.Exec("DELETE FROM river_job WHERE id = CAST(? AS integer)", open[0].Ref)
		f.Want("t1", "SELECT task_id FROM periodic_open")

		_, statements, found := strings.Cut(err.Error(), "or this: ")
		if !found {
			t.Fatalf("Down: %v; want the statements", err)
		}
		f.Exec(statements)
		if _, err := migrator.Down(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.Exec("DELETE FROM river_job")
	})
}

// TestEndTriggerInAnotherSchema: migrations see a trigger in whatever schema it is. On
// PostgreSQL jobs end even if somebody has dropped nextrun's tables by hand.
func TestEndTriggerInAnotherSchema(t *testing.T) {
	f := pgmqFixture(t)
	trigger, err := f.queue(queues.PGMQ{Queue: "mail"}).EndTrigger(t.Context(), "mail")
	if err != nil {
		t.Fatal(err)
	}
	f.Exec(trigger.Create)
	migrator := migrations.Of(f.db)
	if done, err := migrator.Up(t.Context()); err != nil || len(done) > 0 {
		t.Errorf("Up restored %v: %v; want nothing", done, err)
	}
	if _, err := migrator.Down(t.Context()); err == nil || !strings.Contains(err.Error(), "ON pgmq.q_mail;") {
		t.Errorf("Down: %v; want it to name the table of the trigger", err)
	}
	f.Exec("DROP TABLE periodic_open; SELECT pgmq.send_batch('mail', ARRAY['{}'::jsonb], ARRAY['{}'::jsonb])")
	f.Exec("DELETE FROM pgmq.q_mail")
	f.Want(0, "SELECT count(*) FROM pgmq.q_mail")
}

// open adds the rows that a scheduler adds for jobs.
func (f *fixture) open(sink string, open ...sink.Open) {
	f.Helper()
	for _, o := range open {
		f.Exec("INSERT INTO periodic_open (task_id, sink, ref, jid, due, submitted) VALUES (?, ?, ?, ?, '2026-03-04 05:06:07.000000', '2026-03-04 05:06:07.000000')",
			o.TaskID, sink, o.Ref, o.JID)
		f.Exec("INSERT INTO periodic_awaited (task_id, sink, ref, jid, due, submitted, look) VALUES (?, ?, ?, ?, '2026-03-04 05:06:07.000000', '2026-03-04 05:06:07.000000', '2099-01-01 00:00:00.000000')",
			o.TaskID, sink, o.Ref, o.JID)
	}
}

const (
	stillOpen = "(SELECT task_id FROM periodic_open ORDER BY task_id) AS o"
	askedSoon = "(SELECT task_id FROM periodic_awaited WHERE look < '2099-01-01 00:00:00.000000' ORDER BY task_id) AS o"
)

// TestEndTriggerHasTheQueueAsked: when a job ends, schedulers ask at once how.
func TestEndTriggerHasTheQueueAsked(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		q := f.queue(queues.River{})
		trigger, err := q.EndTrigger(t.Context(), "river")
		if err != nil {
			t.Fatal(err)
		}
		f.Exec(trigger.Create)
		open := f.accept(q, f.tasks(3)...)
		f.open("river", open...)
		f.Exec("UPDATE river_job SET state = 'running' WHERE id = CAST(? AS integer)", open[0].Ref)
		f.Exec("UPDATE river_job SET state = 'discarded', finalized_at = CURRENT_TIMESTAMP WHERE id = CAST(? AS integer)", open[1].Ref)
		f.Want("t1", "SELECT "+f.join("task_id")+" FROM "+askedSoon)
		f.Want(3, "SELECT count(*) FROM periodic_awaited WHERE seen IS NULL")
	})
}

// TestEndTriggerOfGraphileSeesHowJobsEnd: a worker that has succeeded deletes the job that it has
// locked. Others remove jobs that nobody has locked.
func TestEndTriggerOfGraphileSeesHowJobsEnd(t *testing.T) {
	f := graphileFixture(t)
	q := f.queue(queues.GraphileWorker{})
	trigger, err := q.EndTrigger(t.Context(), "graphile")
	if err != nil {
		t.Fatal(err)
	}
	f.Exec(trigger.Create)
	open := f.accept(q, f.tasks(2)...)
	f.open("graphile", open...)
	f.Exec("UPDATE graphile_worker._private_jobs SET locked_at = now(), locked_by = 'w' WHERE id = CAST(? AS bigint)", open[0].Ref)
	f.Exec("DELETE FROM graphile_worker._private_jobs")
	f.Want("success cancelled", "SELECT string_agg(seen, ' ' ORDER BY task_id) FROM periodic_awaited WHERE ended IS NOT NULL")
}

// TestEndTriggerOfPgBossWaitsForRetries: pg-boss deletes a job that failed, and adds it again for its
// next attempt, with one statement. It has not ended then.
func TestEndTriggerOfPgBossWaitsForRetries(t *testing.T) {
	f := pgBossFixture(t)
	q := f.queue(queues.PgBoss{})
	trigger, err := q.EndTrigger(t.Context(), "boss")
	if err != nil {
		t.Fatal(err)
	}
	f.Exec(trigger.Create)
	open := f.accept(q, f.tasks(2)...)
	f.open("boss", open...)
	f.Exec("UPDATE pgboss.job SET state = 'active'")
	for i, state := range []string{"retry", "failed"} {
		f.Exec(`WITH gone AS (DELETE FROM pgboss.job WHERE id = CAST(? AS uuid) RETURNING *)
			INSERT INTO pgboss.job (id, name, state) SELECT id, name, '`+state+`' FROM gone`, open[i].JID)
	}
	f.Want("t0", "SELECT "+f.join("task_id")+" FROM "+stillOpen)
	f.Want("t1", "SELECT "+f.join("task_id")+" FROM "+askedSoon)
}
