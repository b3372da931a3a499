package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// Greeting is the args of the task greet.
type Greeting struct {
	To string `json:"to"`
}

// A program with a scheduler and an executor in it, and a task that runs every
// second. Any number of such programs may share a database.
func Example() {
	dir, err := os.MkdirTemp("", "nextrun")
	must(err)
	defer os.RemoveAll(dir)
	databaseURL := "sqlite:" + filepath.Join(dir, "app.db") // or postgres://...
	logrus.SetLevel(logrus.ErrorLevel)

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	db, err := store.Open(ctx, databaseURL, store.Options{Create: true})
	must(err)
	_, err = db.Migrator().Up(ctx)
	must(err)

	executor, err := executor.New(db.Jobs(), executor.Config{Name: "app"})
	must(err)
	executor.Register("greet", jobqueue.JSON(func(ctx context.Context, job *jobqueue.JobContext, args Greeting) error {
		fmt.Println("Good morning,", args.To)
		stop() // this example ends after one greeting
		return nil
	}))
	executor.Register(store.HousekeepingTask, db.Housekeeping()) // runs daily, deletes old rows

	scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "app"})
	must(err)
	must(executor.Start(ctx))
	must(scheduler.Start(ctx))

	task := periodic.NewTask("morning", "greet", "every 1s")
	task.Args = `{"to": "Ada"}`
	// At each start: what is there already stays. An INSERT from anywhere adds a task, too.
	_, err = periodic.NewTasks(db.Tasks()).Apply(ctx, periodic.Apply{Tasks: []periodic.Task{task}})
	must(err)

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
