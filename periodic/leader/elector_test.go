package leader_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/periodic/leader"
)

func TestReleaseHandsOverAtOnceWhenNotified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := newTable()
		a := newContender(t, rows, "a").start(t)
		first, _ := a.lead(t)
		b := newContender(t, rows, "b").start(t)
		defer b.stop()
		pass(3 * time.Minute) // far beyond the TTL: renewals keep it
		if !first.Holds() || b.leads() {
			t.Fatal("the leader was not left in peace")
		}
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if first.Context().Err() == nil {
			t.Error("the term goes on after Stop")
		}
		second, took := b.lead(t)
		if took > 10*time.Millisecond {
			t.Errorf("took over after %s, want at once", took)
		}
		if second.Fence().Token == first.Fence().Token {
			t.Errorf("both terms have the token %d", first.Fence().Token)
		}
		want := []leader.EventKind{leader.EventStandby, leader.EventLeading}
		if got := b.kinds(); !slices.Equal(got, want) {
			t.Errorf("b told %v, want %v", got, want)
		}
	})
}

func TestCrashHandsOverWithinTTLAndHeartbeat(t *testing.T) {
	for _, after := range []time.Duration{0, time.Second, 9999 * time.Millisecond, 33 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			rows := newTable()
			a := newContender(t, rows, "a").start(t)
			first, _ := a.lead(t)
			b := newContender(t, rows, "b").start(t)
			defer b.stop()
			pass(after)
			a.link.set(func(l *link) { l.down = true }) // cut off, which is no better than dead
			crashed := time.Now()
			defer a.stop()
			<-first.Context().Done()
			ended := time.Now()
			second, _ := b.lead(t)
			if took := time.Since(crashed); took > ttl+heartbeat {
				t.Errorf("after %s: took over %s after the crash, want %s at most", after, took, ttl+heartbeat)
			}
			if !ended.Before(time.Now()) || first.Holds() {
				t.Errorf("after %s: two contenders trusted their lock at a time", after)
			}
			if second.Fence().Token == first.Fence().Token {
				t.Errorf("after %s: both terms have the token %d", after, first.Fence().Token)
			}
		})
	}
}

// Trust runs from the start of the last renewal that succeeded: an answer that was long on its way is worth less by that time.
func TestTrustCountsFromRequestNotFromAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newContender(t, newTable(), "a").start(t)
		defer a.stop()
		term, _ := a.lead(t)
		pass(time.Second)
		a.link.set(func(l *link) { l.slow = 8 * time.Second })
		pass(heartbeat - time.Second) // the renewal begins
		begun := time.Now()
		pass(9 * time.Second) // its answer has come
		a.link.set(func(l *link) { l.down = true })
		<-term.Context().Done()
		if lasted := time.Since(begun); lasted != trust {
			t.Errorf("the term ended %s after the last renewal began, want %s", lasted, trust)
		}
		if !errors.Is(context.Cause(term.Context()), leader.ErrLost) || a.leads() {
			t.Errorf("the cause is %v, want ErrLost; it leads: %t", context.Cause(term.Context()), a.leads())
		}
	})
}

func TestErrorsNeverCountAsHolding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := newTable()
		a := newContender(t, rows, "a")
		a.link.deaf = true // it acquires, and does not know
		a.start(t)
		defer a.stop()
		pass(5 * ttl)
		if a.leads() {
			t.Error("leads without ever having had an answer")
		}
		a.link.set(func(l *link) { l.deaf = false })
		term, took := a.lead(t)
		if took > heartbeat {
			t.Errorf("leads %s after the database came back, want a heartbeat at most", took)
		}
		if row := rows.read(leader.DefaultLock); row.Fence() != term.Fence() {
			t.Errorf("the term is %+v, the row %+v", term.Fence(), row.Fence())
		}
		want := []leader.EventKind{leader.EventError, leader.EventLeading}
		if got := a.kinds(); !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	})
}
