package queues_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store/queues"
)

func pgBossFixture(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	f := newFixture(t, storetest.New(t, storetest.Postgres), "pgboss.sql")
	f.Exec(`INSERT INTO pgboss.queue (name, policy) VALUES ('report', 'standard'), ('short', 'short'), ('exclusive', 'exclusive'),
		('fifo', 'key_strict_fifo')`)
	return f
}

func TestPgBossTakesABatch(t *testing.T) {
	f := pgBossFixture(t)
	q := f.queue(queues.PgBoss{})
	jobs := f.tasks(1000)
	jobs[0].Priority = 10
	jobs[1].Group = "default"
	open := f.accept(q, jobs...)
	f.Want(1000, `SELECT count(*) FROM pgboss.job WHERE name = 'report' AND state = 'created' AND start_after = '2026-03-04 05:06:07.089Z'
		AND policy = 'standard'`)
	for i, want := range []string{"0 10 t0 mail", "1 0 t1 ", "2 0 t2 mail"} {
		f.Want(want, "SELECT concat_ws(' ', data->>'n', priority, singleton_key, coalesce(group_id, '')) FROM pgboss.job WHERE id = CAST(? AS uuid)", jobs[i].JID)
	}
	if got := len(f.pending(q, open...)); got != 1000 {
		t.Errorf("%d of 1000 jobs are pending", got)
	}
}

// A job gets from its queue what a program's boss.send would give it.
func TestPgBossCopiesTheQueue(t *testing.T) {
	f := pgBossFixture(t)
	f.Exec(`INSERT INTO pgboss.queue (name) VALUES ('dead');
		UPDATE pgboss.queue SET retry_limit = 7, retry_delay = 8, retry_backoff = true, retry_delay_max = 9, expire_seconds = 10,
			retention_seconds = 3600, deletion_seconds = 11, dead_letter = 'dead', heartbeat_seconds = 12 WHERE name = 'report'`)
	f.accept(f.queue(queues.PgBoss{}), f.tasks(1)...)
	f.Want("7 8 t 9 10 11 dead 12", `SELECT concat_ws(' ', retry_limit, retry_delay, retry_backoff, retry_delay_max, expire_seconds,
		deletion_seconds, dead_letter, heartbeat_seconds) FROM pgboss.job`)
	// The tick is older than the retention. The job has an hour from now.
	f.Want(true, "SELECT keep_until BETWEEN now() + interval '59 minutes' AND now() + interval '61 minutes' FROM pgboss.job")
}

func TestPgBossKeepsToThePolicyOfAQueue(t *testing.T) {
	f := pgBossFixture(t)
	q := f.queue(queues.PgBoss{Queue: "exclusive"})
	jobs := f.tasks(2)
	f.accept(q, jobs[0])
	done, err := f.submit(q, jobs[1])
	if err != nil {
		t.Fatal(err)
	}
	wantPassing(t, done, map[string]string{jobs[1].JID: `the queue "exclusive" of pg-boss has the policy exclusive`})

	q = f.queue(queues.PgBoss{Queue: "short", PerTask: true})
	again := jobOf("t1")
	f.accept(q, jobs...)
	if done, err = f.submit(q, again); err != nil {
		t.Fatal(err)
	}
	wantPassing(t, done, map[string]string{again.JID: `the queue "short" of pg-boss has the policy short`})

	f.accept(f.queue(queues.PgBoss{Queue: "fifo"}), jobs[0])
	f.Want("t0", "SELECT singleton_key FROM pgboss.job WHERE name = 'fifo'")
}

func TestPgBossPending(t *testing.T) {
	f := pgBossFixture(t)
	q := f.queue(queues.PgBoss{})
	open := f.accept(q, f.tasks(7)...)
	for i, state := range []string{"created", "retry", "active", "completed", "cancelled", "failed"} {
		f.Exec("UPDATE pgboss.job SET state = CAST(? AS pgboss.job_state), started_on = '2026-03-04 06:00:00+01' WHERE id = CAST(? AS uuid)",
			state, open[i].JID)
	}
	f.Exec("DELETE FROM pgboss.job WHERE id = CAST(? AS uuid)", open[6].JID)
	wantStates(t, f.pending(q, open...), map[string]string{open[0].JID: "waiting", open[1].JID: "stuck", open[2].JID: "running"})
	wantRunsSince(t, f, q, open[2], "05:00", "17")
}

