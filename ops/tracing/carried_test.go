package tracing_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
	"github.com/nextrun/nextrun/store"
)

// What is no traceparent harms neither a job nor an event, and goes nowhere.
func TestBadTraceparentIsIgnored(t *testing.T) {
	f := newFixture(t)
	bad := []string{"", "none", "00-00000000000000000000000000000000-b7ad6b7169203331-01", "ä' OR 1=1", strings.Repeat("x", 10_000), traceparent + "\r\nX-Evil: 1"}
	for _, text := range bad {
		f.Exec("INSERT INTO job (jid, task, traceparent) VALUES (?, 'x', ?)", jobqueue.NewID(), text)
	}
	f.work(len(bad), "x", func(ctx context.Context, job *jobqueue.JobContext) error {
		if got := jobqueue.Traceparent(ctx) + job.Traceparent; got != "" {
			t.Errorf("the handler passes %q on", got)
		}
		return nil
	}, nil)
	f.Want("0", "SELECT count(*) FROM job WHERE state <> 'success'")
	f.Exec("UPDATE job SET state = 'waiting', finished = NULL")
	f.work(len(bad), "x", func(context.Context, *jobqueue.JobContext) error { return nil }, f.tracer)
	for _, s := range f.spans.GetSpans() {
		if len(s.Links) > 0 {
			t.Errorf("a link to %+v", s.Links[0].SpanContext)
		}
	}
}

// Commands and calls get the trace of their attempt; without a tracer that of whoever
// submitted the job.
func TestTraceReachesWhatHandlersCall(t *testing.T) {
	f := newFixture(t)
	command, err := handlers.Command(handlers.CommandConfig{Argv: []string{"sh", "-c", "echo got $TRACEPARENT"}})
	if err != nil {
		t.Fatal(err)
	}
	headers := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { headers <- r.Header.Get("traceparent") }))
	t.Cleanup(server.Close)
	call, err := handlers.HTTP(handlers.HTTPConfig{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	handler := func(ctx context.Context, job *jobqueue.JobContext) error {
		return errors.Join(command(ctx, job), call(ctx, job))
	}
	f.Exec("INSERT INTO job (jid, task, traceparent) VALUES ('untraced', 'x', ?)", traceparent)
	f.work(1, "x", handler, nil)
	f.Want("got "+traceparent, "SELECT message FROM joblog WHERE jid = 'untraced' AND message LIKE 'got%'")
	if got := <-headers; got != traceparent {
		t.Errorf("the header is %q, want that of the job", got)
	}
	f.Exec("INSERT INTO job (jid, task, traceparent) VALUES ('traced', 'x', ?)", traceparent)
	f.work(1, "x", handler, f.tracer)
	want := header(f.span("process x"))
	f.Want("got "+want, "SELECT message FROM joblog WHERE jid = 'traced' AND message LIKE 'got%'")
	if got := <-headers; got != want {
		t.Errorf("the header is %q, want that of the attempt, %q", got, want)
	}
}

// Jobs and events that a handler submits with its context carry the trace of its attempt.
func TestTraceOfWhatAHandlerSubmits(t *testing.T) {
	f := newFixture(t)
	f.Exec("INSERT INTO job (jid, task) VALUES ('first', 'x')")
	f.work(1, "x", func(ctx context.Context, _ *jobqueue.JobContext) error {
		_, err := jobqueue.NewQueue(f.Store.Jobs()).Submit(ctx, jobqueue.Job{JID: "second", Task: "y"})
		if err != nil {
			return err
		}
		return f.Store.Update(ctx, func(tx *store.Tx) error {
			_, err := outbox.AppendTx(ctx, tx, outbox.Event{Topic: "t", Type: "y", AggregateID: "a"})
			return err
		})
	}, f.tracer)
	want := header(f.span("process x"))
	f.Want(want, "SELECT traceparent FROM job WHERE jid = 'second'")
	f.Want(want, "SELECT traceparent FROM event_store")
}

// A delivery is a trace of its own with links to those who appended the events. The
// receiver gets both: the header leads to the delivery, the event's attribute to its origin.
func TestTraceOfADelivery(t *testing.T) {
	f := newFixture(t)
	f.task("c", "report.due", "event")
	f.schedule()
	type got struct{ header, attribute string }
	receipts := make(chan got, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		receipts <- got{r.Header.Get("traceparent"), r.Header.Get("ce-traceparent")}
	}))
	t.Cleanup(server.Close)
	publisher, err := webhook.New(webhook.Config{URL: server.URL, Mode: webhook.Binary})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(publisher.Close)
	log := slog.New(slog.DiscardHandler)
	relay, err := relay.New(f.Store.Outbox(), publisher, relay.Config{Name: "r", Logger: log, Tracer: f.tracer})
	if err != nil {
		t.Fatal(err)
	}
	if err := relay.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	receipt := <-receipts
	storetest.Eventually(t, "publication", func() bool { return f.One("SELECT count(*) FROM outbox_message WHERE published IS NULL") == "0" })
	if err := relay.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	sent, delivered := f.span("send event"), f.span("send reports")
	f.linksTo(delivered, sent)
	f.has(delivered, "messaging.destination.name=reports", "nextrun.accepted=1")
	if want := (got{header(delivered), header(sent)}); receipt != want {
		t.Errorf("the receiver got %+v, want %+v", receipt, want)
	}
}

// A run that fails says so, and is tried again in a trace of its own, with the same link.
func TestTraceOfFailedAttempts(t *testing.T) {
	f := newFixture(t)
	f.Exec("INSERT INTO job (jid, task, traceparent, retry_limit) VALUES ('j', 'flaky', ?, 1)", traceparent)
	first := true
	f.work(2, "flaky", func(context.Context, *jobqueue.JobContext) error {
		if first {
			first = false
			return errors.New("disk full")
		}
		panic("lost its head")
	}, f.tracer)
	spans := f.spans.GetSpans()
	if len(spans) != 2 || spans[0].SpanContext.TraceID() == spans[1].SpanContext.TraceID() {
		t.Fatalf("%d spans, want two in two traces", len(spans))
	}
	for i, want := range []string{"disk full", "panic: lost its head"} {
		s := spans[i]
		if s.Status.Code != codes.Error || s.Status.Description != want {
			t.Errorf("the status is %+v, want %q", s.Status, want)
		}
		if len(s.Links) != 1 || s.Links[0].SpanContext.SpanID().String() != "b7ad6b7169203331" {
			t.Errorf("the links are %+v", s.Links)
		}
	}
	f.has(spans[0], "nextrun.attempt=1", "error.type=_OTHER")
	f.has(spans[1], "nextrun.attempt=2")
}
