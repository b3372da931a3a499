package consumers_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// The trigger that `nextrun queue trigger` prints ends the wait for a job at once.
// Without it a scheduler looks after 1, 3, 7 and 15 seconds, so that the second job
// of this task would begin more than five seconds after the first has ended.
func proveTrigger(t *testing.T, q queue) {
	t.Helper()
	f := newFixture(t, q)
	f.Exec(f.output(f.nextrun("queue", "trigger", q.sink)))
	f.startWorker()
	f.startScheduler("scheduler")
	rounds := 0
	storetest.Punctual(t, "the second job, after the first has ended", func() []time.Duration {
		rounds++
		id := fmt.Sprintf("long-%d", rounds)
		f.Exec("INSERT INTO periodic_task (id, task, args, timer, overlap, sink) VALUES (?, 'proof', ?, '*:*:*', 'queue', ?)",
			id, proofArgs{Task: id, MS: 9500}.String(), q.sink)
		var list []work
		storetest.Eventually(t, "two jobs", func() bool {
			list = slices.DeleteFunc(f.work.all(), func(w work) bool { return w.args.Task != id })
			return len(list) >= 2
		})
		f.Exec("UPDATE periodic_task SET enabled = false WHERE id = ?", id)
		took := list[1].at.Sub(list[0].done)
		if took < 0 {
			t.Errorf("the second job began %s before the first had ended", -took)
		}
		return []time.Duration{took}
	})
	f.Exec(f.output(f.nextrun("queue", "trigger", q.sink, "--drop")))
	f.stop("scheduler")
}

func TestRiverTrigger(t *testing.T) {
	t.Parallel()
	for _, q := range []queue{riverPostgres, riverSQLite} {
		t.Run(q.database, func(t *testing.T) { t.Parallel(); proveTrigger(t, q) })
	}
}

func TestGraphileWorkerTrigger(t *testing.T) {
	t.Parallel()
	proveTrigger(t, graphile)
}

func TestPgBossTrigger(t *testing.T) {
	t.Parallel()
	proveTrigger(t, pgBoss)
}
