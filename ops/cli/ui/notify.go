package ui

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/ops/docspell"
	"github.com/nextrun/nextrun/ops/notify"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// NewNotifier makes the notifier of a process, without starting it. It tells who runs the jobs of the queue job of new ones:
// the URL of the configuration, or on Docspell's database its job executors. nil: there is nobody to tell.
func NewNotifier(ctx context.Context, env *Env, c *config.Config, db *store.DB) (*notify.Notifier, error) {
	url, err := c.NotifyURL()
	cfg := notify.Config{URL: url, Logger: env.Logger()}
	if err != nil || url == "none" {
		return nil, err
	}
	if url == "" {
		if is, err := docspell.In(db).IsHere(ctx); err != nil || !is {
			return nil, err
		}
		cfg.Addresses = docspell.In(db).NotifyURLs
	}
	n, err := notify.New(cfg)
	if err != nil {
		err = fmt.Errorf("%s: queues.job.notify: %w", c.Path, err)
	}
	return n, err
}

// Submitting runs fn with the database, its tasks with the queues of the configuration file, and a notifier, which fn
// tells of which queues it has submitted jobs. It then waits for its requests.
func (env *Env) Submitting(ctx context.Context, fn func(*store.DB, *periodic.Tasks, *notify.Notifier) error) error {
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
