package tracing

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// acceptedKey is how many events of a batch the receiver accepted.
const acceptedKey = attribute.Key("nextrun.accepted")

// Deliver implements [relay.Tracer]. The span begins a trace.
func (t *Tracer) Deliver(ctx context.Context, events []outbox.Event) (context.Context, string, func(int, error)) {
	parents := make([]string, len(events))
	for i := range events {
		parents[i] = events[i].Traceparent
	}
	topic, more := events[0].Topic, semconv.MessagingBatchMessageCount(len(events))
	if len(events) == 1 {
		more = semconv.MessagingMessageID(clean(events[0].ID))
	}
	ctx, span := t.tracer.Start(ctx, "send "+clean(topic), trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindClient),
		links(parents...), about("send", topic, semconv.MessagingOperationTypeSend, more))
	return ctx, Traceparent(ctx), func(accepted int, err error) {
		span.SetAttributes(acceptedKey.Int(accepted))
		name := "_OTHER"
		switch {
		case errors.Is(err, outbox.ErrNotTried): // for want of time; the rest is handed over later
			err = nil
		case jobqueue.IsPermanent(err):
			name = "refused"
		}
		end(span, err, name)
	}
}
