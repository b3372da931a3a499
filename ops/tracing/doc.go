// Package tracing makes spans of what nextrun does, with the OpenTelemetry API. One
// [Tracer] serves all parts of a program:
//
//	tracer := tracing.New(tracing.Options{})
//	scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{Name: name, Tracer: tracer})
//	executor, err := executor.New(db.Jobs(), executor.Config{Name: name, Tracer: tracer})
//	relay, err := relay.New(db.Outbox(), publisher, relay.Config{Name: name, Tracer: tracer})
//	queue := jobqueue.NewQueue(db.Jobs()).Traced(tracer)
//
// The spans follow OpenTelemetry's conventions for messaging:
//
//	send QUEUE      jobs or events that a batch gives to a queue, or that a program submits
//	process TASK    an attempt of a job; the handler's context has the span
//	send TOPIC      events that a relay hands to a receiver
//
// A batch, an attempt and a delivery are each a trace of their own, since a task that
// runs every minute would otherwise make one that never ends. Links lead from an attempt
// or a delivery to the span that submitted the job or the events. What a program submits
// within a span of its own belongs to that trace.
//
// Attributes never have args, payloads or results. The status of a failed span has the
// text of the error, as the log has it.
package tracing
