package ui

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/ops/docspell"
	"github.com/nextrun/nextrun/ops/notify"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// Notifier tells who runs the jobs of the queue job of new ones: the URL of the configuration, or on
// Docspell's database its job executors.
type Notifier struct{ *notify.Notifier } // nil: there is nobody to tell

// NewNotifier makes the notifier of a process, without starting it.
func NewNotifier(ctx context.Context, env *Env, c *config.Config, db *store.DB) (n Notifier, err error) {
	cfg := notify.Config{Logger: env.Logger()}
	if cfg.URL, err = c.NotifyURL(); err != nil || cfg.URL == "none" {
		return n, err
	}
	if cfg.URL == "" {
		if is, err := docspell.In(db).IsHere(ctx); err != nil || !is {
			return n, err
		}
		cfg.Addresses = docspell.In(db).NotifyURLs
	}
	if n.Notifier, err = notify.New(cfg); err != nil {
		err = fmt.Errorf("%s: queues.job.notify: %w", c.Path, err)
	}
	return n, err
}

// Observe passes the events of a scheduler on.
func (n Notifier) Observe(e scheduler.Event) {
	if n.Notifier != nil {
		n.Notifier.Observe(e)
	}
}

// Submitted says that jobs were committed to a queue.
func (n Notifier) Submitted(sink periodic.Sink) {
	if n.Notifier != nil && sink == periodic.SinkJob {
		n.Notify()
	}
}

// While runs fn with the notifier started, and then waits for its requests. A
// request that fails is logged; it is no failure of fn, whose jobs are committed.
func (n Notifier) While(ctx context.Context, fn func() error) error {
	if n.Notifier == nil {
		return fn()
	}
	if err := n.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	err := fn()
	_ = n.Stop(context.WithoutCancel(ctx)) // requests have a timeout of their own
	return err
}

// Submitting runs fn with the database, its tasks with the queues of the configuration file, and a notifier, which fn
// tells of which queues it has submitted jobs. It then waits for its requests.
func (env *Env) Submitting(ctx context.Context, fn func(*store.DB, *periodic.Tasks, Notifier) error) error {
	c, err := env.Configuration()
	if err != nil {
		return err
	}
	return env.WithDatabase(ctx, func(db *store.DB) error {
		queues, err := c.BuildQueues(db)
		if err != nil {
			return err
		}
		n, err := NewNotifier(ctx, env, c, db)
		if err != nil {
			return err
		}
		return n.While(ctx, func() error { return fn(db, periodic.NewTasks(db.Tasks()).With(queues), n) })
	})
}
