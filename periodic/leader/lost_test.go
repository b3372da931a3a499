package leader_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/periodic/leader"
)

// Somebody released the lock by force: the holder stops when it hears of it,
// and lets others go first.
func TestForcedReleaseEndsTheTermAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := newTable()
		a := newContender(t, rows, "a").start(t)
		defer a.stop()
		term, _ := a.lead(t)
		synctest.Wait()
		person := &link{table: rows}
		if ok, err := person.Release(t.Context(), term.Fence()); !ok || err != nil {
			t.Fatal(ok, err)
		}
		synctest.Wait()
		if term.Context().Err() == nil {
			t.Error("the term goes on")
		}
		b := newContender(t, rows, "b").start(t)
		defer b.stop()
		if _, took := b.lead(t); took > time.Second {
			t.Errorf("another could not take the lock for %s", took)
		}
		want := []leader.EventKind{leader.EventLeading, leader.EventLost}
		if got := a.kinds(); !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	})
}
