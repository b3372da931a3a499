package executor

import (
	"testing"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
)

// Lines carry their event, so that nobody has to read the message.
func TestLogLinesCarryTheirEvent(t *testing.T) {
	t.Parallel()
	log, hook := logtest.NewNullLogger()
	log.SetLevel(logrus.DebugLevel)
	for _, k := range []EventKind{EventStarted, EventStopping, EventStopped, EventEnded} {
		logEvent(log, Event{Kind: k, State: jobqueue.Success})
		if e, ok := service.EventOf(hook.LastEntry()).(Event); !ok || e.Kind != k {
			t.Errorf("%s: the line carries %v", k, e)
		}
	}
}
