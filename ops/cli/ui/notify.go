package ui

import (
	"context"
	"errors"
	"sync"

	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/ops/docspell"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/notify"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// Notifiers notify the consumers of queues of new jobs: as the configuration says,
// and on Docspell's database its job executors. It is a service.
type Notifiers struct {
	list   []*notify.Notifier
	bySink map[periodic.Sink]*notify.Notifier
	done   chan struct{}
	ended  func() // closes done
}

// NewNotifiers makes the notifiers of a process, without starting them.
func NewNotifiers(ctx context.Context, env *Env, c *config.Config, db *store.DB) (*Notifiers, error) {
	configs, err := c.BuildNotify()
	if err != nil {
		return nil, err
	}
	if !c.NotifySet(periodic.SinkJob) {
		is, err := docspell.In(db).IsHere(ctx)
		if err != nil {
			return nil, err
		}
		if is {
			configs = append(configs, notify.Config{Sink: periodic.SinkJob, Addresses: docspell.In(db).NotifyURLs})
		}
	}
	n := &Notifiers{bySink: map[periodic.Sink]*notify.Notifier{}, done: make(chan struct{})}
	n.ended = sync.OnceFunc(func() { close(n.done) })
	for _, cfg := range configs {
		cfg.Logger = env.Logger()
		one, err := notify.New(cfg)
		if err != nil {
			return nil, err
		}
		n.list = append(n.list, one)
		n.bySink[cfg.Sink] = one
	}
	return n, nil
}

// Any reports whether there is somebody to notify.
func (n *Notifiers) Any() bool { return len(n.list) > 0 }

// Observe passes the events of a scheduler on.
func (n *Notifiers) Observe(e scheduler.Event) {
	for _, one := range n.list {
		one.Observe(e)
	}
}

// Submitted says that jobs were committed to a queue.
func (n *Notifiers) Submitted(sink periodic.Sink) {
	if one := n.bySink[sink]; one != nil {
		one.Notify()
	}
}

// Start starts the notifiers.
func (n *Notifiers) Start(ctx context.Context) error {
	for _, one := range n.list {
		if err := one.Start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Stop sends the requests that are due, and ends the notifiers.
func (n *Notifiers) Stop(ctx context.Context) error {
	var errs []error
	for _, one := range n.list {
		errs = append(errs, one.Stop(ctx))
	}
	n.ended()
	return errors.Join(errs...)
}

// While runs fn with the notifiers started, and then waits for their requests. A
// request that fails is logged; it is no failure of fn, whose jobs are committed.
func (n *Notifiers) While(ctx context.Context, fn func() error) error {
	if err := n.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	err := fn()
	_ = n.Stop(context.WithoutCancel(ctx)) // requests have a timeout of their own
	return err
}

// Done is closed by Stop: notifiers do not end by themselves.
func (n *Notifiers) Done() <-chan struct{} { return n.done }

// Submitting runs fn with the database, its tasks with the queues of the configuration file, and notifiers, which fn
// tells of which queues it has submitted jobs. It then waits for their requests.
func (env *Env) Submitting(ctx context.Context, fn func(*store.DB, *periodic.Tasks, *Notifiers) error) error {
	c, err := env.Configuration()
	if err != nil {
		return err
	}
	return env.WithDatabase(ctx, func(db *store.DB) error {
		queues, err := c.BuildQueues(db)
		if err != nil {
			return err
		}
		n, err := NewNotifiers(ctx, env, c, db)
		if err != nil {
			return err
		}
		return n.While(ctx, func() error { return fn(db, periodic.NewTasks(db.Tasks()).With(queues), n) })
	})
}
