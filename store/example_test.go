package store_test

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
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/sqlite"
)

// Greeting is the args of the task greet.
type Greeting struct {
	To string `json:"to"`
}

// A program that declares its schedule, and has a scheduler and an executor in it. Any number of
// such programs may share a database, and start at once.
func Example() {
	dir, err := os.MkdirTemp("", "nextrun")
	must(err)
	defer os.RemoveAll(dir)
	databaseURL := "sqlite:" + filepath.Join(dir, "app.db") // or postgres://...
	slog.SetLogLoggerLevel(slog.LevelError)

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	db, err := store.Open(ctx, databaseURL, store.Options{Create: true})
	must(err)
	_, err = migrations.Of(db).Up(ctx)
	must(err)

	greet := func(ctx context.Context, job *jobqueue.JobContext, args Greeting) error {
		fmt.Println("Good morning,", args.To)
		stop() // this example ends after one greeting
		return nil
	}
	schedules := periodic.Schedules{
		periodic.NewSchedule("morning", "every 1s", Greeting{To: "Ada"}, greet).
			With(func(t *periodic.Task) { t.Overlap = periodic.OverlapQueue }),
	}
	_, err = periodic.NewTasks(db.Tasks()).Apply(ctx, periodic.Apply{Origin: "app", Tasks: schedules.Tasks()})
	must(err)

	executor, err := executor.New(db.Jobs(), executor.Config{Name: "app"})
	must(err)
	schedules.Register(executor)

	scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "app"})
	must(err)
	must(executor.Start(ctx))
	must(scheduler.Start(ctx))

	<-ctx.Done()
	must(scheduler.Stop(context.Background())) // finishes the current batch
	must(executor.Stop(context.Background()))  // waits for running jobs
	must(db.Close())

	// Output: Good morning, Ada
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
