package queues_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store/queues"
)

func graphileFixture(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	return newFixture(t, storetest.New(t, storetest.Postgres), "graphile.sql")
}

func TestGraphileTakesABatch(t *testing.T) {
	f := graphileFixture(t)
	q := f.queue(queues.GraphileWorker{})
	jobs := f.tasks(1000)
	jobs[0].Priority = 10
	open := f.accept(q, jobs...)
	f.Want(1000, `SELECT count(*) FROM graphile_worker.jobs WHERE task_identifier = 'report' AND queue_name IS NULL
		AND run_at = '2026-03-04 05:06:07.089Z' AND max_attempts = 25`)
	for _, i := range []int{0, 499, 999} {
		f.Want(i, "SELECT payload->>'n' FROM graphile_worker._private_jobs WHERE id = CAST(? AS bigint)", open[i].Ref)
	}
	f.Want("-10", "SELECT priority FROM graphile_worker.jobs WHERE id = CAST(? AS bigint)", open[0].Ref)
	f.Want("nextrun:t0:2026-03-04T05:06:07.089000Z:"+jobs[0].JID, "SELECT key FROM graphile_worker.jobs WHERE id = CAST(? AS bigint)", open[0].Ref)
	if got := len(f.pending(q, open...)); got != 1000 {
		t.Errorf("%d of 1000 jobs are pending", got)
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

func TestGraphilePending(t *testing.T) {
	f := graphileFixture(t)
	q := f.queue(queues.GraphileWorker{})
	open := f.accept(q, f.tasks(5)...)
	set := func(i int, what string) {
		f.Exec("UPDATE graphile_worker._private_jobs SET "+what+" WHERE id = CAST(? AS bigint)", open[i].Ref)
	}
	set(1, "locked_at = '2026-03-04 06:00:00+01', locked_by = 'w', attempts = max_attempts") // runs for the last time
	set(2, "attempts = 1")                                                                   // waits for a retry
	set(3, "attempts = max_attempts")                                                        // failed
	f.Exec("DELETE FROM graphile_worker._private_jobs WHERE id = CAST(? AS bigint)", open[4].Ref)
	wantStates(t, f.pending(q, open...), map[string]string{open[0].JID: "waiting", open[1].JID: "running", open[2].JID: "stuck"})
	wantRunsSince(t, f, q, open[1], "05:00", "mail/"+open[0].JID)
}

// A worker may hold a job for longer than the four hours after which Graphile
// Worker's functions take it for abandoned.
func TestGraphileCancelsJobsThatDoNotRun(t *testing.T) {
	f := graphileFixture(t)
	q := f.queue(queues.GraphileWorker{})
	open := f.accept(q, f.tasks(4)...)
	f.Exec("UPDATE graphile_worker._private_jobs SET locked_at = now() - interval '5 hours' WHERE id = CAST(? AS bigint)", open[1].Ref)
	f.Exec("UPDATE graphile_worker._private_jobs SET attempts = max_attempts WHERE id = CAST(? AS bigint)", open[2].Ref)
	f.Exec("UPDATE graphile_worker._private_jobs SET attempts = 1 WHERE id = CAST(? AS bigint)", open[3].Ref)
	wantSame(t, f.cancel(q, open...), open[0].JID, open[3].JID)
	f.Want(2, "SELECT count(*) FROM graphile_worker.jobs")
}

func TestGraphileLockedJobs(t *testing.T) {
	f := graphileFixture(t)
	q := f.queue(queues.GraphileWorker{})
	open := f.accept(q, f.tasks(2)...)
	wantLocksPassedOver(t, f, q, "graphile_worker._private_jobs", open,
		"SELECT 1 FROM graphile_worker._private_jobs WHERE id = "+open[0].Ref+" FOR UPDATE")
}

func TestGraphileRefusesRowsAlone(t *testing.T) {
	f := graphileFixture(t)
	q := f.queue(queues.GraphileWorker{})
	jobs := append(f.tasks(20), f.task("text", "not JSON"), f.task("name", "{}"), f.task("none", "{}"), f.task("zero", `{"zero": "\u0000"}`))
	jobs[21].Task = strings.Repeat("k", 129)
	jobs[22].Task = ""
	done := f.sortOut(q, jobs...)
	wantRefused(t, done, map[string]string{jobs[20].JID: "invalid input syntax for type json", jobs[21].JID: "128 characters", jobs[22].JID: "task is empty",
		jobs[23].JID: `\u0000 cannot be converted`})
	f.Want(20, "SELECT count(*) FROM graphile_worker.jobs")
}

func TestGraphileSaysWhyItCannotBeUsed(t *testing.T) {
	wantSaysWhy(t, graphileFixture, queues.GraphileWorker{}, map[string]broken{
		"missing":    {"DROP SCHEMA graphile_worker CASCADE", "does not exist; nextrun needs Graphile Worker 0.16"},
		"no table":   {"ALTER TABLE graphile_worker._private_jobs RENAME TO older", `_private_jobs" does not exist`},
		"other spec": {"ALTER TYPE graphile_worker.job_spec ADD ATTRIBUTE more text CASCADE", ""},
	})
}

// Rights on the tables are not enough, since Graphile Worker protects them by row
// level security.
func TestGraphileNeedsRightsAndPolicies(t *testing.T) {
	f := graphileFixture(t)
	f.task("t", "{}")
	role := f.role()
	q := role.queue(queues.GraphileWorker{})
	role.unusable(q, "permission denied for schema graphile_worker")
	f.Exec("GRANT USAGE ON SCHEMA graphile_worker TO " + role.name + "; GRANT ALL ON ALL TABLES IN SCHEMA graphile_worker TO " + role.name)
	if _, err := role.submit(q, jobOf("t")); !errors.Is(err, queues.ErrUnusable) || !strings.Contains(err.Error(), "row-level security policy") {
		t.Errorf("without a policy: %v", err)
	}
}

func TestGraphileChecksItsFields(t *testing.T) {
	f := graphileFixture(t)
	for want, k := range map[string]queues.GraphileWorker{
		"Schema":      {Schema: `a"b`},
		"Queue":       {Queue: strings.Repeat("q", 129)},
		"MaxAttempts": {MaxAttempts: 40000},
	} {
		if _, err := queues.OpenIn(f.db, k); err == nil || !strings.Contains(err.Error(), "queues.GraphileWorker."+want+" is ") {
			t.Errorf("%+v: %v, want an error that names %s", k, err, want)
		}
	}
	wantNotOnSQLite(t, queues.GraphileWorker{})
}
