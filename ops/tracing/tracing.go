package tracing

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
)

// Options are the settings of [New]. The zero value is ready for use.
type Options struct {
	// Provider makes the spans. nil: the global one of OpenTelemetry.
	Provider trace.TracerProvider
	// Version is the program's, for the instrumentation scope.
	Version string
}

// Tracer makes spans. It is safe for concurrent use.
type Tracer struct{ tracer trace.Tracer }

var (
	_ jobqueue.SendTracer = (*Tracer)(nil)
	_ executor.Tracer     = (*Tracer)(nil)
	_ relay.Tracer        = (*Tracer)(nil)
)

// New returns a tracer.
func New(o Options) *Tracer {
	if o.Provider == nil {
		o.Provider = otel.GetTracerProvider()
	}
	return &Tracer{o.Provider.Tracer("github.com/nextrun/nextrun/ops/tracing",
		trace.WithInstrumentationVersion(o.Version), trace.WithSchemaURL(semconv.SchemaURL))}
}

// Traceparent is the W3C traceparent of the span in a context, for jobqueue.Job,
// outbox.Event and the column of that name. Empty: there is no span.
func Traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[header]
}

// header is the name of the W3C's header.
const header = "traceparent"

// links lead to traceparents, once to each.
func links(parents ...string) trace.SpanStartOption {
	var list []trace.Link
	seen := map[string]bool{"": true}
	for _, parent := range parents {
		if seen[parent] {
			continue
		}
		seen[parent] = true
		of := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{header: parent}))
		if of.IsValid() {
			list = append(list, trace.Link{SpanContext: of})
		}
	}
	return trace.WithLinks(list...)
}

// about are the attributes that all spans have.
func about(operation, destination string, of attribute.KeyValue, more ...attribute.KeyValue) trace.SpanStartOption {
	return trace.WithAttributes(append([]attribute.KeyValue{
		semconv.MessagingSystemKey.String("nextrun"), semconv.MessagingOperationName(operation), of,
		semconv.MessagingDestinationName(clean(destination)),
	}, more...)...)
}

// maxText is how many bytes of a name or an error a span has at most.
const maxText = 1000

// Any text may be in a row, and exporters take UTF-8 only.
func clean(s string) string { return text.Clean(s, maxText) }

// end ends a span. kind is a short name of the error.
func end(span trace.Span, err error, kind string) {
	if err != nil {
		span.SetStatus(codes.Error, clean(err.Error()))
		span.SetAttributes(semconv.ErrorTypeKey.String(kind))
	}
	span.End()
}
