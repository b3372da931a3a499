package store_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/sqlite"
)

// A program hears of each job that has failed for good, at least once.
func ExampleDB_Hooks() {
	dir, err := os.MkdirTemp("", "nextrun")
	must(err)
	defer func() { _ = os.RemoveAll(dir) }()
	slog.SetLogLoggerLevel(slog.LevelError)
	ctx := context.Background()
	db, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "nextrun.db"), store.Options{Create: true})
	must(err)
	defer func() { _ = db.Close() }()
	_, err = migrations.Of(db).Up(ctx)
	must(err)
	told := make(chan hooks.Notice, 1)
	stop := hookedExecutor(ctx, db, func(_ context.Context, n hooks.Notice) error {
		told <- n
		return nil
	})
	defer stop()
	_, err = jobqueue.NewQueue(db.Jobs()).Submit(ctx, jobqueue.Job{Task: "backup"})
	must(err)
	n := <-told
	fmt.Println(n.Hook, n.Handler, n.Error)
	// Output: on_failure backup no space left
}

// hookedExecutor runs an executor with hooks until stop.
func hookedExecutor(ctx context.Context, db *store.DB, tell func(context.Context, hooks.Notice) error) (stop func()) {
	own, err := db.Hooks(hooks.Hooks{
		All:   hooks.Set{hooks.OnFailure: hooks.Func(tell)},
		Tasks: map[string]hooks.Set{"nightly-backup": {hooks.OnSuccess: {Submit: "verify-backup"}}},
	}, nil)
	must(err)
	executor, err := executor.New(db.Jobs(), executor.Config{Name: "app", Hooks: own})
	must(err)
	executor.Register("backup", func(context.Context, *jobqueue.JobContext) error {
		return jobqueue.Permanent(fmt.Errorf("no space left"))
	})
	must(executor.Start(ctx))
	return func() {
		soon, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		_ = executor.Stop(soon)
	}
}
