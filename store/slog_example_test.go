package store_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sirupsen/logrus"
	logrusslog "github.com/sirupsen/logrus/hooks/slog"

	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/sqlite"
)

// A program that logs with slog gets nextrun's lines where its own go, with the attributes of its logger.
func Example_slog() {
	dir, err := os.MkdirTemp("", "nextrun")
	must(err)
	defer os.RemoveAll(dir)
	ctx := context.Background()
	program := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: someAttrs})).With("program", "shop")

	logger := logrus.New()
	logger.SetOutput(io.Discard)
	logger.AddHook(logrusslog.NewHook(program, nil))

	db, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "app.db"), store.Options{Create: true})
	must(err)
	defer db.Close()
	_, err = migrations.Of(db).Up(ctx)
	must(err)
	task := periodic.NewTask("print-labels", "print", "yearly")
	task.NextRun = time.Now()
	must(periodic.NewTasks(db.Tasks()).Add(ctx, task))
	clock, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "shop", Logger: logger})
	must(err)
	must(clock.RunOnce(ctx))

	// Output:
	// level=INFO msg="job submitted" program=shop task=print-labels
}

// someAttrs leaves out what is another in each run of this example.
func someAttrs(_ []string, a slog.Attr) slog.Attr {
	if !slices.Contains([]string{slog.LevelKey, slog.MessageKey, "program", "task"}, a.Key) {
		return slog.Attr{}
	}
	return a
}
