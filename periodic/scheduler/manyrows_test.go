package scheduler_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// 20,000 tasks that wait for the end of their jobs, and as many rows that somebody has locked, all due at once, keep no
// other task from its ticks. On SQLite nobody locks single rows.
func TestG5ManyHeldAndLockedRows(t *testing.T) {
	both(t, func(f *fixture) {
		const many = 20_000
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) SELECT 'held-' || n, 'backup', 'yearly', 'queue' FROM " + f.series(many))
		f.exec("INSERT INTO job (jid, task, tracker, single, state) SELECT id, 'backup', id, ?, 'running' FROM periodic_task", true)
		f.exec("INSERT INTO periodic_task (id, task, timer) SELECT 'locked-' || n, 'backup', 'yearly' FROM " + f.series(many))
		at := f.at(5 * time.Second)
		f.exec("UPDATE periodic_task SET due = ?, nextrun = ?, timer = ?", at, at, "*"+at[4:])
		for _, id := range []string{"free-1", "free-2", "free-3"} {
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap, catchup) VALUES (?, 'backup', '*:*:*', 'allow', 'all')", id)
		}
		if f.Kind == "postgres" {
			f.Hold("SELECT 1 FROM periodic_task WHERE id LIKE 'locked-%' FOR UPDATE")
		}
		s, _ := f.start(f.db.Periodic())
		storetest.Eventually(f, "each free task has eight ticks after they fell due", func() bool {
			return f.one("SELECT count(*) FROM (SELECT task_id FROM periodic_tick WHERE task_id LIKE 'free-%' AND due > ? GROUP BY task_id HAVING count(*) >= 8) AS f", at) == "3"
		})
		f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id LIKE 'free-%' AND decision <> 'submitted'")
		f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id LIKE 'held-%'")
		if f.Kind == "postgres" {
			f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id LIKE 'locked-%'")
			f.Logf("late by %s s in the median", f.one("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM decided - due)) FROM periodic_tick WHERE task_id LIKE 'free-%' AND due > ?", at))
		}
		f.stop(s)
	})
}
