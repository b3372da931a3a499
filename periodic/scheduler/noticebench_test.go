package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// BenchmarkNotice measures guarantee G7: the time from the commit of a user's
// change that makes a task due to the commit of its job, with a scheduler that
// would poll a day later.
func BenchmarkNotice(b *testing.B) {
	for _, kind := range []struct {
		name    string
		changes int
	}{{storetest.Postgres, 500}, {storetest.SQLite, 100}} {
		b.Run(kind.name, func(b *testing.B) {
			f := newFixture(migrated.New(b, kind.name))
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'backup', 'yearly', 'allow')")
			ticks := make(chan time.Time, 1)
			stop := f.run(f.db.Periodic(), func(c *scheduler.Config) {
				c.PollInterval = 24 * time.Hour
				c.Observe = func(e scheduler.Event) {
					if e.Kind == scheduler.EventTick {
						ticks <- time.Now()
					}
				}
			})
			var took []time.Duration
			for b.Loop() {
				for range kind.changes {
					f.exec("UPDATE periodic_task SET nextrun = ?", f.at(0))
					committed := time.Now()
					took = append(took, max(0, (<-ticks).Sub(committed)))
				}
			}
			stop()
			slices.Sort(took)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "ms-median")
			b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "ms-p99")
		})
	}
}

// bulkEdits are what users do to many rows at once.
var bulkEdits = map[string]string{
	"priority": "UPDATE periodic_task SET priority = 1 - priority",
	"timer":    "UPDATE periodic_task SET timer = CASE timer WHEN 'daily' THEN 'hourly' ELSE 'daily' END",
	"args":     "UPDATE periodic_task SET args = args || ' '",
	"enabled":  "UPDATE periodic_task SET enabled = NOT enabled",
}

// BenchmarkBulkEdit compares an edit of 200,000 rows with the same edit without
// nextrun's triggers: the ratio of the medians of alternate runs.
func BenchmarkBulkEdit(b *testing.B) {
	const rows, runs = 200_000, 5
	for edit, statement := range bulkEdits {
		b.Run(edit, func(b *testing.B) {
			f := newFixture(migrated.New(b, storetest.Postgres))
			f.exec(`INSERT INTO periodic_task (id, task, timer, args) SELECT 'task-' || n, 'backup', 'daily', '{"path": "/srv/data", "keep": 7}' FROM ` + f.series(rows))
			f.exec("UPDATE periodic_task SET due = '2090-01-01', nextrun = '2090-01-01'")
			took := map[string][]time.Duration{}
			for b.Loop() {
				for range runs {
					for _, triggers := range []string{"DISABLE", "ENABLE"} {
						f.exec("VACUUM periodic_task")
						f.exec("ALTER TABLE periodic_task " + triggers + " TRIGGER USER")
						begun := time.Now()
						f.exec(statement)
						took[triggers] = append(took[triggers], time.Since(begun))
					}
				}
			}
			for _, list := range took {
				slices.Sort(list)
			}
			with, without := took["ENABLE"][len(took["ENABLE"])/2], took["DISABLE"][len(took["DISABLE"])/2]
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(with.Seconds(), "s/edit")
			b.ReportMetric(without.Seconds(), "s/without")
			b.ReportMetric(with.Seconds()/without.Seconds(), "ratio")
		})
	}
}
