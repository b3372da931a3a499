package service_test

import (
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
