package leader_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/periodic/leader"
)

func TestConfigIsValidated(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*leader.Config)
		want   string // part of the message; empty: valid
	}{
		{"defaults", func(*leader.Config) {}, ""},
		{"a third", func(c *leader.Config) { c.TTL, c.Heartbeat = 30*time.Second, 10*time.Second }, ""},
		{"more than a third", func(c *leader.Config) { c.TTL, c.Heartbeat = 29*time.Second, 10*time.Second }, "Heartbeat is 10s; use 10ms to 9.66"},
		{"negative heartbeat", func(c *leader.Config) { c.Heartbeat = -1 }, "Heartbeat is -1ns"},
		{"tiny TTL", func(c *leader.Config) { c.TTL = time.Millisecond }, "TTL is 1ms"},
		{"huge TTL", func(c *leader.Config) { c.TTL = 25 * time.Hour }, "TTL is 25h"},
		{"no holder", func(c *leader.Config) { c.Holder = "" }, "Holder"},
		{"control character", func(c *leader.Config) { c.Holder = "a\nb" }, "Holder"},
		{"short for a stopped process", func(c *leader.Config) { c.TTL = 20 * time.Second }, "use 21s or more"},
		{"long lock name", func(c *leader.Config) { c.Name = strings.Repeat("x", 255) }, "Name"},
	} {
		cfg := leader.Config{Holder: "a"}
		test.change(&cfg)
		_, err := leader.New(&link{table: newTable(), stalled: 14 * time.Second}, cfg)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: New = %v, want %q", test.name, err, test.want)
		}
	}
}

// Stop may come while Start still waits for the lock: then nothing runs, and the
// lock is free again.
func TestStopDuringStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := newTable()
		a := newContender(t, rows, "a", exclusive)
		a.link.set(func(l *link) { l.slow = 4 * time.Second })
		started := make(chan error)
		go func() { started <- a.Start(t.Context()) }()
		synctest.Wait()
		if err := a.Start(t.Context()); !errors.Is(err, leader.ErrStarted) {
			t.Errorf("a second Start at the same time = %v, want ErrStarted", err)
		}
		if err := a.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-started; !errors.Is(err, leader.ErrStarted) {
			t.Errorf("Start = %v, want ErrStarted", err)
		}
		if row := rows.read(leader.DefaultLock); row.State() != leader.Free || a.leads() {
			t.Errorf("the row is %s, leading %t; want it free", row.State(), a.leads())
		}
	})
}

func TestStopReleasesAndSaysSoIfItCannot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := newTable()
		a := newContender(t, rows, "a").start(t)
		a.lead(t)
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if row := rows.read(leader.DefaultLock); row.State() != leader.Free {
			t.Errorf("the lock is %s, want it free", row.State())
		}
		b := newContender(t, rows, "b").start(t)
		b.lead(t)
		b.link.set(func(l *link) { l.down = true })
		if err := b.Stop(t.Context()); !errors.Is(err, errDown) || !strings.Contains(err.Error(), "expires by itself within 30s") {
			t.Errorf("Stop = %v, want the error and that the lock expires", err)
		}
	})
}

func TestTransactionsWaitForARenewalInHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newContender(t, newTable(), "a").start(t)
		defer a.stop()
		term, _ := a.lead(t)
		if err := term.Enter(t.Context()); err != nil {
			t.Fatalf("Enter = %v, want nil", err)
		}
		a.link.set(func(l *link) { l.slow = 5 * time.Second })
		pass(heartbeat + time.Second) // a renewal is under way
		begun := time.Now()
		over, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := term.Enter(over); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Enter = %v, want the context's error", err)
		}
		if err := term.Enter(t.Context()); err != nil || time.Since(begun) != 4*time.Second {
			t.Errorf("Enter = %v after %s, want nil at the end of the renewal, after 4s", err, time.Since(begun))
		}
		term.End()
		if err := term.Enter(t.Context()); !errors.Is(err, leader.ErrLost) {
			t.Errorf("Enter = %v, want ErrLost", err)
		}
	})
}

func TestExclusiveFailsAtOnceAndSaysWhoAndWhatToDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := newTable()
		a := newContender(t, rows, "a", exclusive).start(t)
		pass(3 * time.Second)
		b := newContender(t, rows, "b", exclusive)
		err := b.Start(t.Context())
		var held *leader.HeldError
		if !errors.As(err, &held) || held.Lock.Holder != "a" {
			t.Fatalf("Start = %v, want a HeldError about a", err)
		}
		for _, part := range []string{
			"holder          a", fmt.Sprintf("pid             %d", os.Getpid()), "2000-01-01 00:00:00 UTC", "3s ago", "in 27s",
			"--mode leader", "nextrun lock show", "nextrun lock release",
		} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the message lacks %q:\n%v", part, err)
			}
		}
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := b.Start(t.Context()); err != nil {
			t.Errorf("Start after the other has stopped: %v", err)
		}
		b.stop()
	})
}

// With nobody else there an outage does not end an exclusive holder.
func TestExclusiveResumesAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newContender(t, newTable(), "a", exclusive).start(t)
		defer a.stop()
		term, _ := a.lead(t)
		a.link.set(func(l *link) { l.down = true })
		<-term.Context().Done()
		pass(time.Hour)
		a.link.set(func(l *link) { l.down = false })
		again, took := a.lead(t)
		if took > heartbeat || again.Fence().Token == term.Fence().Token {
			t.Errorf("back after %s with token %d, want within a heartbeat with another than %d",
				took, again.Fence().Token, term.Fence().Token)
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
