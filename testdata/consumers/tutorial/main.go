// Command worker runs the jobs of River's queue.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// ReportArgs are the args of a job.
type ReportArgs struct {
	To string `json:"to"`
}

// Kind is what the column task of a periodic task has to say.
func (ReportArgs) Kind() string { return "report" }

type reportWorker struct {
	river.WorkerDefaults[ReportArgs]
}

func (reportWorker) Work(_ context.Context, job *river.Job[ReportArgs]) error {
	if job.Args.To == "" {
		return errors.New("nobody to report to")
	}
	fmt.Println("report to", job.Args.To, "for", job.ScheduledAt.UTC().Format("2006-01-02 15:04"))
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	workers := river.NewWorkers()
	river.AddWorker(workers, reportWorker{})
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 10}},
		Workers: workers,
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	<-ctx.Done()
	if err := client.Stop(context.Background()); err != nil {
		log.Fatal(err)
	}
}
