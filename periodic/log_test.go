package periodic

import (
	"testing"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"github.com/nextrun/nextrun/internal/service"
)

// Lines about ticks and problems carry their event, so that nobody has to read the message.
func TestLogLinesCarryTheirEvent(t *testing.T) {
	t.Parallel()
	log, hook := logtest.NewNullLogger()
	log.SetLevel(logrus.DebugLevel)
	for _, d := range []Decision{Submitted, Skipped, Queued, Late, Missed} {
		logEvent(log, Event{Kind: EventTick, Task: &Task{}, Tick: Tick{TaskID: "x", Decision: d}})
		if e, ok := service.EventOf(hook.LastEntry()).(Event); !ok || e.Tick.Decision != d {
			t.Errorf("a tick %s: the line carries %v", d, e)
		}
	}
	logEvent(log, Event{Kind: EventProblem, Task: &Task{}, Problem: "no timer"})
	if e, ok := service.EventOf(hook.LastEntry()).(Event); !ok || e.Problem != "no timer" {
		t.Errorf("a problem: the line carries %v", e)
	}
}
