package tracing_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sirupsen/logrus/hooks/test"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/storetest"
	"github.com/nextrun/nextrun/store/storetest/migrated"
	"github.com/nextrun/nextrun/store/tracing"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

// fixture is a database, and the spans that were made.
type fixture struct {
	*testing.T
	*migrated.Database
	spans    *tracetest.InMemoryExporter
	provider *sdk.TracerProvider
	tracer   *tracing.Tracer
}

func both(t *testing.T, run func(f *fixture)) {
	t.Helper()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		spans := tracetest.NewInMemoryExporter()
		provider := sdk.NewTracerProvider(sdk.WithSyncer(spans))
		d.Exec("DELETE FROM periodic_task")
		run(&fixture{t, d, spans, provider, tracing.New(tracing.Options{Provider: provider, Version: "v1"})})
	})
}

// task adds a task that is due.
func (f *fixture) task(id, handler, sink string) {
	f.Exec("INSERT INTO periodic_task (id, task, group_, args, timer, sink, nextrun) VALUES (?, ?, 'reports', '{\"secret\": 1}', 'yearly', ?, '2026-01-01 00:00:00.000000')", id, handler, sink)
}

func (f *fixture) schedule() {
	f.Helper()
	log, _ := test.NewNullLogger()
	s, err := periodic.New(f.Store.Periodic(), periodic.Config{Name: "s", Logger: log, Tracer: f.tracer})
	if err == nil {
		err = s.RunOnce(f.Context())
	}
	if err != nil {
		f.Fatal(err)
	}
}

// work runs the jobs of a handler until n attempts have ended. Without a tracer they
// are not traced.
func (f *fixture) work(n int, task string, handler jobqueue.Handler, tracer jobqueue.RunTracer) {
	f.Helper()
	f.workWith(nil, n, task, handler, tracer)
}

func (f *fixture) workWith(hooks jobqueue.Hooks, n int, task string, handler jobqueue.Handler, tracer jobqueue.RunTracer) {
	f.Helper()
	log, _ := test.NewNullLogger()
	ended := make(chan struct{}, 100)
	e, err := jobqueue.NewExecutor(f.Store.Jobs(), jobqueue.Config{Name: "e", Logger: log, RetryDelay: 1, Hooks: hooks, Tracer: tracer, Observe: func(e jobqueue.Event) {
		if e.Kind == jobqueue.EventEnded {
			ended <- struct{}{}
		}
	}})
	if err != nil {
		f.Fatal(err)
	}
	e.Register(task, handler)
	if err := e.Start(f.Context()); err != nil {
		f.Fatal(err)
	}
	for range n {
		<-ended
	}
	if err := e.Stop(f.Context()); err != nil {
		f.Error(err)
	}
}

// span is the only span of a name.
func (f *fixture) span(name string) tracetest.SpanStub {
	f.Helper()
	var found []tracetest.SpanStub
	var names []string
	for _, s := range f.spans.GetSpans() {
		names = append(names, s.Name)
		if s.Name == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		f.Fatalf("%d spans %q among %q, want one", len(found), name, names)
	}
	return found[0]
}

// linksTo fails unless a span begins a trace of its own, with a link to another one.
func (f *fixture) linksTo(s, to tracetest.SpanStub) {
	f.Helper()
	if s.Parent.IsValid() || s.SpanContext.TraceID() == to.SpanContext.TraceID() {
		f.Errorf("span %q is in the trace of another one; want one of its own", s.Name)
	}
	if len(s.Links) != 1 || s.Links[0].SpanContext.SpanID() != to.SpanContext.SpanID() || s.Links[0].SpanContext.TraceID() != to.SpanContext.TraceID() {
		f.Errorf("the links of %q are %+v; want one to %q", s.Name, s.Links, to.Name)
	}
}

// has fails unless a span has attributes, as name=value.
func (f *fixture) has(s tracetest.SpanStub, want ...string) {
	f.Helper()
	set := attribute.NewSet(s.Attributes...)
	have := set.Encoded(attribute.DefaultEncoder())
	for _, w := range want {
		if !strings.Contains(","+have+",", ","+w+",") {
			f.Errorf("span %q has the attributes %s, not %s", s.Name, have, w)
		}
	}
	if strings.Contains(have, "secret") {
		f.Errorf("span %q shows args: %s", s.Name, have)
	}
}

// header is the traceparent of a span.
func header(s tracetest.SpanStub) string {
	return tracing.Traceparent(trace.ContextWithSpanContext(context.Background(), s.SpanContext))
}

func TestTraceOfATickReachesItsRun(t *testing.T) {
	both(t, func(f *fixture) {
		f.task("nightly", "backup", "job")
		f.schedule()
		sent := f.span("send job")
		f.Want(header(sent), "SELECT traceparent FROM job")
		if sent.Parent.IsValid() || sent.SpanKind != trace.SpanKindProducer {
			t.Errorf("the span of the batch is %v in %v; want a producer's in a trace of its own", sent.SpanKind, sent.Parent)
		}
		jid := f.One("SELECT jid FROM job")
		f.has(sent, "messaging.system=nextrun", "messaging.operation.type=send", "messaging.destination.name=job",
			"messaging.message.id="+jid, "nextrun.task=nightly", "nextrun.due=2026-01-01T00:00:00Z")
		var inHandler trace.SpanContext
		var passedOn string
		f.work(1, "backup", func(ctx context.Context, _ *jobqueue.JobContext) error {
			inHandler, passedOn = trace.SpanContextFromContext(ctx), jobqueue.Traceparent(ctx)
			return nil
		}, f.tracer)
		run := f.span("process backup")
		f.linksTo(run, sent)
		f.has(run, "messaging.system=nextrun", "messaging.operation.type=process", "messaging.message.id="+jid,
			"nextrun.handler=backup", "nextrun.group=reports", "nextrun.attempt=1")
		if run.SpanKind != trace.SpanKindConsumer || run.Status.Code != codes.Unset {
			t.Errorf("the span of the run is %v with status %v", run.SpanKind, run.Status)
		}
		if inHandler.SpanID() != run.SpanContext.SpanID() || passedOn != header(run) {
			t.Errorf("the handler has the span %v and passes %q on, want those of its run %v", inHandler, passedOn, run.SpanContext)
		}
	})
}

