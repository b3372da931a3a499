package jobqueue_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/storetest/migrated"
)

// BenchmarkExecutor runs jobs with an empty handler in a pool of 50.
func BenchmarkExecutor(b *testing.B) {
	migrated.Both(b, func(b *testing.B, d *migrated.Database) { benchmarkExecutor(b, d.Store) })
}

func benchmarkExecutor(b *testing.B, db *store.DB) {
	jobs := make([]jobqueue.Job, b.N)
	for i := range jobs {
		jobs[i] = jobqueue.Job{Task: "empty", Args: strconv.Itoa(i)}
	}
	for part := jobs; len(part) > 0; part = part[min(10_000, len(part)):] {
		if _, err := jobqueue.NewQueue(db.Jobs()).Submit(b.Context(), part[:min(10_000, len(part))]...); err != nil {
			b.Fatal(err)
		}
	}
	done := make(chan struct{})
	var left atomic.Int64
	left.Store(int64(b.N))
	e, err := jobqueue.NewExecutor(db.Jobs(), jobqueue.Config{Name: "bench", PoolSize: 50, Logger: silent, Observe: func(event jobqueue.Event) {
		if event.Kind == jobqueue.EventEnded && left.Add(-1) == 0 {
			close(done)
		}
	}})
	if err != nil {
		b.Fatal(err)
	}
	e.Register("empty", func(context.Context, *jobqueue.JobContext) error { return nil })
	b.ResetTimer()
	if err := e.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	<-done
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	if err := e.Stop(b.Context()); err != nil {
		b.Fatal(err)
	}
}
