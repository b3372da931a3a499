package executor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
)

// Executor claims jobs and runs them with the handlers of their tasks. It
// claims only jobs of tasks that have a handler; others wait for an executor
// that knows them. Any number of executors may work on one database, in one
// process or in many. It is safe for concurrent use.
type Executor struct {
	store    Store
	cfg      Config // without zero values; Groups are sorted
	worker   string // name@boot id
	life     *service.Lifecycle
	inbox    *inbox
	pulse    service.Pulse
	busy     atomic.Bool   // there are jobs in flight
	stirred  chan struct{} // of capacity 1: the next beat is soon
	tempo    tempo
	hurry    chan struct{} // of capacity 1
	mu       sync.Mutex    // guards handlers until the start
	handlers map[string]handler
	left     []string  // jobs that were in flight at the end, and why
	hooks    *Executor // runs the jobs of hooks; nil: there are none
}

// handler runs the jobs of a task.
type handler struct {
	run    jobqueue.Handler
	limits jobqueue.Limits
}

// New returns an executor that has yet to be started. It returns an
// error that names every field of cfg that is out of bounds.
func New(store Store, cfg Config) (*Executor, error) {
	e, err := newExecutor(store, cfg)
	if err == nil && cfg.Hooks != nil {
		e.hooks, err = NewHooks(store, cfg)
	}
	return e, err
}

func newExecutor(store Store, cfg Config) (*Executor, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	life, worker := service.New("executor"), service.WorkerID(cfg.Name)
	return &Executor{
		store: store, cfg: cfg, worker: worker,
		life: life, inbox: &inbox{signal: life.Wake}, hurry: make(chan struct{}, 1), stirred: make(chan struct{}, 1),
		tempo: tempo{busyBeat, compareInterval}, handlers: map[string]handler{},
	}, nil
}

// Worker is what the column worker holds for jobs of this executor: name@boot id.
func (e *Executor) Worker() string { return e.worker }

// Register sets the handler of a task, and its limits: those of a single job come before them, and those of
// [Config] after them. Of several, the first that sets a field counts. Register panics if the task has a
// handler already, if limits are out of bounds ([jobqueue.Limits.Validate]) or if the executor
// has been started. A handler that panics has failed; the executor lives on.
func (e *Executor) Register(task string, h jobqueue.Handler, limits ...jobqueue.Limits) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case task == "" || h == nil:
		panic("executor: Register needs a task and a handler")
	case e.life.Started():
		panic("executor: Register after Start")
	case e.handlers[task].run != nil:
		panic("executor: task " + task + " has a handler already")
	}
	var own jobqueue.Limits
	for _, l := range limits {
		own = own.Over(l)
	}
	if err := own.Validate(); err != nil {
		panic("executor: register " + task + ": " + err.Error())
	}
	e.handlers[task] = handler{h, own}
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
	if e.hooks != nil && !e.life.Started() {
		if err := e.hooks.Start(ctx); err != nil {
			return err
		}
	}
	return e.life.Start(ctx, func(soft, hard context.Context) {
		e.emit(Event{Kind: EventStarted, Worker: e.worker})
		living, end := context.WithCancel(context.WithoutCancel(ctx))
		var beside sync.WaitGroup
		beside.Go(func() { e.keepBeating(living) })
		e.left = newLoop(soft, hard, e, e.handlers).run()
		end()
		beside.Wait()
		e.emit(Event{Kind: EventStopped, Worker: e.worker, Count: len(e.left)})
	}, e.watch)
}

// Stop ends the executor and waits until it has ended: it claims no more, lets
// running jobs finish within Config.ShutdownGrace, then cancels their contexts
// and puts them back to waiting. When ctx ends first, it cancels them at once. Once
// no handler runs any more, it has 5 s to record the ends. It
// returns an error that names the jobs whose handlers still run or whose end could
// not be recorded, and why: others run them again within 12 s. Stop may be
// called more than once, and without Start.
func (e *Executor) Stop(ctx context.Context) error {
	_ = e.life.Stop(ctx) // what matters is what was left
	var err error
	if len(e.left) > 0 {
		err = fmt.Errorf("stop the executor: jobs not finished: %s", strings.Join(e.left, "; "))
	}
	if e.hooks != nil {
		err = errors.Join(err, e.hooks.Stop(ctx))
	}
	return err
}

// Hurry ends the grace time of running jobs in a Stop, also one that has yet to begin:
// their contexts are cancelled at once, and they go back to waiting.
func (e *Executor) Hurry() {
	select {
	case e.hurry <- struct{}{}:
	default: // done already
	}
	if e.hooks != nil {
		e.hooks.Hurry()
	}
}

// Done is closed when the executor has ended.
func (e *Executor) Done() <-chan struct{} { return e.life.Done() }

// Health says what is wrong with an executor that was started: that it has not been in
// touch with the database yet, that this has failed for more than ten seconds, or that
// it is stuck. Health does not ask the database.
func (e *Executor) Health(ctx context.Context) error {
	err := e.pulse.Health()
	if err == nil && e.hooks != nil {
		err = e.hooks.Health(ctx)
	}
	return err
}

// Wake makes the executor look for jobs now. Stores that notify of new jobs do
// so by themselves.
func (e *Executor) Wake() { e.inbox.look() }

// watch wakes the executor whenever the database reports a change, until ctx ends.
func (e *Executor) watch(ctx context.Context) {
	e.store.WatchJobs(ctx, e.Wake, func(err error) {
		if ctx.Err() == nil {
			e.emit(Event{Kind: EventTrouble, Err: err})
		}
	})
}

// hookPlaces is how many hooks an executor runs at once, beside its jobs: no alarm waits for a job that takes hours, and
// no job for a receiver that does not answer.
const hookPlaces = 4

// hookLimits are those of the jobs of hooks: the last retry comes within three hours of the first attempt.
var hookLimits = jobqueue.Limits{RetryLimit: 10, RetryDelay: 10 * time.Second}

// NewHooks returns an executor that runs the jobs of cfg.Hooks and no others, at most four at once. An executor with
// hooks has one itself; this is for processes without another executor, such as a scheduler's.
func NewHooks(store Store, cfg Config) (*Executor, error) {
	cfg.Groups, cfg.PoolSize = []string{jobqueue.HookGroup}, hookPlaces
	e, err := newExecutor(store, cfg)
	if err == nil {
		e.Register(jobqueue.HookHandler, cfg.Hooks.Handler(), hookLimits)
	}
	return e, err
}
