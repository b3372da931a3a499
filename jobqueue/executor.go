package jobqueue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue/backend"
	"github.com/nextrun/nextrun/jobqueue/internal/engine"
)

// Executor claims jobs and runs them with the handlers of their tasks. It
// claims only jobs of tasks that have a handler; others wait for an executor
// that knows them. Any number of executors may work on one database, in one
// process or in many. It is safe for concurrent use.
type Executor struct {
	worker   string
	life     *service.Lifecycle
	events   events
	engine   *engine.Engine
	mu       sync.Mutex // guards handlers until the start
	handlers map[string]engine.Handler
	left     []string // jobs that were in flight at the end, and why
}

// NewExecutor returns an executor that has yet to be started. It returns an
// error that names every field of cfg that is out of bounds.
func NewExecutor(store backend.Store, cfg Config) (*Executor, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	life, worker := service.New("executor"), service.WorkerID(cfg.Name)
	events := events{worker: worker, logger: cfg.Logger, observe: cfg.Observe}
	return &Executor{
		worker: worker, life: life, events: events, handlers: map[string]engine.Handler{},
		engine: engine.New(store, cfg.engine(), worker, events, life),
	}, nil
}

// Worker is what the column worker holds for jobs of this executor: name@boot id.
func (e *Executor) Worker() string { return e.worker }

// Register sets the handler of a task. Options are its limits ([WithLimits]) and
// middlewares, of which the first is the outermost. Register panics if the task has a
// handler already, if limits are out of bounds ([Limits.Validate]) or if the executor
// has been started. A handler that panics has failed; the executor lives on.
func (e *Executor) Register(task string, h Handler, options ...Option) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case task == "" || h == nil:
		panic("jobqueue: Register needs a task and a handler")
	case e.life.Started():
		panic("jobqueue: Register after Start")
	case e.handlers[task].Run != nil:
		panic("jobqueue: task " + task + " has a handler already")
	}
	r := register(h, options)
	if err := r.Limits.Validate(); err != nil {
		panic("jobqueue: register " + task + ": " + err.Error())
	}
	e.handlers[task] = r
}

// Tasks lists the tasks that have a handler.
func (e *Executor) Tasks() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Sorted(maps.Keys(e.handlers))
}

// Start begins to claim and run jobs and returns at once. When ctx ends, the
// executor shuts down as with [Executor.Stop]. An executor is started once.
func (e *Executor) Start(ctx context.Context) error {
	if len(e.Tasks()) == 0 {
		return errors.New("start the executor: no task has a handler; call Register first")
	}
	return e.life.Start(ctx, func(soft, hard context.Context) {
		e.events.started()
		e.left = e.engine.Run(soft, hard, e.handlers)
		e.events.stopped(len(e.left))
	}, func(soft context.Context) { e.engine.Watch(soft, e.handlers) })
}

// Stop ends the executor and waits until it has ended: it claims no more, lets
// running jobs finish within Config.ShutdownGrace, then cancels their contexts
// and puts them back to waiting. When ctx ends first, it cancels them at once. Once
// only jobs are left whose end the database does not take, it tries for 5 s. It
// returns an error that names the jobs whose handlers still run or whose end could
// not be recorded, and why: they are run again when their lease ends. Stop may be
// called more than once, and without Start.
func (e *Executor) Stop(ctx context.Context) error {
	_ = e.life.Stop(ctx) // what matters is what was left
	if len(e.left) > 0 {
		return fmt.Errorf("stop the executor: jobs not finished: %s", strings.Join(e.left, "; "))
	}
	return nil
}

// Hurry ends the grace time of running jobs in a Stop, also one that has yet to begin:
// their contexts are cancelled at once, and they go back to waiting.
func (e *Executor) Hurry() { e.engine.Hurry() }

// Done is closed when the executor has ended.
func (e *Executor) Done() <-chan struct{} { return e.life.Done() }

// Idle reports whether no job waited, ran or was stuck when the executor looked last, at a
// poll. It does not ask the database.
func (e *Executor) Idle() bool { return e.engine.Idle() }

// Health says what is wrong with an executor that was started: that it has not been in
// touch with the database yet, that this has failed for more than ten seconds, or that
// it is stuck. Health does not ask the database.
func (e *Executor) Health(context.Context) error {
	return e.engine.Health()
}

// Wake makes the executor look for jobs now. Stores that notify of new jobs do
// so by themselves.
func (e *Executor) Wake() { e.engine.Look() }
