package tracing_test

import (
	"testing"
	"time"

	"github.com/sirupsen/logrus/hooks/test"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/tracing"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// BenchmarkBatch measures what traces cost a scheduler that submits 10,000 jobs, as the
// ratio to one without:
//
//	make bench-go BENCH=Batch
func BenchmarkBatch(b *testing.B) {
	for _, kind := range []string{storetest.SQLite, storetest.Postgres} {
		b.Run(kind, func(b *testing.B) {
			with := func(tracer jobqueue.SendTracer) func(testing.TB) time.Duration {
				return func(t testing.TB) time.Duration { return submit(t, kind, tracer) }
			}
			on := tracing.New(tracing.Options{Provider: sdk.NewTracerProvider()})
			storetest.Compare(b, "s-off", with(nil), "s-on", with(on))
		})
	}
}

func submit(t testing.TB, kind string, tracer jobqueue.SendTracer) time.Duration {
	t.Helper()
	d := migrated.New(t, kind)
	d.Exec(`WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 10000)
		INSERT INTO periodic_task (id, task, timer, nextrun) SELECT 't' || n, 'x', 'yearly', '2026-01-01 00:00:00.000000' FROM s`)
	log, _ := test.NewNullLogger()
	s, err := scheduler.New(d.Store.Periodic(), scheduler.Config{Name: "s", Logger: log, Tracer: tracer})
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := s.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	return time.Since(begun)
}
