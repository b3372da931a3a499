package consumers_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// ending is how the jobs of a queue end, and what is in the tick of each task then: the outcome, the attempts and the error.
type ending struct {
	queue
	cancelledStays bool   // its row is still there
	cancel, remove string // statements about the job with a jid
	want           map[string]string
}

// proveEnds has jobs succeed, fail for good, succeed after two attempts, be cancelled and be deleted, and one end while no
// scheduler runs. Two schedulers watch, and are killed. What becomes of each job is in its tick.
func proveEnds(t *testing.T, e ending) {
	t.Helper()
	t.Parallel()
	f := newFixture(t, e.queue)
	f.startScheduler("one")
	f.startScheduler("two")
	add := func(id, args string) {
		f.Exec(`INSERT INTO periodic_task (id, task, args, timer, sink, retry_limit, nextrun) VALUES (?, 'proof', ?, 'yearly', ?, ?, '2026-01-02 03:04:05.000000')`,
			id, args, e.sink, map[bool]int{true: 0, false: 3}[id == "fails"])
	}
	ended := func(n string) func() bool {
		return func() bool { return f.One("SELECT count(*) FROM periodic_tick WHERE outcome IS NOT NULL") == n }
	}
	add("works", `{"ms": 10}`)
	add("fails", `{"fail": "no space left"}`)
	add("twice", `{"fail": "a blip", "until": 2}`)
	add("cancelled", `{}`)
	add("deleted", `{}`)
	storetest.Eventually(t, "five jobs", func() bool { return f.One("SELECT count(*) FROM periodic_open") == "5" })
	f.Exec(e.cancel, f.jobOf("cancelled"))
	f.Exec(e.remove, f.jobOf("deleted"))
	f.startWorker()
	storetest.Eventually(t, "the ends of five jobs", ended("5"))

	add("unseen", `{"ms": 1500}`)
	unseen := func(is func(w work) bool) func() bool {
		return func() bool {
			return slices.ContainsFunc(f.work.all(), func(w work) bool { return w.args.MS == 1500 && is(w) })
		}
	}
	storetest.Eventually(t, "a job that runs", unseen(func(work) bool { return true }))
	f.kill("one")
	f.kill("two")
	storetest.Eventually(t, "its end", unseen(func(w work) bool { return time.Now().After(w.done) }))
	f.startScheduler("three")
	storetest.Eventually(t, "the end that no scheduler saw", ended("6"))
	e.want["unseen"] = e.want["works"]
	for id, want := range e.want {
		f.Want(want, `SELECT outcome || ' ' || coalesce(attempts, 0) || ' ' || coalesce(error, '') FROM periodic_tick WHERE task_id = ?`, id)
	}
	f.Want(6, "SELECT count(*) FROM periodic_tick WHERE finished IS NOT NULL")
	f.putBack(e)
	f.stop("three")
}

// putBack puts jobs back that failed and that were cancelled. They end anew.
func (f *fixture) putBack(e ending) {
	f.Helper()
	if e.cancelledStays { // else its row is gone
		f.output(f.nextrun("job", "retry", f.jobOf("cancelled")))
		storetest.Eventually(f, "the job that was cancelled", func() bool {
			return f.One("SELECT outcome FROM periodic_tick WHERE task_id = 'cancelled'") == "success"
		})
	}
	f.output(f.nextrun("job", "retry", f.jobOf("fails")))
	storetest.Eventually(f, "the job that failed", func() bool {
		return f.One("SELECT outcome FROM periodic_tick WHERE task_id = 'fails'") == "failed" // it was NULL meanwhile
	})
	f.Want(0, "SELECT count(*) FROM periodic_open")
	for id, want := range map[string]string{
		"works": "only one that failed or was cancelled can be put back", "deleted": "can be put back",
	} {
		if said, err := f.nextrun("job", "retry", f.jobOf(id)).CombinedOutput(); err == nil || !strings.Contains(string(said), want) {
			f.Errorf("job retry of %s: %v, %s", id, err, said)
		}
	}
}

// jobOf is the id of the job of a task.
func (f *fixture) jobOf(id string) string {
	f.Helper()
	return f.One("SELECT jid FROM periodic_tick WHERE task_id = ?", id)
}

func TestRiverEnds(t *testing.T) {
	t.Parallel()
	for _, q := range []queue{riverPostgres, riverSQLite} {
		t.Run(q.database, func(t *testing.T) {
			const ours = " WHERE metadata->'nextrun'->>'jid' = ?"
			proveEnds(t, ending{
				queue: q, cancelledStays: true, cancel: "UPDATE river_job SET state = 'cancelled', finalized_at = CURRENT_TIMESTAMP" + ours, remove: "DELETE FROM river_job" + ours,
				want: map[string]string{
					"works": "success 1 ", "fails": "failed 1 no space left", "twice": "success 2 ", "cancelled": "cancelled 0 ",
					"deleted": "unknown 0 the queue does not have the job any more",
				},
			})
		})
	}
}

// Without the trigger a job that somebody removes cannot be told from one that has succeeded.
func TestGraphileWorkerEnds(t *testing.T) {
	const ours = "graphile_worker._private_jobs WHERE key LIKE '%' || ?"
	proveEnds(t, ending{
		queue: graphile, cancel: "SELECT graphile_worker.remove_job(key) FROM " + ours, remove: "DELETE FROM " + ours,
		want: map[string]string{"works": "gone 0 ", "fails": "failed 1 no space left", "twice": "gone 0 ", "cancelled": "gone 0 ", "deleted": "gone 0 "},
	})
}

func TestPgBossEnds(t *testing.T) {
	const ours = " WHERE id = CAST(? AS uuid)"
	proveEnds(t, ending{
		queue: pgBoss, cancelledStays: true, cancel: "UPDATE pgboss.job SET state = 'cancelled', completed_on = now()" + ours, remove: "DELETE FROM pgboss.job" + ours,
		want: map[string]string{
			"works": "success 1 ", "fails": "failed 1 no space left", "twice": "success 2 ", "cancelled": "cancelled 0 ",
			"deleted": "unknown 0 the queue does not have the job any more",
		},
	})
}