// A batch has one span for each queue, and a round that submits nothing has none.
func TestSpansOfABatch(t *testing.T) {
	both(t, func(f *fixture) {
		f.schedule()
		if n := len(f.spans.GetSpans()); n != 0 {
			t.Errorf("%d spans of nothing", n)
		}
		f.task("a", "backup", "job")
		f.task("b", "backup", "job")
		f.task("c", "report.due", "event")
		f.schedule()
		f.has(f.span("send job"), "messaging.batch.message_count=2")
		f.Want("2", "SELECT count(*) FROM job WHERE traceparent = ?", header(f.span("send job")))
		f.Want(header(f.span("send event")), "SELECT traceparent FROM event_store")
	})
}

// Jobs that a program submits belong to the trace of the program.
func TestTraceOfAProgram(t *testing.T) {
	both(t, func(f *fixture) {
		queue := jobqueue.NewQueue(f.Store.Jobs()).Traced(f.tracer)
		ctx, order := f.provider.Tracer("shop").Start(t.Context(), "order")
		if _, err := jobqueue.Submit(ctx, queue, "mail", "x"); err != nil {
			t.Fatal(err)
		}
		tx := f.Connect().MustBegin()
		if _, err := queue.In(tx).Submit(ctx, jobqueue.Job{Task: "mail", Traceparent: "none"}, jobqueue.Job{Task: "own", Traceparent: traceparent}); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		_, err := queue.Submit(ctx, jobqueue.Job{Task: "twice", Tracker: "t", Single: true}, jobqueue.Job{Task: "twice", Tracker: "t", Single: true})
		if err == nil {
			t.Fatal("two single jobs were added")
		}
		order.End()
		var failed int
		for _, s := range f.spans.GetSpans() {
			if s.Name != "send job" {
				continue
			}
			if s.Parent.SpanID() != order.SpanContext().SpanID() {
				t.Errorf("the parent is %v, want the program's span", s.Parent)
			}
			if s.Status.Code == codes.Error {
				failed++
			} else {
				f.Want("1", "SELECT count(*) FROM job WHERE task = 'mail' AND traceparent = ?", header(s))
			}
		}
		if failed != 1 {
			t.Errorf("%d spans have failed, want that of the refused jobs", failed)
		}
		f.Want(traceparent, "SELECT traceparent FROM job WHERE task = 'own'")
	})
}

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// A run that fails says so, and is tried again in a trace of its own, with the same link.
func TestTraceOfFailedAttempts(t *testing.T) {
	both(t, func(f *fixture) {
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
	})
}

// What is no traceparent harms neither a job nor an event, and goes nowhere.
func TestBadTraceparentIsIgnored(t *testing.T) {
	both(t, func(f *fixture) {
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
	})
}

// Commands and calls get the trace of their attempt; without a tracer that of whoever
// submitted the job.
func TestTraceReachesWhatHandlersCall(t *testing.T) {
	both(t, func(f *fixture) {
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
	})
}

// Jobs and events that a handler submits with its context carry the trace of its attempt.
func TestTraceOfWhatAHandlerSubmits(t *testing.T) {
	both(t, func(f *fixture) {
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
	})
}

// A delivery is a trace of its own with links to those who appended the events. The
// receiver gets both: the header leads to the delivery, the event's attribute to its origin.
func TestTraceOfADelivery(t *testing.T) {
	both(t, func(f *fixture) {
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
		log, _ := test.NewNullLogger()
		relay, err := outbox.New(f.Store.Outbox(), publisher, outbox.Config{Name: "r", Logger: log, Tracer: f.tracer})
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
	})
}

// A hook that hears of a failure gets the trace of the run that failed: in the notice, and
// as a link of its delivery.
func TestTraceOfAHook(t *testing.T) {
	both(t, func(f *fixture) {
		type heard struct{ notice, passedOn string }
		told := make(chan heard, 10)
		made, err := f.Store.Hooks(hooks.Hooks{All: hooks.Set{OnFailure: hooks.Func(func(ctx context.Context, n hooks.Notice) error {
			told <- heard{n.Traceparent, jobqueue.Traceparent(ctx)}
			return nil
		})}})
		if err != nil {
			t.Fatal(err)
		}
		f.Exec("INSERT INTO job (jid, task, traceparent, retry_limit) VALUES ('j', 'x', ?, 0)", traceparent)
		f.workWith(made, 1, "x", func(context.Context, *jobqueue.JobContext) error { return errors.New("disk full") }, f.tracer)
		log, _ := test.NewNullLogger()
		relay, err := made.Relay(outbox.Config{Name: "r", Logger: log, Tracer: f.tracer}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := relay.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := <-told
		storetest.Eventually(t, "delivery", func() bool { return f.One("SELECT count(*) FROM outbox_message WHERE published IS NULL") == "0" })
		if err := relay.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		run, delivered := f.span("process x"), f.span("send "+f.One("SELECT topic FROM event_store"))
		f.linksTo(delivered, run)
		if want := (heard{header(run), header(delivered)}); got != want {
			t.Errorf("the hook got %+v, want %+v", got, want)
		}
	})
}
