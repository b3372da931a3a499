package tracing_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"

	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/ops/tracing"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/sqlite"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "tracing-")
	if err != nil {
		log.Fatal(err)
	}
	db, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "shop.db"), store.Options{Create: true})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := migrations.Of(db).Up(ctx); err != nil {
		log.Fatal(err)
	}
	provider, order := sdk.NewTracerProvider(), map[string]int{"order": 7}
	ctx, span := provider.Tracer("shop").Start(ctx, "POST /order")

	tracer := tracing.New(tracing.Options{Provider: provider})
	executor, err := executor.New(db.Jobs(), executor.Config{Name: "shop", Tracer: tracer})
	if err != nil {
		log.Fatal(err)
	}
	queue := jobqueue.NewQueue(db.Jobs()).Traced(tracer)
	jid, err := jobqueue.Submit(ctx, queue, "mail", order) // belongs to the trace in ctx
	if err != nil {
		log.Fatal(err)
	}

	slog.SetLogLoggerLevel(slog.LevelError)
	ran := make(chan struct{})
	executor.Register("mail", func(ctx context.Context, job *jobqueue.JobContext) error {
		fmt.Println(job.JID == jid, job.Traceparent[3:35] == span.SpanContext().TraceID().String(), jobqueue.Traceparent(ctx) == tracing.Traceparent(ctx))
		close(ran)
		return nil
	})
	if err := executor.Start(ctx); err != nil {
		log.Fatal(err)
	}
	<-ran
	span.End()
	_ = errors.Join(executor.Stop(ctx), db.Close(), os.RemoveAll(dir))
	// Output: true true true
}
