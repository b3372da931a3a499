package queues_test

import (
	"os"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store/queues"
)

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
	refusedByPolicy(t, done, jobs[1].JID, "exclusive")

	q = f.queue(queues.PgBoss{Queue: "short", PerTask: true})
	again := jobOf("t1")
	f.accept(q, jobs...)
	if done, err = f.submit(q, again); err != nil {
		t.Fatal(err)
	}
	refusedByPolicy(t, done, again.JID, "short")

	f.accept(f.queue(queues.PgBoss{Queue: "fifo"}), jobs[0])
	f.Want("t0", "SELECT singleton_key FROM pgboss.job WHERE name = 'fifo'")
}

// refusedByPolicy checks that a queue has refused a job for now, and only that.
func refusedByPolicy(t *testing.T, done []sink.Submission, jid, policy string) {
	t.Helper()
	if len(done) != 1 || !strings.Contains(done[0].Refused, `the queue "`+policy+`" of pg-boss has the policy `+policy) || done[0].JID != jid || !done[0].Passing {
		t.Errorf("%+v, want %s refused for now, by the policy %s", done, jid, policy)
	}
}

func TestGraphileSettings(t *testing.T) {
	f := graphileFixture(t)
	f.Exec("ALTER SCHEMA graphile_worker RENAME TO work; ALTER FUNCTION work.add_jobs SET search_path = work")
	q := f.queue(queues.GraphileWorker{Schema: "work", Queue: "one at a time", MaxAttempts: 3})
	f.accept(q, f.tasks(2)...)
	f.Want(2, "SELECT count(*) FROM work.jobs WHERE queue_name = 'one at a time' AND max_attempts = 3")
}

func TestGraphileTakesTheLongestID(t *testing.T) {
	f := graphileFixture(t)
	id := strings.Repeat("é", 254)
	f.accept(f.queue(queues.GraphileWorker{}), f.task(id, "{}"))
	f.Want(1, "SELECT count(*) FROM graphile_worker.jobs WHERE key LIKE ?", "nextrun:"+id+":%")
}

// pgmqFixture has the queues mail and Bulk. NEXTRUN_TEST_PGMQ may name PGMQ's own SQL
// file, pgmq-extension/sql/pgmq.sql, to be used in place of the one in testdata.
func pgmqFixture(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	f := newFixture(t, migrated.New(t, storetest.Postgres).Database)
	if path := os.Getenv("NEXTRUN_TEST_PGMQ"); path != "" {
		script, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f.Exec(string(script))
	} else {
		f.run("pgmq.sql")
	}
	f.Exec("SELECT pgmq.create('mail'); SELECT pgmq.create('Bulk')")
	return f
}
