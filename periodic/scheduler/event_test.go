package scheduler

import (
	"testing"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic"
)

// Lines about ticks and problems carry their event, so that nobody has to read the message.
func TestLogLinesCarryTheirEvent(t *testing.T) {
	t.Parallel()
	log, hook := logtest.NewNullLogger()
	log.SetLevel(logrus.DebugLevel)
	for _, d := range []periodic.Decision{periodic.Submitted, periodic.Skipped, periodic.Late, periodic.Missed} {
		logEvent(log, Event{Kind: EventTick, Task: &periodic.Task{}, Tick: periodic.Tick{TaskID: "x", Decision: d}})
		if e, ok := service.EventOf(hook.LastEntry()).(Event); !ok || e.Tick.Decision != d {
			t.Errorf("a tick %s: the line carries %v", d, e)
		}
	}
	logEvent(log, Event{Kind: EventProblem, Task: &periodic.Task{}, Problem: "no timer"})
	if e, ok := service.EventOf(hook.LastEntry()).(Event); !ok || e.Problem != "no timer" {
		t.Errorf("a problem: the line carries %v", e)
	}
}
