package sloglog_test

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/periodic/sloglog"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/sqlite"
)

// A program that logs with slog, and has a scheduler, an executor and a relay in it. Their lines go where its own
// go, with the attributes of its logger.
func Example() {
	dir, err := os.MkdirTemp("", "nextrun")
	must(err)
	defer os.RemoveAll(dir)
	ctx := context.Background()
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: someAttrs})).With("program", "shop")

	db, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "app.db"), store.Options{Create: true})
	must(err)
	_, err = migrations.Of(db).Up(ctx)
	must(err)
	labels := periodic.NewTask("print-labels", "print", "yearly")
	tell := periodic.NewTask("tell-others", "shop.closed", "yearly")
	tell.Sink, tell.Group = periodic.SinkEvent, "shops"
	tasks := periodic.NewTasks(db.Tasks())
	for _, task := range []periodic.Task{labels, tell} {
		task.NextRun = time.Now()
		must(tasks.Add(ctx, task))
	}

	nextrun := sloglog.New(logger.Handler())
	clock, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "shop", Logger: nextrun})
	must(err)
	work, err := executor.New(db.Jobs(), executor.Config{Name: "shop", Logger: nextrun})
	must(err)
	printed := make(chan struct{})
	work.Register("print", func(context.Context, *jobqueue.JobContext) error {
		close(printed)
		return jobqueue.Permanent(errors.New("out of paper"))
	})
	sent := make(chan struct{})
	send := func(context.Context, outbox.Event) error {
		close(sent)
		return outbox.Refuse(errors.New("nobody listens"))
	}
	relay, err := relay.New(db.Outbox(), outbox.DeadAfter(1, outbox.OneByOne(send)), relay.Config{Name: "shop", Logger: nextrun})
	must(err)

	must(clock.RunOnce(ctx))
	must(work.Start(ctx))
	must(relay.Start(ctx))
	<-printed
	<-sent
	must(relay.Stop(ctx))
	must(work.Stop(ctx))
	must(db.Close())

	// Unordered output:
	// level=INFO msg="job submitted" program=shop task=print-labels
	// level=INFO msg="event written" program=shop task=tell-others
	// level=INFO msg="executor started" program=shop
	// level=WARN msg="job ended" program=shop error="out of paper" state=failed task=print-labels
	// level=ERROR msg="event refused, set aside as dead" program=shop error="nobody listens"
	// level=INFO msg="executor is stopping" program=shop
	// level=INFO msg="executor stopped" program=shop
}

// someAttrs leaves out what is another in each run of this example.
func someAttrs(_ []string, a slog.Attr) slog.Attr {
	if !slices.Contains([]string{slog.LevelKey, slog.MessageKey, "program", "task", "error", "state"}, a.Key) {
		return slog.Attr{}
	}
	return a
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
