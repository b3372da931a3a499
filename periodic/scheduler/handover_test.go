package scheduler_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// BenchmarkHandover measures how long nobody leads after a clean stop: from the
// call of Stop until a scheduler that stands by has the lock, with the default
// TTL and heartbeat.
func BenchmarkHandover(b *testing.B) {
	migrated.Both(b, func(b *testing.B, d *migrated.Database) {
		f := newFixture(d)
		standby := func() (*scheduler.Scheduler, *events) {
			s, told := f.inMode(f.db.Periodic(), "bench", scheduler.ModeLeader)
			f.begin(s)
			return s, told
		}
		leads, told := standby()
		told.until(f, "leadership", kindOf(scheduler.EventLeading))
		var times []time.Duration
		for b.Loop() {
			next, told := standby()
			told.until(f, "standby", kindOf(scheduler.EventStandby))
			elapse(100 * time.Millisecond) // it listens by then, or polls
			begun := time.Now()
			if err := leads.Stop(context.Background()); err != nil {
				b.Fatal(err)
			}
			told.until(f, "leadership", kindOf(scheduler.EventLeading))
			times = append(times, time.Since(begun))
			leads = next
		}
		slices.Sort(times)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms-median")
		b.ReportMetric(float64(times[len(times)-1].Microseconds())/1000, "ms-max")
	})
}
