// Command river is a worker program of River on PostgreSQL, as its users write
// it. `river migrate` makes River's tables, `river work` runs jobs of the
// kind "proof" until SIGTERM and then waits for those that run. The other worker
// programs for the tests in .. have the same interface:
//
//	DATABASE_URL  the database
//	QUEUES        names of queues, with commas between them
//	POLL_MS       milliseconds between two looks for jobs without a notification
//
// It prints lines of JSON: {"event":"ready"}, then {"event":"job"} for each job
// that it starts and {"event":"done"} for each that has succeeded. The args
// {"ms": N} say how long a job takes, {"fail": "why", "until": N} that it fails before
// attempt N, or without until at each.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/nextrun/nextrun/testdata/consumers/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "river:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer pool.Close()
	switch {
	case len(args) == 1 && args[0] == "migrate":
		return migrate(ctx, pool)
	case len(args) == 1 && args[0] == "work":
		return work(ctx, pool)
	}
	return errors.New("usage: river migrate | river work")
}

func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// proofArgs are a job's args as they are in the table.
type proofArgs struct{ json.RawMessage }

func (proofArgs) Kind() string { return "proof" }

type worker struct {
	river.WorkerDefaults[proofArgs]
}

func (worker) Work(_ context.Context, job *river.Job[proofArgs]) error {
	var about struct{ Nextrun map[string]any }
	if err := json.Unmarshal(job.Metadata, &about); err != nil {
		return err
	}
	var args struct {
		MS, Until int
		Fail      string
	}
	if err := json.Unmarshal(job.EncodedArgs, &args); err != nil {
		return err
	}
	line := map[string]any{
		"task": job.Kind, "due": about.Nextrun["due"], "jid": about.Nextrun["jid"], "args": json.RawMessage(job.EncodedArgs),
	}
	report.Event("job", line)
	time.Sleep(time.Duration(args.MS) * time.Millisecond) // the work
	if args.Fail != "" && (args.Until == 0 || job.Attempt < args.Until) {
		return errors.New(args.Fail)
	}
	report.Event("done", line)
	return nil
}

func work(ctx context.Context, pool *pgxpool.Pool) error {
	workers := river.NewWorkers()
	river.AddWorker(workers, worker{})
	poll, err := strconv.Atoi(os.Getenv("POLL_MS"))
	if err != nil {
		return fmt.Errorf("POLL_MS: %w", err)
	}
	queues := map[string]river.QueueConfig{}
	for name := range strings.SplitSeq(os.Getenv("QUEUES"), ",") {
		queues[name] = river.QueueConfig{MaxWorkers: 400}
	}
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Queues: queues, Workers: workers, FetchPollInterval: time.Duration(poll) * time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	report.Event("ready", nil)
	<-ctx.Done()
	return client.Stop(context.Background()) // waits for the jobs that run
}
