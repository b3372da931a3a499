package jobqueue_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/sqlite"
)

// An executor in a program, with one task whose args are JSON.
func Example() {
	ctx := context.Background()
	db, end := exampleDB(ctx)
	defer end()

	executor, err := executor.New(db.Jobs(), executor.Config{Name: "example"})
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
	if _, err := jobqueue.Submit(ctx, queue, "mail", mail{To: "ada@example.org"}); err != nil {
		panic(err)
	}
	fmt.Println("sent to", <-sent)
	if err := executor.Stop(ctx); err != nil {
		panic(err)
	}
	// Output: sent to ada@example.org
}

// Put a job into the queue whose args are a value, to begin in an hour, and never to be
// tried again.
func ExampleSubmit() {
	ctx := context.Background()
	db, end := exampleDB(ctx)
	defer end()
	queue := jobqueue.NewQueue(db.Jobs()) // queue.In(tx): in your own transaction

	type payment struct{ Invoice string }
	jid, err := jobqueue.Submit(ctx, queue, "pay", payment{Invoice: "2026-001"}, jobqueue.At(time.Now().Add(time.Hour)),
		func(job *jobqueue.Job) { job.Limits.RetryLimit = executor.Never })
	if err != nil {
		panic(err)
	}
	job, err := queue.Get(ctx, jid)
	if err != nil {
		panic(err)
	}
	fmt.Println(job.State, job.Task, job.Args, time.Until(job.Retry).Round(time.Minute))
	// Output: waiting pay {"Invoice":"2026-001"} 1h0m0s
}

// exampleDB makes a database for an example.
func exampleDB(ctx context.Context) (db *store.DB, end func()) {
	dir, err := os.MkdirTemp("", "nextrun")
	if err != nil {
		panic(err)
	}
	db, err = store.Open(ctx, "sqlite:"+filepath.Join(dir, "nextrun.db"), store.Options{Create: true})
	if err != nil {
		panic(err)
	}
	if _, err := migrations.Of(db).Up(ctx); err != nil {
		panic(err)
	}
	return db, func() { _ = db.Close(); _ = os.RemoveAll(dir) }
}

// Test a handler without an executor and a database.
func ExampleNewJobContext() {
	handler := func(_ context.Context, job *jobqueue.JobContext) error {
		job.Logf(jobqueue.Info, "args are %s", job.Args)
		job.SetProgress(50)
		job.SetResult("half done")
		return nil
	}
	job := jobqueue.NewJobContext(jobqueue.Job{Task: "mail", Args: `{"to": "ada@example.org"}`})
	err := handler(context.Background(), job)
	said := job.Record()
	fmt.Println(err, said.Lines[0].Message, said.Progress, said.Result)
	// Output: <nil> args are {"to": "ada@example.org"} 50 half done
}
