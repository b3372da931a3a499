package reasons_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/reasons"
)

// What people have asked for is told apart from what a timer or a queue did.
func TestTicksThatPeopleAskedForAreKnown(t *testing.T) {
	for _, c := range []struct {
		reason  string
		putBack bool
		want    string
	}{
		{"", false, ""},
		{"the job of 02:00:00 UTC is still waiting", false, ""},
		{reasons.ByHand, false, "run by hand"},
		{"moved from 2026-01-01; " + reasons.ByHand, false, "run by hand"},
		{reasons.Backfilled, false, "backfilled"},
		{"paused by grace: backfilled later", false, ""},
		{reasons.ByHand, true, "put back by hand"},
	} {
		if got := reasons.Hand(c.reason, c.putBack); got != c.want {
			t.Errorf("reason %q, put back %t: %q, want %q", c.reason, c.putBack, got, c.want)
		}
	}
}
