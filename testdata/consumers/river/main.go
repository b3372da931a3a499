// Command river is a worker program of River, on PostgreSQL or SQLite, as its users
// write it. `river migrate` makes River's tables, `river work` runs jobs of the
// kind "proof" until SIGTERM and then waits for those that run. The other worker
// programs for the tests in .. have the same interface:
//
//	DATABASE_URL  the database: postgres://... or sqlite:PATH
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
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/mattn/go-sqlite3"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
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
	if path, ok := strings.CutPrefix(os.Getenv("DATABASE_URL"), "sqlite:"); ok {
		pool, err := sql.Open("sqlite3", "file:"+path+"?_busy_timeout=20000&_txlock=immediate")
		if err != nil {
			return err
		}
		pool.SetMaxOpenConns(1) // as River's manual asks
		defer func() { _ = pool.Close() }()
		return runOn(ctx, riversqlite.New(pool), args)
	}
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer pool.Close()
	return runOn(ctx, riverpgxv5.New(pool), args)
}

func runOn[Tx any](ctx context.Context, driver riverdriver.Driver[Tx], args []string) error {
	switch {
	case len(args) == 1 && args[0] == "migrate":
		return migrate(ctx, driver)
	case len(args) == 1 && args[0] == "work":
		return work(ctx, driver)
	}
	return errors.New("usage: river migrate | river work")
}

func migrate[Tx any](ctx context.Context, driver riverdriver.Driver[Tx]) error {
	migrator, err := rivermigrate.New(driver, nil)
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
	event("job", line)
	time.Sleep(time.Duration(args.MS) * time.Millisecond) // the work
	if args.Fail != "" && (args.Until == 0 || job.Attempt < args.Until) {
		return errors.New(args.Fail)
	}
	event("done", line)
	return nil
}

func work[Tx any](ctx context.Context, driver riverdriver.Driver[Tx]) error {
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
	client, err := river.NewClient(driver, &river.Config{
		Queues: queues, Workers: workers, FetchPollInterval: time.Duration(poll) * time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	event("ready", nil)
	<-ctx.Done()
	return client.Stop(context.Background()) // waits for the jobs that run
}

var printing sync.Mutex

// event prints a line of JSON with the event's name, the time, and more.
func event(name string, about map[string]any) {
	line := map[string]any{"event": name, "at": time.Now().UTC().Format(time.RFC3339Nano)}
	for key, value := range about {
		line[key] = value
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	printing.Lock()
	defer printing.Unlock()
	fmt.Println(string(text))
}
