package measure

import (
	"slices"
	"time"
)

// Spread is what several rounds have measured.
type Spread struct {
	Median float64 `json:"median"`
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
}

// SpreadOf is that of values; they are sorted.
func SpreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	slices.Sort(values)
	return Spread{Quantile(values, 0.5), values[0], values[len(values)-1]}
}

// Quantile is a value below which a share of the sorted values lies; of an even number of values the median is the mean of
// the two in the middle.
func Quantile(sorted []float64, share float64) float64 {
	n := len(sorted)
	if share == 0.5 && n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[min(n-1, int(float64(n)*share))]
}

// Millis are durations in milliseconds.
func Millis(list ...time.Duration) []float64 {
	values := make([]float64, len(list))
	for i, d := range list {
		values[i] = float64(d) / float64(time.Millisecond)
	}
	return values
}
