package jobqueue

import (
	"testing"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"github.com/nextrun/nextrun/internal/service"
)

// Lines carry their event, so that nobody has to read the message.
func TestLogLinesCarryTheirEvent(t *testing.T) {
	t.Parallel()
	log, hook := logtest.NewNullLogger()
	log.SetLevel(logrus.DebugLevel)
	for _, k := range []EventKind{EventStarted, EventStopping, EventStopped, EventEnded} {
		logEvent(log, Event{Kind: k, State: Success})
		if e, ok := service.EventOf(hook.LastEntry()).(Event); !ok || e.Kind != k {
			t.Errorf("%s: the line carries %v", k, e)
		}
	}
}
