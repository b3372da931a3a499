package leader_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/periodic/leader"
)

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
