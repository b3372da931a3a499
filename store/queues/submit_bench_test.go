package queues_test

import (
	"context"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store/internal/tasks"
	"github.com/nextrun/nextrun/store/queues"
)

// BenchmarkSubmit adds a batch of 1,000 jobs of as many tasks, to nextrun's own table
// job and to others.
func BenchmarkSubmit(b *testing.B) {
	for _, kind := range []string{storetest.Postgres, storetest.SQLite} {
		b.Run(kind, func(b *testing.B) {
			d := migrated.New(b, kind).Database
			f := newFixture(b, d, riverFiles(d, 7)...)
			jobs := f.tasks(1000)
			f.Exec("ANALYZE")
			run := func(name string, submit func(ctx context.Context, tx jobqueue.DBTX) error) {
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						for i := range jobs {
							jobs[i].JID, jobs[i].Single = jobqueue.NewID(), false
						}
						if err := f.update(submit); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.N*len(jobs))/b.Elapsed().Seconds(), "jobs/s")
				})
			}
			run("job", func(ctx context.Context, tx jobqueue.DBTX) error {
				_, err := tasks.NewJobSink(f.db).Submit(ctx, tx, jobs)
				return err
			})
			list := map[string]queues.Kind{"river": queues.River{}}
			if kind == storetest.Postgres {
				f.run("pgmq.sql")
				f.Exec("SELECT pgmq.create('mail')")
				list["pgmq"] = queues.PGMQ{Queue: "mail"}
			}
			for name, k := range list {
				q := f.queue(k)
				run(name, func(ctx context.Context, tx jobqueue.DBTX) error {
					_, err := q.Submit(ctx, tx, jobs)
					return err
				})
			}
		})
	}
}
