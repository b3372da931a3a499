package relay_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
)

const benchBatch = 100

// BenchmarkAppend measures the writing of events in batches.
func BenchmarkAppend(b *testing.B) {
	migrated.Both(b, func(b *testing.B, d *migrated.Database) {
		f := newFixture(d)
		batch := events("t", benchBatch)
		for b.Loop() {
			f.append(batch...)
		}
		b.ReportMetric(float64(b.N*benchBatch)/b.Elapsed().Seconds(), "events/s")
	})
}
