package queues_test

import (
	"slices"
	"testing"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store/queues"
)

// The limits of a task reach its job, as far as the queue has them for each job; other jobs
// get what the configuration or the queue says.
func TestLimitsOfATaskReachItsJob(t *testing.T) {
	t.Parallel()
	boss := func(t *testing.T) *fixture {
		f := pgBossFixture(t)
		f.Exec("UPDATE pgboss.queue SET retry_limit = 3, retry_delay = 4, expire_seconds = 5")
		return f
	}
	own := func(kind string) func(*testing.T) *fixture {
		return func(t *testing.T) *fixture {
			t.Parallel()
			f := newFixture(t, migrated.New(t, kind).Database)
			f.Exec("CREATE TABLE legacy (jid varchar(36), task_id text, tries integer, secs integer)")
			return f
		}
	}
	const pending = "SELECT o.jid FROM nextrun_open AS o CROSS JOIN legacy AS l WHERE l.jid = o.jid"
	statements := queues.SQL{
		Enqueue: "INSERT INTO legacy SELECT jid, task_id, coalesce(retry_limit, 9), timeout FROM nextrun_batch", Pending: pending,
	}
	all := queues.SQL{Enqueue: "INSERT INTO legacy SELECT jid, task_id, priority, 0 FROM (SELECT * FROM nextrun_batch) AS b", Pending: pending}
	const ofRiver, ofOwn = "SELECT max_attempts FROM river_job ORDER BY id", "SELECT tries || ' ' || coalesce(secs, -1) FROM legacy ORDER BY task_id"
	for name, test := range map[string]struct {
		fixture func(*testing.T) *fixture
		kind    queues.Kind
		heeds   []string
		query   string
		want    []string // of tasks without limits, with a retry_limit of 0, and with large ones
	}{
		"river on postgres": {riverOn(storetest.Postgres), queues.River{MaxAttempts: 7}, []string{"retry_limit", "priority"}, ofRiver, []string{"7", "1", "32767"}},
		"river on sqlite":   {riverOn(storetest.SQLite), queues.River{Priority: 2}, []string{"retry_limit"}, ofRiver, []string{"25", "1", "32767"}},
		"graphile worker": {graphileFixture, queues.GraphileWorker{MaxAttempts: 7}, []string{"retry_limit", "priority"},
			"SELECT max_attempts FROM graphile_worker._private_jobs ORDER BY key", []string{"7", "1", "32767"}},
		"pg-boss": {boss, queues.PgBoss{Queue: "report"}, []string{"retry_limit", "retry_delay", "timeout", "priority"},
			"SELECT retry_limit || ' ' || retry_delay || ' ' || expire_seconds FROM pgboss.job ORDER BY singleton_key", []string{"3 4 5", "0 4 5", "1000000 90 60"}},
		"sql on postgres": {own(storetest.Postgres), statements, []string{"retry_limit", "timeout"}, ofOwn, []string{"9 -1", "0 -1", "1000000 60"}},
		"sql on sqlite":   {own(storetest.SQLite), statements, []string{"retry_limit", "timeout"}, ofOwn, []string{"9 -1", "0 -1", "1000000 60"}},
		"sql by *":        {own(storetest.Postgres), all, []string{"priority"}, ofOwn, []string{"0 0", "0 0", "0 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := test.fixture(t)
			q := f.queue(test.kind)
			a, b, c := f.task("a", "{}"), f.task("b", "{}"), f.task("c", "{}")
			f.Exec("UPDATE periodic_task SET retry_limit = 0 WHERE id = 'b'")
			f.Exec("UPDATE periodic_task SET retry_limit = 1000000, retry_delay = 90, timeout = 60 WHERE id = 'c'")
			for _, j := range []jobqueue.Job{a, b, c} {
				f.accept(q, j)
			}
			var got []string
			if err := f.db.Update(t.Context(), func(tx *sqldb.Tx) error { return tx.Select(t.Context(), &got, test.query) }); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("the jobs have %q, want %q", got, test.want)
			}
			if heeds, _ := queues.Heeds(q); !slices.Equal(heeds, test.heeds) {
				t.Errorf("the queue heeds %q, want %q", heeds, test.heeds)
			}
		})
	}
}
