package queues_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store/queues"
)

// river runs a test with River's tables on both databases, at the newest level.
func river(t *testing.T, run func(t *testing.T, f *fixture)) {
	t.Helper()
	for _, database := range []string{storetest.Postgres, storetest.SQLite} {
		t.Run(database, func(t *testing.T) { run(t, riverOn(database)(t)) })
	}
}

func TestRiverShowsWhereAJobComesFrom(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		job := f.task("nightly", `{"to": ["a", {"b": null}], "money": 1e3}`)
		job.Priority, job.Traceparent = 10, traceparent
		ref := f.accept(f.queue(queues.River{MaxAttempts: 3}), job)[0].Ref
		at := map[string]string{
			storetest.Postgres: "to_char(scheduled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')", storetest.SQLite: "scheduled_at || ''",
		}[f.Kind]
		for column, want := range map[string]any{
			"kind": "report", "queue": "mail", "max_attempts": 3, "priority": 1, at: "2026-03-04 05:06:07.089",
			"metadata->>'traceparent'": traceparent, "metadata->'nextrun'->>'task'": "nightly", "metadata->'nextrun'->>'jid'": job.JID,
			"metadata->'nextrun'->>'due'": "2026-03-04T05:06:07.089Z", "args->'to'->1->>'b'": "", "args->'to'->>0": "a",
		} {
			f.Want(want, "SELECT "+column+" FROM river_job WHERE id = CAST(? AS integer)", ref)
		}
		text := map[string]string{storetest.Postgres: "metadata::text", storetest.SQLite: "json(metadata)"}[f.Kind]
		if tick, ok := queues.RiverTick([]byte(f.One("SELECT " + text + " FROM river_job"))); !ok || tick.TaskID != "nightly" || !tick.Due.Equal(job.Due) {
			t.Errorf("the job is for the tick %v (%t)", tick, ok)
		}
	})
	if _, ok := queues.RiverTick([]byte(`{"nextrun": 1}`)); ok {
		t.Error("a job that is not of a task has a tick")
	}
}

// traceparent is that of whoever submits a job.
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestRiverPrioritiesAndQueues(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		for priority, want := range map[int]int{0: 4, 2: 4, 3: 3, 5: 3, 6: 2, 8: 2, 9: 1, 10: 1} {
			job := f.task(fmt.Sprint("p", priority), "{}")
			job.Priority = priority
			f.accept(f.queue(queues.River{}), job)
			f.Want(want, "SELECT priority FROM river_job WHERE metadata->'nextrun'->>'task' = ?", job.Tracker)
		}
		f.accept(f.queue(queues.River{Queue: "bulk", Priority: 2}), f.task("fixed", "{}"))
		f.Want("bulk 2", "SELECT queue || ' ' || priority FROM river_job WHERE metadata->'nextrun'->>'task' = 'fixed'")
	})
}

func TestRiverRefusesASecondSingleJob(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		q := f.queue(queues.River{})
		first := f.task("one", "{}")
		open := f.accept(q, first)[0]
		second := first
		second.JID = jobqueue.NewID()
		done, err := f.submit(q, second)
		if err != nil || len(done) != 1 || !done[0].Passing || !strings.Contains(done[0].Refused, "unfinished job") {
			t.Errorf("the second job: %+v, %v, want it refused for now", done, err)
		}
		second.Single = false
		f.accept(q, second)
		f.Exec("UPDATE river_job SET state = 'completed', finalized_at = CURRENT_TIMESTAMP WHERE id = CAST(? AS integer)", open.Ref)
		second.JID, second.Single = jobqueue.NewID(), true
		f.accept(q, second)
	})
}

// TestRiverBatchThatFailsAlike blames no job: what all fail with is not their fault.
func TestRiverBatchThatFailsAlike(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		q := f.queue(queues.River{})
		f.accept(q, f.task("before", "{}"))
		f.Exec(map[string]string{
			storetest.Postgres: `ALTER TABLE river_job ADD CHECK (kind <> 'report') NOT VALID`,
			storetest.SQLite:   `CREATE TRIGGER no BEFORE INSERT ON river_job BEGIN SELECT RAISE(ABORT, 'no CHECK (kind'); END`,
		}[f.Kind])
		done, err := f.submit(q, f.tasks(40)...)
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), "check") {
			t.Errorf("submitted %d, %v; want an error about the check", len(done), err)
		}
	})
}

func TestRiverInSchemaWithRole(t *testing.T) {
	t.Parallel()
	f := newFixture(t, migrated.New(t, storetest.Postgres).Database)
	f.Exec(`CREATE SCHEMA "Side-Jobs"`)
	f.Exec(`SET search_path = "Side-Jobs"; ` + f.script("river_postgres_6.sql") + f.script("river_postgres_7.sql") + `; RESET search_path`)
	q := f.queue(queues.River{Schema: "Side-Jobs"})
	if r := f.report(q); len(r.Problems) > 0 {
		t.Errorf("report %+v", r)
	}
	heard := f.hear("Side-Jobs.river_insert")
	job := f.task("one", "{}")
	role := f.role()
	of := role.queue(queues.River{Schema: "Side-Jobs"})
	role.unusable(of, "permission denied for schema Side-Jobs")
	f.Exec(`GRANT USAGE ON SCHEMA "Side-Jobs" TO ` + role.name + `; GRANT SELECT, INSERT, UPDATE ON "Side-Jobs".river_job TO ` + role.name +
		`; GRANT USAGE ON SEQUENCE "Side-Jobs".river_job_id_seq TO ` + role.name)
	role.accept(of, job)
	if got := heard(1); got[0] != `{"queue" : "mail"}` {
		t.Errorf("heard %q", got)
	}
}
