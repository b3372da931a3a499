package decide

import (
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/reasons"
	"github.com/nextrun/nextrun/periodic"
)

// The reasons of periodic_tick, in words for people. Times are UTC. A tick that is
// decided before its time has the reason that holds when it is due.

func supersededReason(due time.Time) string {
	return "the tick of " + due.UTC().Format("2006-01-02 15:04:05") + " took its place"
}

// heldReason is why ticks that waited for the end of a job did not run: a newer one did.
const heldReason = "waited for the end of the job before it; a later tick took its place"

func lateReason(age, deadline time.Duration) string {
	if deadline <= 0 {
		return "the deadline is 0 s, so every tick is late"
	}
	return fmt.Sprintf("decided %s after its time; the deadline is %s", reasons.Span(age), reasons.Span(deadline))
}

func missedReason(t *periodic.Task, count int, age time.Duration, delay string) string {
	if delay == "" {
		delay = "no scheduler ran in time"
	}
	switch {
	case t.Catchup == periodic.CatchupNone && age <= t.Grace:
		return delay + "; of these only the newest tick counts, because catchup is none"
	case t.Catchup == periodic.CatchupNone:
		return fmt.Sprintf("%s; the newest tick was %s old, and the grace is %s", delay, reasons.Span(age), reasons.Span(t.Grace))
	case t.Catchup == periodic.CatchupAll:
		return fmt.Sprintf("%s; only the newest %d of the missed ticks are submitted, its catchup_limit", delay, t.CatchupLimit)
	case count == 1:
		return delay + "; one catch-up tick replaces it"
	}
	return delay + "; one catch-up tick replaces them"
}
