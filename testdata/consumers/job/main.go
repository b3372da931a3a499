// Command job is a worker program of nextrun's own queue, with the interface of
// ../river: what the tests expect of other queues has to hold for this one, too.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/postgres"
	"github.com/nextrun/nextrun/testdata/consumers/report"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "migrate" {
		return // the tables are nextrun's
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := work(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "job:", err)
		os.Exit(1)
	}
}

func work(ctx context.Context) error {
	db, err := store.Open(ctx, os.Getenv("DATABASE_URL"), store.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	log := logrus.New()
	log.SetLevel(logrus.WarnLevel)
	executor, err := executor.New(db.Jobs(), executor.Config{Name: "proof", PoolSize: 400, Logger: log})
	if err != nil {
		return err
	}
	executor.Register("proof", proof)
	if err := executor.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	report.Event("ready", nil)
	<-ctx.Done()
	return executor.Stop(context.Background()) // waits for the jobs that run
}

func proof(_ context.Context, job *jobqueue.JobContext) error {
	var args struct{ MS int }
	if err := json.Unmarshal([]byte(job.Args), &args); err != nil {
		return err
	}
	line := map[string]any{"task": job.Task, "due": job.Due, "jid": job.JID, "args": json.RawMessage(job.Args)}
	report.Event("job", line)
	time.Sleep(time.Duration(args.MS) * time.Millisecond) // the work
	report.Event("done", line)
	return nil
}
