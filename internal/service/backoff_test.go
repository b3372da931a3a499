package service_test

import (
	"math"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

func TestBackoffDoublesBetweenItsBounds(t *testing.T) {
	b := service.Backoff{Least: time.Second, Most: 10 * time.Second}
	for range 2 { // and once more after Reset
		for i, seconds := range []int{1, 2, 4, 8, 10, 10, 10} {
			whole := time.Duration(seconds) * time.Second
			if got := b.Next(); got < whole/2 || got > whole {
				t.Errorf("after failure %d: %s, want %s to %s", i+1, got, whole/2, whole)
			}
		}
		b.Reset()
	}
}

func TestDelayOfExtremes(t *testing.T) {
	for _, c := range []struct {
		failures                 int
		least, most, from, until time.Duration
	}{
		{math.MaxInt, 1, math.MaxInt64, math.MaxInt64 / 2, math.MaxInt64},
		{math.MaxInt, 0, time.Second, 0, 0},
		{0, time.Second, time.Minute, time.Second / 2, time.Second},
		{1, time.Minute, time.Second, time.Second / 2, time.Second},
		{5, 0, 0, 0, 0},
	} {
		if got := service.Delay(c.failures, c.least, c.most); got < c.from || got > c.until {
			t.Errorf("Delay(%d, %s, %s) = %s, want %s to %s", c.failures, c.least, c.most, got, c.from, c.until)
		}
	}
}
