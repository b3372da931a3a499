package relay

import (
	"context"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/traceparent"
	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// Tracer makes the spans of relays and consumers. It must be safe for concurrent use.
type Tracer interface {
	// Deliver begins the span of events of a topic that are handed over together, by a
	// relay or to the handler of a consumer. The publisher gets the context that it
	// returns, and passes the W3C traceparent on. end is called once, when the publisher
	// has returned, with how many events it accepted and its error.
	Deliver(ctx context.Context, consumer bool, events []outbox.Event) (of context.Context, traceparent string, end func(int, error))
}

// deliver hands events to the publisher, in a span.
func (r *Relay) deliver(ctx context.Context, events []outbox.Event) (accepted int, err error) {
	end := func(int, error) {}
	if r.cfg.Tracer != nil {
		var own string
		ctx, own, end = r.cfg.Tracer.Deliver(ctx, r.consumer, events)
		ctx = traceparent.With(ctx, own)
	}
	err = service.Guard(func() (err error) {
		accepted, err = r.publisher.Publish(ctx, events)
		return err
	})
	accepted = min(max(accepted, 0), len(events))
	end(accepted, err)
	return accepted, err
}
