package tracing_test

import (
	"context"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/ops/tracing"
	"github.com/nextrun/nextrun/periodic/scheduler"
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

// newFixture is on SQLite: what spans say, no database makes different.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	d := migrated.New(t, storetest.SQLite)
	spans := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(spans))
	return &fixture{t, d, spans, provider, tracing.New(tracing.Options{Provider: provider, Version: "v1"})}
}

// task adds a task that is due.
func (f *fixture) task(id, handler, sink string) {
	f.Exec("INSERT INTO periodic_task (id, task, group_, args, timer, sink, nextrun) VALUES (?, ?, 'reports', '{\"secret\": 1}', 'yearly', ?, '2026-01-01 00:00:00.000000')", id, handler, sink)
}

func (f *fixture) schedule() {
	f.Helper()
	f.Schedule(func(c *scheduler.Config) { c.Tracer = f.tracer })
}

// work runs the jobs of a handler until n attempts have ended. Without a tracer they
// are not traced.
func (f *fixture) work(n int, task string, handler jobqueue.Handler, tracer executor.Tracer) {
	f.Helper()
	f.Work(n, task, handler, func(c *executor.Config) { c.RetryDelay, c.Tracer = 1, tracer })
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
	f := newFixture(t)
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
}

// Jobs that a program submits belong to the trace of the program.
func TestTraceOfAProgram(t *testing.T) {
	f := newFixture(t)
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
}

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
