package storetest

import (
	"slices"
	"testing"
	"time"
)

// Compare measures two ways to do the same, one after the other in each round of a
// benchmark, and reports the medians: of both, in their units, and of how many times
// as long the second takes.
func Compare(b *testing.B, unit string, one func(testing.TB) time.Duration, otherUnit string, other func(testing.TB) time.Duration) {
	b.Helper()
	var ones, others, ratios []float64
	for b.Loop() {
		o, s := measured(b, other), measured(b, one)
		ones, others, ratios = append(ones, s), append(others, o), append(ratios, o/s)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(ones), unit)
	b.ReportMetric(median(others), otherUnit)
	b.ReportMetric(median(ratios), "ratio")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

func measured(b *testing.B, measure func(testing.TB) time.Duration) float64 {
	r := &round{TB: b}
	defer r.end()
	return measure(r).Seconds()
}

// round cleans up when it ends, not with the whole benchmark: the databases of
// rounds before would still be vacuumed.
type round struct {
	testing.TB
	cleanups []func()
}

func (r *round) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *round) end() {
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
}
