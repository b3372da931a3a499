package jobqueue_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store"
)

// An executor in a program, with one task whose args are JSON.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "nextrun")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	db, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "nextrun.db"), store.Options{Create: true})
	if err != nil {
		panic(err)
	}
	defer db.Close()
	if _, err := db.Migrator().Up(ctx); err != nil {
		panic(err)
	}

	executor, err := jobqueue.NewExecutor(db.Jobs(), jobqueue.Config{Name: "example"})
	if err != nil {
		panic(err)
	}
	type mail struct{ To string }
	sent := make(chan string)
	executor.Register("mail", jobqueue.JSON(func(_ context.Context, job *jobqueue.JobContext, m mail) error {
		if m.To == "" {
			return jobqueue.Permanent(errors.New("nobody to write to"))
		}
		job.Logf(jobqueue.Info, "writing to %s", m.To)
		sent <- m.To
		return nil
	}))
	if err := executor.Start(ctx); err != nil {
		panic(err)
	}

	queue := jobqueue.NewQueue(db.Jobs())
	if _, err := queue.Submit(ctx, jobqueue.Job{Task: "mail", Args: `{"to": "ada@example.org"}`}); err != nil {
		panic(err)
	}
	fmt.Println("sent to", <-sent)
	if err := executor.Stop(ctx); err != nil {
		panic(err)
	}
	// Output: sent to ada@example.org
}
