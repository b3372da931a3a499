// Command riversqlite is a worker program of River on SQLite: as ../river, with
// DATABASE_URL in the form sqlite:PATH. It is a module of its own because River's
// driver for SQLite needs an older River.
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

	_ "github.com/mattn/go-sqlite3"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "riversqlite:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	path := strings.TrimPrefix(os.Getenv("DATABASE_URL"), "sqlite:")
	pool, err := sql.Open("sqlite3", "file:"+path+"?_busy_timeout=20000&_txlock=immediate")
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(1) // as River's manual asks
	defer func() { _ = pool.Close() }()
	switch {
	case len(args) == 1 && args[0] == "migrate":
		return migrate(ctx, pool)
	case len(args) == 1 && args[0] == "work":
		return work(ctx, pool)
	}
	return errors.New("usage: riversqlite migrate | riversqlite work")
}

func migrate(ctx context.Context, pool *sql.DB) error {
	migrator, err := rivermigrate.New(riversqlite.New(pool), nil)
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
	print *printer
}

func (w worker) Work(_ context.Context, job *river.Job[proofArgs]) error {
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
	w.print.event("job", line)
	time.Sleep(time.Duration(args.MS) * time.Millisecond) // the work
	if args.Fail != "" && (args.Until == 0 || job.Attempt < args.Until) {
		return errors.New(args.Fail)
	}
	w.print.event("done", line)
	return nil
}

func work(ctx context.Context, pool *sql.DB) error {
	print := &printer{}
	workers := river.NewWorkers()
	river.AddWorker(workers, worker{print: print})
	poll, err := strconv.Atoi(os.Getenv("POLL_MS"))
	if err != nil {
		return fmt.Errorf("POLL_MS: %w", err)
	}
	queues := map[string]river.QueueConfig{}
	for name := range strings.SplitSeq(os.Getenv("QUEUES"), ",") {
		queues[name] = river.QueueConfig{MaxWorkers: 400}
	}
	client, err := river.NewClient(riversqlite.New(pool), &river.Config{
		Queues: queues, Workers: workers, FetchPollInterval: time.Duration(poll) * time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	print.event("ready", nil)
	<-ctx.Done()
	return client.Stop(context.Background()) // waits for the jobs that run
}

// printer prints the events, each on a line.
type printer struct{ sync.Mutex }

func (p *printer) event(name string, about map[string]any) {
	line := map[string]any{"event": name, "at": time.Now().UTC().Format(time.RFC3339Nano)}
	for key, value := range about {
		line[key] = value
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	p.Lock()
	defer p.Unlock()
	fmt.Println(string(text))
}
