package relay

import (
	"context"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/traceparent"
	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// Tracer makes the spans of relays. It must be safe for concurrent use.
type Tracer interface {
	// Deliver begins the span of events of a topic that are handed over together. The receiver gets the context that it
	// returns, and passes the W3C traceparent on. end is called once, when it
	// has returned, with how many events it accepted and its error.
	Deliver(ctx context.Context, events []outbox.Event) (of context.Context, traceparent string, end func(int, error))
}

// deliver hands events to their receiver, in a span.
func (r *Relay) deliver(ctx context.Context, to outbox.Publisher, events []outbox.Event) (accepted int, err error) {
	end := func(int, error) {}
	if r.cfg.Tracer != nil {
		var own string
		ctx, own, end = r.cfg.Tracer.Deliver(ctx, events)
		ctx = traceparent.With(ctx, own)
	}
	err = service.Guard(func() (err error) {
		accepted, err = to.Publish(ctx, events)
		return err
	})
	accepted = min(max(accepted, 0), len(events))
	end(accepted, err)
	return accepted, err
}
