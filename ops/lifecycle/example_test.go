package lifecycle_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/ops/lifecycle"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/sqlite"
)

// A program with a scheduler, an executor and a relay, which reports its health. It
// starts them in order, and stops them in the reverse one.
func Example() {
	dir, err := os.MkdirTemp("", "nextrun")
	must(err)
	defer os.RemoveAll(dir)
	slog.SetLogLoggerLevel(slog.LevelError)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	db, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "app.db"), store.Options{Create: true}) // or postgres://...
	must(err)
	process, err := lifecycle.New(lifecycle.Config{HealthAddress: "127.0.0.1:0"}) // port 0: any that is free
	must(err)
	process.Add(lifecycle.Database(db), lifecycle.Schema(db, true, nil)) // true: make the tables
	must(process.Up(ctx))

	publish := outbox.PublisherFunc(func(_ context.Context, events []outbox.Event) (int, error) { return len(events), nil })
	relay, err := relay.New(db.Outbox(), publish, relay.Config{Name: "app"})
	must(err)
	scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "app"})
	must(err)
	executor, err := executor.New(db.Jobs(), executor.Config{Name: "app"})
	must(err)
	executor.Register("greet", func(ctx context.Context, _ *jobqueue.JobContext) error {
		for _, one := range process.Health(ctx).Stages {
			fmt.Println(one.Stage, "is", one.State)
		}
		stop() // this example ends after one greeting
		return nil
	})
	process.AddService("relay", relay)
	process.AddService("executor", executor)
	process.AddService("scheduler", scheduler)

	must(periodic.NewTasks(db.Tasks()).Add(ctx, periodic.NewTask("morning", "greet", "every 1s")))
	must(process.Run(ctx)) // until ctx ends

	// Output:
	// health is up
	// database is up
	// schema is up
	// relay is up
	// executor is up
	// scheduler is up
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
