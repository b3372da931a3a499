package engine

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue/backend"
	"github.com/nextrun/nextrun/jobqueue/internal/joblog"
	"github.com/nextrun/nextrun/jobqueue/internal/outcome"
)

// Config are the settings of an [Engine]: the fields of jobqueue.Config, without
// zero values. Their bounds have been checked.
type Config struct {
	Name          string
	PoolSize      int
	Groups        []string // sorted
	High, Low     int
	PollInterval  time.Duration
	Heartbeat     time.Duration
	ShutdownGrace time.Duration
	Hooks         backend.Hooks     // nil: nobody wants to hear of jobs
	Tracer        backend.RunTracer // nil: no spans
	outcome.Policy
}

// Handler runs the jobs of a task.
type Handler struct {
	Run    func(ctx context.Context, job backend.Job, log *joblog.Buffer) error
	Limits backend.Limits
}

// Observer learns what happens, possibly from several goroutines at once. Its
// methods return at once. Package jobqueue documents the events.
type Observer interface {
	Stopping(inFlight int)
	Claimed(jobs int)
	Begun(job backend.Job)
	Ended(job backend.Job, attempts int, state backend.State, took time.Duration, why error) // attempts: the most it may have; 0: not known
	Lost(job backend.Job)
	Interrupted(jid, worker string, state backend.State)
	Retried(jobs int)
	Refused(jobs []backend.Job, again time.Duration, why error)
	Slow(job backend.Job, took time.Duration)
	Trouble(why error, again time.Duration)
}

// Engine claims jobs and runs them. Its methods are safe for concurrent use; what the
// goroutine of Run owns is a [loop].
type Engine struct {
	store    backend.Store
	cfg      Config
	worker   string // name@boot id
	observer Observer
	life     *service.Lifecycle
	inbox    *inbox
	pulse    service.Pulse
	idle     atomic.Bool   // the last look found that no job waits, runs or is stuck
	hurry    chan struct{} // of capacity 1
}

// New returns an engine that works for a worker, and that life wakes.
func New(store backend.Store, cfg Config, worker string, observer Observer, life *service.Lifecycle) *Engine {
	return &Engine{store: store, cfg: cfg, worker: worker, observer: observer, life: life, inbox: newInbox(life.Wake), hurry: make(chan struct{}, 1)}
}

// Look says that jobs may have been added or cancelled.
func (e *Engine) Look() { e.inbox.look() }

// Watch calls Look whenever the database reports a change, until ctx ends. Meanwhile
// others can read what the engine does.
func (e *Engine) Watch(ctx context.Context, handlers map[string]Handler) {
	who := backend.Service{Worker: e.worker, Places: e.cfg.PoolSize, Lease: e.cfg.Lease, Groups: e.cfg.Groups}
	for _, name := range slices.Sorted(maps.Keys(handlers)) {
		limits := handlers[name].Limits
		who.Handlers = append(who.Handlers, backend.HandlerLimits{Name: name, Concurrency: limits.Concurrency, Attempts: e.cfg.Limited(limits).Attempts()})
	}
	e.store.Watch(ctx, who, e.Look, func(err error) {
		if ctx.Err() == nil {
			e.observer.Trouble(err, 0)
		}
	})
}

// Hurry ends the grace time of running jobs in a shutdown, also one that has yet to
// begin.
func (e *Engine) Hurry() {
	select {
	case e.hurry <- struct{}{}:
	default: // done already
	}
}

// Health says what is wrong with the loop of Run, without asking the database.
func (e *Engine) Health() error { return e.pulse.Health(service.Stuck(e.cfg.PollInterval)) }

// Idle reports whether, at the last look for overdue jobs, no job waited, ran or was stuck.
func (e *Engine) Idle() bool { return e.idle.Load() }

// Run claims jobs of the tasks that have a handler, and runs them. When soft ends, it
// shuts down; when hard ends, it returns soon. It returns the jobs that are still in
// flight, and why. It is called once.
func (e *Engine) Run(soft, hard context.Context, handlers map[string]Handler) []string {
	return newLoop(hard, e, handlers).run(soft)
}
