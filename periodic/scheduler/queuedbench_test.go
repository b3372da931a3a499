package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// series is a table of the numbers from 1 to n.
func (f *fixture) series(n int) string {
	if f.Kind == "postgres" {
		return fmt.Sprintf("generate_series(1, %d) AS n", n)
	}
	return fmt.Sprintf("(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < %d) SELECT n FROM s)", n)
}

// waiting adds tasks that all have a job that runs and ticks that wait for its
// end.
func (f *fixture) waiting(tasks, ticks int) {
	f.Helper()
	f.exec("INSERT INTO periodic_task (id, task, timer, overlap, nextrun) SELECT 'task-' || n, 'backup', 'yearly', 'queue', ? FROM "+
		f.series(tasks), f.at(time.Hour))
	f.exec("UPDATE periodic_task SET due = nextrun")
	f.exec("INSERT INTO job (jid, task, tracker, state, single) SELECT 'job-' || id, 'backup', id, 'running', true FROM periodic_task")
	for i := range ticks {
		f.exec("INSERT INTO periodic_tick (task_id, due, decision, decided) SELECT id, ?, 'queued', nextrun FROM periodic_task",
			f.at(time.Duration(i-ticks)*time.Minute))
	}
	if f.Kind == "postgres" {
		f.exec("VACUUM ANALYZE")
	}
}

// peek looks for due tasks as a scheduler does.
func (f *fixture) peek() taskdb.Work {
	f.Helper()
	peek, err := f.db.Periodic().Poll(f.Context(), taskdb.Exclude{})
	for more := peek.Ready; more && err == nil; {
		var tended taskdb.Tended
		tended, err = f.db.Periodic().Tend(f.Context(), false, taskdb.Exclude{})
		peek.Due, more = peek.Due || tended.Ready, tended.More
	}
	if err != nil {
		f.Fatal(err)
	}
	return peek
}

// BenchmarkPeekQueued measures a look for due tasks while ticks wait for jobs
// that run: it is made at each wake-up.
func BenchmarkPeekQueued(b *testing.B) {
	for _, kind := range []string{storetest.Postgres, storetest.SQLite} {
		for _, size := range []struct{ tasks, ticks int }{{100_000, 1}, {1, 1_000}} {
			b.Run(fmt.Sprintf("%s/%dx%d", kind, size.tasks, size.ticks), func(b *testing.B) {
				f := newFixture(migrated.New(b, kind))
				f.waiting(size.tasks, size.ticks)
				begun := time.Now()
				f.peek()
				first := time.Since(begun)
				for b.Loop() {
					if peek := f.peek(); peek.Due {
						b.Fatal("a task is due")
					}
				}
				b.ReportMetric(first.Seconds()*1000, "ms-first")
			})
		}
	}
}