func TestPgBossCancelsJobsThatDoNotRun(t *testing.T) {
	f := pgBossFixture(t)
	q := f.queue(queues.PgBoss{})
	open := f.accept(q, f.tasks(4)...)
	for i, state := range []string{"created", "retry", "active", "completed"} {
		f.Exec("UPDATE pgboss.job SET state = CAST(? AS pgboss.job_state) WHERE id = CAST(? AS uuid)", state, open[i].JID)
	}
	wantSame(t, f.cancel(q, open...), open[0].JID, open[1].JID)
	f.Want(2, "SELECT count(*) FROM pgboss.job WHERE state = 'cancelled' AND completed_on = '2026-03-04 06:06:07.089Z'")
}

func TestPgBossLockedJobs(t *testing.T) {
	f := pgBossFixture(t)
	q := f.queue(queues.PgBoss{})
	open := f.accept(q, f.tasks(2)...)
	wantLocksPassedOver(t, f, q, "pgboss.job", open, "SELECT 1 FROM pgboss.job WHERE id = '"+open[0].JID+"' FOR UPDATE")
}

func TestPgBossRefusesRowsAlone(t *testing.T) {
	f := pgBossFixture(t)
	q := f.queue(queues.PgBoss{})
	jobs := append(f.tasks(20), f.task("text", "not JSON"), f.task("zero", `{"zero": "\u0000"}`), f.task("queue", "{}"), f.task("none", "{}"),
		f.task("id", "{}"))
	jobs[22].Task = "it's new"
	jobs[23].Task = ""
	jobs[24].JID = "no-uuid"
	done := f.sortOut(q, jobs...)
	wantRefused(t, done, map[string]string{
		jobs[20].JID: "invalid input syntax for type json",
		jobs[21].JID: "u0000",
		jobs[22].JID: `pg-boss has no queue "it's new"; create it in your program: await boss.createQueue("it's new")`,
		jobs[23].JID: "task is empty",
		jobs[24].JID: "is not a UUID",
	})
	f.Want(20, "SELECT count(*) FROM pgboss.job")
}

// Only queues whose notify is set have listeners.
func TestPgBossWakesTheWorkersOfAQueueOnce(t *testing.T) {
	f := pgBossFixture(t)
	f.Exec("UPDATE pgboss.queue SET notify = true WHERE name IN ('report', 'short')")
	jobs := f.tasks(10)
	for i := range jobs {
		jobs[i].Task = []string{"report", "fifo"}[i%2]
	}
	// pg-boss listens on the first 24 digits of the hash of its schema's name.
	heard := f.hear("pgboss_" + sha224("pgboss")[:24])
	f.accept(f.queue(queues.PgBoss{}), jobs...)
	if got := strings.Join(heard(1), " "); got != "report" {
		t.Errorf("notified %q, want one notification for the queue report", got)
	}
}

func TestPgBossSaysWhyItCannotBeUsed(t *testing.T) {
	wantSaysWhy(t, pgBossFixture, queues.PgBoss{}, map[string]broken{
		"missing": {"DROP SCHEMA pgboss CASCADE", `relation "pgboss.job" does not exist; nextrun needs pg-boss 12.26`},
		"default": {"ALTER TABLE pgboss.job ADD COLUMN tenant text NOT NULL DEFAULT ''", ""},
		"no key":  {"ALTER TABLE pgboss.queue DROP COLUMN retention_seconds", "column q.retention_seconds does not exist"},
	})
}

func TestPgBossChecksItsFields(t *testing.T) {
	f := pgBossFixture(t)
	if _, err := queues.OpenIn(f.db, queues.PgBoss{Schema: "a b"}); err == nil || !strings.Contains(err.Error(), "queues.PgBoss.Schema is") {
		t.Errorf("%v, want an error that names schema", err)
	}
	wantNotOnSQLite(t, queues.PgBoss{})
}
