package leader_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/periodic/leader"
)

// The lock of a holder that hangs goes to another one, and does not come back while it hangs.
func TestHolderThatHangsLosesTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := newTable()
		var hangs atomic.Bool
		a := newContender(t, rows, "a", func(c *leader.Config) { c.Works = func() bool { return !hangs.Load() } }).start(t)
		defer a.stop()
		a.lead(t)
		b := newContender(t, rows, "b").start(t)
		pass(time.Minute)
		hangs.Store(true)
		if _, took := b.lead(t); took > ttl+heartbeat || a.leads() {
			t.Errorf("the other one leads after %s, and the first one too: %t", took, a.leads())
		}
		b.stop()
		pass(time.Hour)
		if a.leads() {
			t.Error("it leads while it hangs")
		}
		hangs.Store(false)
		if _, took := a.lead(t); took > heartbeat {
			t.Errorf("it leads again after %s", took)
		}
	})
}
