package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/ops/metrics"
)

// BenchmarkLargeDatabase measures a scrape that reads a database of 10,000 tasks and
// 1,000,000 ticks, each with its job, and the view that answers the same question:
//
//	make bench-go BENCH=LargeDatabase
func BenchmarkLargeDatabase(b *testing.B) {
	migrated.Both(b, func(b *testing.B, d *migrated.Database) {
		fill(d, 10_000, 100)
		for _, tasks := range []int{1000, 10_000} {
			b.Run(fmt.Sprintf("scrape of %d tasks", tasks), func(b *testing.B) {
				m := metrics.New(metrics.Options{Tasks: tasks, Cache: time.Nanosecond})
				m.Watch(d.Store)
				for b.Loop() {
					w := httptest.NewRecorder()
					m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
				}
			})
		}
		b.Run("periodic_stale", func(b *testing.B) {
			for b.Loop() {
				d.Want("1000", "SELECT count(last_success) FROM periodic_stale")
			}
		})
	})
}

// fill adds tasks that elapse hourly, with as many ticks each. All jobs have succeeded,
// but the newest of every tenth task.
func fill(d *migrated.Database, tasks, ticks int) {
	d.Helper()
	hour := time.Now().UTC().Truncate(time.Hour)
	at := func(t time.Time) string { return t.Format("2006-01-02 15:04:05.000000") }
	series := fmt.Sprintf("(SELECT n FROM generate_series(1, %d) AS n) AS s", tasks)
	if d.Kind == "sqlite" {
		series = fmt.Sprintf("(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < %d) SELECT n FROM s) AS s", tasks)
	}
	d.Exec("DELETE FROM periodic_task")
	d.Exec("INSERT INTO periodic_task (id, task, timer, created) SELECT 'task-' || n, 'backup', 'hourly', ? FROM "+series, at(hour.AddDate(-1, 0, 0)))
	d.Exec("UPDATE periodic_task SET due = ?, nextrun = ?", at(hour.Add(time.Hour)), at(hour.Add(time.Hour)))
	for i := range ticks {
		due := hour.Add(-time.Duration(i+1) * time.Hour)
		state := "'success'"
		if i == 0 {
			state = "CASE WHEN n % 10 = 0 THEN 'failed' ELSE 'success' END"
		}
		d.Exec("INSERT INTO job (jid, task, tracker, due, submitted, started, finished, state) SELECT n || '-' || ?, 'backup', 'task-' || n, ?, ?, ?, ?, "+
			state+" FROM "+series, fmt.Sprint(i), at(due), at(due), at(due), at(due.Add(time.Minute)))
		d.Exec("INSERT INTO periodic_tick (task_id, due, decision, decided, jid) SELECT 'task-' || n, ?, 'submitted', ?, n || '-' || ? FROM "+series,
			at(due), at(due), fmt.Sprint(i))
	}
	d.Exec(map[string]string{"postgres": "VACUUM ANALYZE", "sqlite": "ANALYZE"}[d.Kind])
}
