// Package otlp sends the spans of the program to a collector, by OTLP over HTTP, as the
// variables of OpenTelemetry say:
// https://opentelemetry.io/docs/specs/otel/protocol/exporter/
//
// The SDK batches spans and makes OTLP of them. Only the HTTP request is made here: the
// SDK's own client would link gRPC, a fifth of the program's size.
//
// Nothing waits for the collector: while it is down, spans are dropped once the queue of
// the SDK is full.
package otlp
