package check

import (
	"context"
	"strings"

	"github.com/nextrun/nextrun/internal/bounds"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/store"
)

// checkEvents looks for events that wait for a relay.
func (r *report) checkEvents(ctx context.Context, db *store.DB) {
	lags, err := db.Outbox().Lag(ctx)
	if err != nil {
		r.add(levelWarning, "events", "%v", err)
	}
	hooks := 0
	for _, l := range lags {
		switch {
		case l.Problem != "" && !strings.HasPrefix(l.Topic, bounds.HookTopics):
			r.add(levelWarning, "topic "+l.Topic, "events that wait: %d; the oldest, of %s ago, was refused: %s; see: nextrun event list --topic %s", l.Pending, span.Text(l.Age), l.Problem, l.Topic)
		case !l.Unattended():
		case strings.HasPrefix(l.Topic, bounds.HookTopics):
			hooks += l.Pending
		default:
			r.add(levelWarning, "topic "+l.Topic, "events that wait: %d, the oldest for %s; no relay has the topic now. To publish them: nextrun relay --config FILE", l.Pending, span.Text(l.Age))
		}
	}
	if hooks > 0 {
		r.add(levelWarning, "hooks", "events that wait for delivery: %d; no relay has their topics now. To deliver them: nextrun relay --config FILE", hooks)
	}
}
