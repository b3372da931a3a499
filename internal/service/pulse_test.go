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
		const most = time.Minute
		var p service.Pulse
		check := func(when, want string) {
			t.Helper()
			err := p.Health(most)
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
		wait(most + time.Second)
		check("when nothing happens any more", "no round has ended for 1m1s")
		if !errors.Is(p.Health(most), service.ErrStalled) {
			t.Error("a loop that does not go on is not known as stuck")
		}
		p.Waits()
		wait(time.Hour)
		check("after an hour in which others had their turn", "")
		p.Goes()
		check("when its own has come, before the end of a round", "")
		wait(most + time.Second)
		check("when that round does not end", "no round has ended for 1m1s")
	})
}
