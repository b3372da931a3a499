package leader_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/periodic/leader"
)

func TestResignedLeaderLeavesTheLockToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := newTable()
		a := newContender(t, rows, "a").start(t)
		defer a.stop()
		term, _ := a.lead(t)
		b := newContender(t, rows, "b")
		b.link.mute = true // the slowest kind of successor
		b.start(t)
		defer b.stop()
		pass(time.Second)
		a.Resign(term)
		if a.leads() {
			t.Error("leads after it resigned")
		}
		if _, took := b.lead(t); took > heartbeat {
			t.Errorf("the other took over after %s, want a heartbeat at most", took)
		}
		pass(10 * heartbeat)
		if a.leads() || !b.leads() {
			t.Error("the one that resigned leads again")
		}
		want := []leader.EventKind{leader.EventLeading, leader.EventResigned, leader.EventStandby}
		if got := a.kinds(); !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	})
}

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

// The row was deleted by hand, and took the token along: the leader notices at
// the next transaction, takes the lock again, and its token goes on rising.
func TestLeaderWhoseRowWasDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := newTable()
		a := newContender(t, rows, "a").start(t)
		defer a.stop()
		term, _ := a.lead(t)
		rows.mu.Lock()
		delete(rows.rows, term.Fence().Lock)
		rows.mu.Unlock()
		a.Depose(term) // as Guard does
		again, took := a.lead(t)
		if took > 0 || again.Fence().Token != term.Fence().Token+1 {
			t.Errorf("back after %s with token %d, want at once with %d", took, again.Fence().Token, term.Fence().Token+1)
		}
	})
}
