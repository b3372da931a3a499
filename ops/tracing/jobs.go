package tracing

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/nextrun/nextrun/jobqueue"
)

// Attributes that OpenTelemetry has no names for.
const (
	taskKey    = attribute.Key("nextrun.task")        // id of the periodic task
	handlerKey = attribute.Key("nextrun.handler")     // what it runs
	groupKey   = attribute.Key("nextrun.group")       // of the job
	dueKey     = attribute.Key("nextrun.due")         // of the tick, RFC 3339
	latenessMS = attribute.Key("nextrun.lateness_ms") // of the attempt, since the due
	attemptKey = attribute.Key("nextrun.attempt")     // 1, 2, 3, ...
)

// Send implements [jobqueue.SendTracer]. The span is a child of that in the context, if
// there is one.
func (t *Tracer) Send(ctx context.Context, queue string, jobs []jobqueue.Job) (string, func(error)) {
	more := []attribute.KeyValue{semconv.MessagingBatchMessageCount(len(jobs))}
	if len(jobs) == 1 {
		more = ofJob(&jobs[0])
	}
	ctx, span := t.tracer.Start(ctx, "send "+clean(queue), trace.WithSpanKind(trace.SpanKindProducer),
		about("send", queue, semconv.MessagingOperationTypeSend, more...))
	return Traceparent(ctx), func(err error) { end(span, err, "_OTHER") }
}

// Run implements [executor.Tracer]. The span begins a trace.
func (t *Tracer) Run(ctx context.Context, job *jobqueue.Job) (context.Context, string, func(error)) {
	more := append(ofJob(job), attemptKey.Int(job.Attempt()))
	if !job.Due.IsZero() {
		more = append(more, latenessMS.Int64(time.Since(job.Due).Milliseconds()))
	}
	ctx, span := t.tracer.Start(ctx, "process "+clean(job.Task), trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindConsumer),
		links(job.Traceparent), about("process", "job", semconv.MessagingOperationTypeProcess, more...))
	return ctx, Traceparent(ctx), func(err error) { end(span, err, whyFailed(ctx, err)) }
}

func ofJob(job *jobqueue.Job) []attribute.KeyValue {
	list := []attribute.KeyValue{
		semconv.MessagingMessageID(clean(job.JID)), handlerKey.String(clean(job.Task)), groupKey.String(clean(job.Group)),
	}
	if job.Tracker != "" {
		list = append(list, taskKey.String(clean(job.Tracker)))
	}
	if !job.Due.IsZero() {
		list = append(list, dueKey.String(job.Due.UTC().Format(time.RFC3339Nano)))
	}
	return list
}

// whyFailed is a short name of the reason why an attempt failed.
func whyFailed(ctx context.Context, err error) string {
	for _, one := range []struct {
		cause error
		name  string
	}{
		{jobqueue.ErrTimeout, "timeout"}, {jobqueue.ErrCancelled, "cancelled"},
		{jobqueue.ErrLeaseLost, "lease_lost"}, {jobqueue.ErrShutdown, "shutdown"},
	} {
		if errors.Is(err, one.cause) || errors.Is(context.Cause(ctx), one.cause) {
			return one.name
		}
	}
	if jobqueue.IsPermanent(err) {
		return "permanent"
	}
	return "_OTHER"
}
