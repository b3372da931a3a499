package service

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	lifecycle "github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

// unhandled is a service that says which tasks have jobs that wait although
// this process has no handler for them: no other message tells of a misspelt
// name. It looks when it starts and at each poll, at the jobs submitted last,
// and names each task once.
type unhandled struct {
	queue   *jobqueue.Queue
	log     logrus.FieldLogger
	handled []string // tasks
	groups  []string // that the executor serves; empty: all
	poll    time.Duration
	life    *lifecycle.Lifecycle
}

func (s *services) unhandled(worker *executor.Executor) *unhandled {
	return &unhandled{
		queue: jobqueue.NewQueue(s.db.Jobs()), log: s.log, handled: worker.Tasks(), groups: s.config.Executor.Groups,
		poll: max(cmp.Or(s.config.Executor.PollInterval, executor.DefaultPollInterval), time.Second),
		life: lifecycle.New("search for unhandled jobs"),
	}
}

// Start begins to look and returns at once.
func (u *unhandled) Start(ctx context.Context) error {
	return u.life.Start(ctx, func(soft, _ context.Context) {
		ticker := time.NewTicker(u.poll)
		defer ticker.Stop()
		for {
			u.look(soft)
			select {
			case <-soft.Done():
				return
			case <-ticker.C:
			}
		}
	})
}

// Stop ends it and waits for that.
func (u *unhandled) Stop(ctx context.Context) error { return u.life.Stop(ctx) }

// Done is closed when it has ended.
func (u *unhandled) Done() <-chan struct{} { return u.life.Done() }

// look names the tasks that are new to it. Trouble with the database is left to
// the executor, which has the same and tells of it.
func (u *unhandled) look(ctx context.Context) {
	jobs, err := u.queue.List(ctx, jobqueue.Filter{States: []jobqueue.State{jobqueue.Waiting}})
	if err != nil {
		return
	}
	for _, job := range jobs {
		served := len(u.groups) == 0 || slices.Contains(u.groups, job.Group)
		if !served || slices.Contains(u.handled, job.Task) {
			continue
		}
		u.handled = append(u.handled, job.Task) // named, so it is no news any more
		u.log.WithFields(logrus.Fields{"task": job.Task, "job": job.JID}).
			Warn("a job waits for a handler, which this process does not have; define it in --config FILE, or run an executor that has it")
	}
}
