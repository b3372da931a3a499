package consumers_test

import (
	"io"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/queues"
)

// BenchmarkBurst10000 measures the time until 10,000 due tasks are submitted to
// each kind of queue, whose tables its own migrations made. Its ratio is the time
// that nextrun's own queue takes in a database of the same kind in the same round;
// the figures are the medians of the rounds.
func BenchmarkBurst10000(b *testing.B) {
	for _, q := range []struct {
		queue
		kind queues.Kind
	}{
		{riverPostgres, queues.River{}},
		{riverSQLite, queues.River{}},
		{legacyPostgres, legacyKind},
		{legacySQLite, legacySQLiteKind},
		{graphile, queues.GraphileWorker{}},
		{pgBoss, queues.PgBoss{}},
	} {
		b.Run(q.sink+"/"+q.database, func(b *testing.B) {
			storetest.Compare(b, "s/10000tasks", func(t testing.TB) time.Duration {
				return burst(t, q.queue, q.sink, q.kind)
			}, "s/job", func(t testing.TB) time.Duration {
				return burst(t, q.queue, "job", q.kind)
			})
		})
	}
}

// burst submits 10,000 due tasks of a sink, and returns how long that took.
func burst(t testing.TB, q queue, sink string, kind queues.Kind) time.Duration {
	f := newFixture(t, q)
	due := time.Now().UTC().Add(-time.Minute).Truncate(time.Minute)
	f.Exec("WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 10000)"+
		" INSERT INTO periodic_task (id, task, timer, args, sink) SELECT 'task-' || n, 'proof', ?, ?, ? FROM s",
		due.Format("15:04"), `{"path": "/srv/data", "keep": 7}`, sink)
	f.Exec("UPDATE periodic_task SET due = ?, nextrun = ?", f.time(due), f.time(due))
	if q.database == storetest.Postgres {
		f.Exec("VACUUM ANALYZE periodic_task")
	}
	scheduler := f.scheduler(kind)
	begun := time.Now()
	if err := scheduler.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begun)
	f.Want(10000, "SELECT count(*) FROM periodic_tick WHERE decision = 'submitted'")
	return took
}

// scheduler is one in this process, so that only its work is measured.
func (f *fixture) scheduler(kind queues.Kind) *scheduler.Scheduler {
	f.Helper()
	db, err := store.Open(f.Context(), f.URL, store.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() })
	log := logrus.New()
	log.SetOutput(io.Discard)
	submitter, err := queues.Open(db, kind)
	if err != nil {
		f.Fatal(err)
	}
	cfg := scheduler.Config{
		Name: "bench", Logger: log, Submitters: periodic.Submitters{periodic.Sink(f.queue.sink): submitter},
	}
	s, err := scheduler.New(db.Periodic(), cfg)
	if err != nil {
		f.Fatal(err)
	}
	return s
}
