package main_test

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// collector receives spans by OTLP over HTTP.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	spans map[string]*tracepb.Span // by name
	paths map[string]bool
	names map[string]bool // of services
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{spans: map[string]*tracepb.Span{}, paths: map[string]bool{}, names: map[string]bool{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var data tracepb.TracesData
		if err != nil || proto.Unmarshal(body, &data) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.paths[r.Method+" "+r.URL.Path+" "+r.Header.Get("Content-Type")+" "+r.Header.Get("Api-Key")] = true
		for _, of := range data.GetResourceSpans() {
			for _, a := range of.GetResource().GetAttributes() {
				if a.GetKey() == "service.name" {
					c.names[a.GetValue().GetStringValue()] = true
				}
			}
			for _, scope := range of.GetScopeSpans() {
				for _, s := range scope.GetSpans() {
					c.spans[s.GetName()] = s
				}
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// traced starts the program with a handler, and ends it when a job of it has ended.
func traced(t *testing.T, d *storetest.Database, binary string) {
	t.Helper()
	config := filepath.Join(t.TempDir(), "nextrun.yaml")
	write(t, config, "handlers: {backup: {command: [sh, -c, 'echo in $TRACEPARENT']}}\n")
	nextrun(t, d.URL, ui.Done, "migrate", "up")
	d.Exec("DELETE FROM periodic_task")
	d.Exec("INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('nightly', 'backup', 'yearly', '2026-01-01 00:00:00.000000')")
	p := startProcess(t, d.URL, binary, "serve", "--config", config)
	storetest.Eventually(t, "end of the job", func() bool { return d.One("SELECT count(*) FROM job WHERE state = 'success'") == "1" })
	p.signal(syscall.SIGTERM)
	if code := p.end(); code != ui.Done {
		t.Errorf("exit code %d", code)
	}
}

// The program sends its spans to where the variables say, the last ones when it ends.
func TestProgramSendsTraces(t *testing.T) {
	binary := build(t)
	collector := newCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL+"/otel")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=s%20ecret")
	t.Setenv("OTEL_SERVICE_NAME", "nightshift")
	t.Setenv("TRACEPARENT", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01") // of who started the program: no job belongs to it
	for _, kind := range []string{storetest.SQLite, storetest.Postgres} {
		t.Run(kind, func(t *testing.T) {
			d := storetest.New(t, kind)
			traced(t, d, binary)
			collector.mu.Lock()
			defer collector.mu.Unlock()
			sent, run := collector.spans["send job"], collector.spans["process backup"]
			if sent == nil || run == nil {
				t.Fatalf("the collector has %v", collector.spans)
			}
			if len(run.GetLinks()) != 1 || string(run.GetLinks()[0].GetSpanId()) != string(sent.GetSpanId()) ||
				string(run.GetLinks()[0].GetTraceId()) != string(sent.GetTraceId()) || string(run.GetTraceId()) == string(sent.GetTraceId()) {
				t.Errorf("the run is in trace %x with the links %v; want a trace of its own with a link to %x", run.GetTraceId(), run.GetLinks(), sent.GetSpanId())
			}
			d.Want("in 00-"+hex.EncodeToString(run.GetTraceId())+"-"+hex.EncodeToString(run.GetSpanId())+"-01",
				"SELECT message FROM joblog WHERE message LIKE 'in %'")
			if !collector.paths["POST /otel/v1/traces application/x-protobuf s ecret"] || !collector.names["nightshift"] {
				t.Errorf("the collector got %v of %v", collector.paths, collector.names)
			}
			clear(collector.spans)
		})
	}
}

// A collector that cannot be reached stops nothing.
func TestProgramWithoutCollector(t *testing.T) {
	binary := build(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	traced(t, storetest.New(t, storetest.SQLite), binary)
}
