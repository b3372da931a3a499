package service_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

func TestPulse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p service.Pulse
		check := func(when, want string) {
			t.Helper()
			err := p.Health()
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %v, want %q", when, err, want)
			}
		}
		wait := func(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // in a bubble of synctest it takes no time
		gone := errors.New("connection refused")
		check("before the start", "first round has not ended")
		p.Goes()
		check("in the first round", "first round has not ended")
		p.Beat(gone)
		check("after a first round that failed", "connection refused")
		p.Beat(nil)
		check("after a good one", "")
		wait(30 * time.Second)
		check("while it is idle", "")
		p.Beat(nil)
		p.Beat(gone)
		check("after a collision", "")
		wait(11 * time.Second)
		p.Beat(gone)
		check("when the trouble lasts", "no round has succeeded for 11s: connection refused")
		p.Beat(nil)
		check("when it is over", "")
		p.Sleeps()
		wait(time.Hour)
		check("after an hour of sleep", "")
		p.Goes()
		check("when it goes on, before the end of a round", "")
		wait(61 * time.Second)
		check("when that round does not end", "it has stood still for 1m1s")
		if !errors.Is(p.Health(), service.ErrStalled) {
			t.Error("a loop that does not go on is not known as stuck")
		}
		for range 10 {
			p.Goes()
			wait(50 * time.Second)
		}
		check("in a round that is long, but goes on", "")
	})
}

// Who stands still, or fails for long, does not advance; who sleeps, or is slow, does.
func TestPulseAdvances(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const still, failing = 20 * time.Second, time.Minute
		var p service.Pulse
		check := func(when string, want bool) {
			t.Helper()
			if got := p.Advances(still, failing); got != want {
				t.Errorf("%s: advances %v", when, got)
			}
		}
		wait := func(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // in a bubble of synctest it takes no time
		check("before the start", true)
		p.Goes()
		wait(19 * time.Second)
		check("in its first statement", true)
		p.Beat(nil)
		p.Sleeps()
		wait(time.Hour)
		check("asleep", true)
		p.Goes()
		wait(21 * time.Second)
		check("standing still", false)
		p.Goes()
		check("going on", true)
		p.Beat(nil)
		for range 5 {
			wait(10 * time.Second)
			p.Beat(errors.New("refused"))
		}
		check("failing for less than a minute", true)
		wait(11 * time.Second)
		p.Beat(errors.New("refused"))
		check("failing for more", false)
	})
}
