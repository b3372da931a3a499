package otlp

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/nextrun/nextrun/ops/tracing"
)

// flushTime is how long the end of the program waits for the collector.
const flushTime = 3 * time.Second

// Traces makes spans and sends them. nil makes none.
type Traces struct {
	provider *sdk.TracerProvider
	client   *client
	Tracer   *tracing.Tracer
}

// New returns what the variables ask for; nil: no spans. It connects to nothing. An error
// names the variable that is not usable.
func New(getenv func(string) string, version string, log logrus.FieldLogger) (*Traces, error) {
	get := variables(getenv)
	if on, err := get.wanted(); err != nil || !on {
		return nil, err
	}
	s, err := get.read()
	if err != nil {
		return nil, err
	}
	client := newClient(s)
	exporter, err := otlptrace.New(context.Background(), client)
	if err != nil {
		return nil, fmt.Errorf("make the exporter of spans: %w", err)
	}
	what, err := resource.New(context.Background(),
		resource.WithAttributes(semconv.ServiceName("nextrun"), semconv.ServiceVersion(version)),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		log.WithError(err).Warn("traces: OTEL_RESOURCE_ATTRIBUTES is used in part")
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(&reporter{SpanExporter: exporter, log: log}), sdk.WithResource(what))
	return &Traces{provider, client, tracing.New(tracing.Options{Provider: provider, Version: version})}, nil
}

// Stop sends the spans that are left, for a few seconds at most. It is called once.
func (t *Traces) Stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	close(t.client.closing)
	_ = t.provider.Shutdown(ctx) // what could not be sent has been reported
}

// reporter logs when spans cannot be sent, and when they can again: once each.
type reporter struct {
	sdk.SpanExporter

	log  logrus.FieldLogger
	down atomic.Bool
}

// ExportSpans implements the SDK's SpanExporter. It never returns an error, which the
// SDK would log for every batch.
func (r *reporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := r.SpanExporter.ExportSpans(ctx, spans)
	switch {
	case err != nil && !r.down.Swap(true):
		r.log.WithError(err).Warn("traces cannot be sent; spans are dropped until they can")
	case err == nil && r.down.Swap(false):
		r.log.Info("traces are sent again")
	}
	return nil
}
