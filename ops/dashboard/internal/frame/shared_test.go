package frame

import (
	"testing"
	"testing/synctest"
	"time"
)

// What takes long does not hold up a page: the next look has it, and an older answer stands in for a new one.
func TestSoonDoesNotWaitLong(t *testing.T) {
	t.Parallel()
	const before = 10 * time.Minute
	synctest.Test(t, func(t *testing.T) {
		var s Shared
		n := 0
		look := func(wait, want time.Duration) any {
			t.Helper()
			began := time.Now()
			data, err := s.Soon("ticks", began, time.Minute, before, wait, func() (any, error) {
				time.Sleep(time.Second) //nolint:forbidigo // the clock is that of synctest
				n++
				return n, nil
			})
			if took := time.Since(began); took != want || err != nil {
				t.Errorf("it took %s, want %s: %v", took, want, err)
			}
			return data
		}
		for _, step := range []struct {
			after, wait, took time.Duration
			want              any
		}{
			{0, time.Millisecond, time.Millisecond, nil},
			{2 * time.Second, time.Millisecond, 0, 1},
			{time.Minute, time.Millisecond, 0, 1}, // it is read again
			{2 * time.Second, time.Millisecond, 0, 2},
			{2 * before, time.Millisecond, time.Millisecond, nil}, // too old to stand in
			{2 * before, 2 * time.Second, time.Second, 4},
		} {
			time.Sleep(step.after) //nolint:forbidigo // as above
			if got := look(step.wait, step.took); got != step.want {
				t.Errorf("after %s it is %v, want %v", step.after, got, step.want)
			}
		}
		synctest.Wait()
	})
}
