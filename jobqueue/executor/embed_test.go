package executor_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// Scheduler and executor in one program: a task of every second, and the Go
// function that runs its jobs.
func Example_embedded() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "nextrun")
	check(err)
	defer os.RemoveAll(dir)
	db, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "nextrun.db"), store.Options{Create: true})
	check(err)
	defer db.Close()
	_, err = migrations.Of(db).Up(ctx)
	check(err)
	task := periodic.NewTask("hello", "greet", "every 1s")
	task.Args = `{"name": "Ada"}`
	check(periodic.NewTasks(db.Tasks()).Add(ctx, task))

	scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "example"})
	check(err)
	executor, err := executor.New(db.Jobs(), executor.Config{Name: "example"})
	check(err)
	greeted := make(chan string)
	executor.Register("greet", jobqueue.JSON(func(_ context.Context, _ *jobqueue.JobContext, args struct{ Name string }) error {
		greeted <- "hello " + args.Name
		return nil
	}))
	check(scheduler.Start(ctx))
	check(executor.Start(ctx))
	fmt.Println(<-greeted)
	go func() {
		for range greeted { // what still comes until all is stopped
		}
	}()
	check(scheduler.Stop(ctx))
	check(executor.Stop(ctx))
	close(greeted)
	// Output: hello Ada
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
