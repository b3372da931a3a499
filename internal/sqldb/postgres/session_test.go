package postgres

import (
	"testing"
	"testing/synctest"
	"time"
)

// A process judges others as soon as one of its sessions is three seconds old, and until
// then knows how long that takes.
func TestSessionSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sh shown
		want := func(left time.Duration) {
			t.Helper()
			if got := sh.settlesIn(time.Now()); got != left {
				t.Errorf("settles in %s, want %s", got, left)
			}
		}
		want(3 * time.Second)
		first, second := &session{}, &session{}
		sh.add(first)
		time.Sleep(time.Second) //nolint:forbidigo // the time of synctest
		sh.add(second)
		want(2 * time.Second)
		time.Sleep(2 * time.Second) //nolint:forbidigo // the time of synctest
		want(0)
		sh.remove(first)
		want(time.Second)
		sh.remove(second)
		want(3 * time.Second)
	})
}
