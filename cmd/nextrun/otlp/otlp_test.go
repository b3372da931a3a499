package otlp_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sirupsen/logrus/hooks/test"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/nextrun/nextrun/cmd/nextrun/otlp"
	"github.com/nextrun/nextrun/jobqueue"
)

func variables(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"

func TestWhenSpansAreSent(t *testing.T) {
	t.Parallel()
	log, _ := test.NewNullLogger()
	for _, c := range []struct {
		on  bool
		env []string
	}{
		{false, nil},
		{true, []string{endpoint, "http://localhost:4318"}},
		{true, []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://localhost:4318/x"}},
		{true, []string{"OTEL_TRACES_EXPORTER", "otlp"}},
		{false, []string{"OTEL_TRACES_EXPORTER", "none", endpoint, "http://localhost:4318"}},
		{false, []string{"OTEL_SDK_DISABLED", "true", endpoint, "http://localhost:4318"}},
		{true, []string{endpoint, "http://h", "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", "OTEL_EXPORTER_OTLP_COMPRESSION", "gzip", "OTEL_EXPORTER_OTLP_TIMEOUT", "500"}},
	} {
		traces, err := otlp.New(variables(c.env...), "v1", log)
		if err != nil || (traces != nil) != c.on {
			t.Errorf("%q: on %t, %v; want %t", c.env, traces != nil, err, c.on)
		}
		if traces != nil {
			traces.Stop(t.Context())
		}
	}
}

// A mistake is named, without what may be a secret.
func TestBadVariables(t *testing.T) {
	t.Parallel()
	log, _ := test.NewNullLogger()
	for name, value := range map[string]string{
		"OTEL_TRACES_EXPORTER":                  "zipkin",
		"OTEL_EXPORTER_OTLP_PROTOCOL":           "grpc",
		"OTEL_EXPORTER_OTLP_COMPRESSION":        "zstd",
		"OTEL_EXPORTER_OTLP_TIMEOUT":            "10s",
		"OTEL_EXPORTER_OTLP_HEADERS":            "T0KEN",
		"OTEL_EXPORTER_OTLP_CERTIFICATE":        "none.pem",
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": "none.pem",
	} {
		_, err := otlp.New(variables(name, value, endpoint, "http://localhost:4318"), "v1", log)
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "T0KEN") {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
	if _, err := otlp.New(variables(endpoint, "user:T0KEN@localhost"), "v1", log); err == nil || strings.Contains(err.Error(), "T0KEN") {
		t.Errorf("the endpoint without a scheme: %v", err)
	}
}

// span makes a span.
func span(traces *otlp.Traces) {
	_, _, end := traces.Tracer.Run(context.Background(), &jobqueue.Job{JID: "j", Task: "backup"})
	end(nil)
}

// What the collector cannot take now is sent again, and none is lost at the end.
func TestSpansAreSentAgain(t *testing.T) {
	t.Parallel()
	log, _ := test.NewNullLogger()
	var asked, got atomic.Int64
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, _ := io.ReadAll(unpacked)
		var data tracepb.TracesData
		if err := proto.Unmarshal(body, &data); err != nil {
			t.Error(err)
		}
		for _, of := range data.GetResourceSpans() {
			for _, scope := range of.GetScopeSpans() {
				got.Add(int64(len(scope.GetSpans())))
			}
		}
	}))
	t.Cleanup(collector.Close)
	traces, err := otlp.New(variables(endpoint, collector.URL, "OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"), "v1", log)
	if err != nil {
		t.Fatal(err)
	}
	for range 600 { // more than one batch
		span(traces)
	}
	traces.Stop(context.Background())
	if got.Load() != 600 {
		t.Errorf("the collector got %d spans, want 600", got.Load())
	}
}

// That spans cannot be sent is said once, without secrets.
func TestRefusedSpansAreReportedOnce(t *testing.T) {
	t.Parallel()
	log, lines := test.NewNullLogger()
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(collector.Close)
	traces, err := otlp.New(variables(endpoint, strings.Replace(collector.URL, "://", "://user:T0KEN@", 1)+"?key=T0KEN", "OTEL_EXPORTER_OTLP_HEADERS", "x=T0KEN"), "v1", log)
	if err != nil {
		t.Fatal(err)
	}
	for range 1500 {
		span(traces)
	}
	traces.Stop(context.Background())
	if n := len(lines.AllEntries()); n != 1 {
		t.Errorf("%d lines, want one", n)
	}
	for _, line := range lines.AllEntries() {
		if text := line.Message + fmt.Sprint(line.Data); !strings.Contains(text, "401") || strings.Contains(text, "T0KEN") {
			t.Errorf("the line is %s", text)
		}
	}
}

// The end of the program does not wait for a collector that cannot be reached: neither
// for the last spans nor for those that are being sent.
func TestStopWithoutCollector(t *testing.T) {
	t.Parallel()
	log, lines := test.NewNullLogger()
	traces, err := otlp.New(variables(endpoint, "http://127.0.0.1:1"), "v1", log)
	if err != nil {
		t.Fatal(err)
	}
	for range 600 { // the first 512 are sent now
		span(traces)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	traces.Stop(ctx)
	if n := len(lines.AllEntries()); n != 1 {
		t.Errorf("%d lines, want one", n)
	}
}
