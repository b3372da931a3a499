package lifecycle

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/web"
)

// Config is the configuration of a [Process].
type Config struct {
	// HealthAddress is where GET /healthz reports the health, such as 127.0.0.1:8321: a
	// loopback address, since whoever reaches it may read it. Empty: nowhere.
	HealthAddress string
	// StopTimeout limits how long [Process.Close], [Process.Run], or a start that fails, lets the stages stop; then each gets a
	// last second. 0: 50 s: an executor may wait 20 s for its jobs.
	StopTimeout time.Duration
	// Logger takes the log lines. nil: slog.Default().
	Logger *slog.Logger
	// Started, if not nil, is called by [Process.Run] when all is healthy. nil: a log line says so.
	Started func()
	// LogLost, if not nil, says how many lines of the log nobody took, for the report on the health.
	LogLost func() int64
}

// Process is what runs in stages. Health and Hurry may be used at any time; Add,
// Up, Start, Run and Stop by one goroutine at a time.
type Process struct {
	cfg     Config
	mu      sync.Mutex // guards the three below
	stages  []Stage
	done    int           // that many stages are up
	failed  *StageError   // why one did not come up; nil: none failed
	started atomic.Bool   // all services are healthy, and none has to stop
	ended   chan struct{} // closed: a service has ended
	end     func()
	hurried chan struct{} // closed: stages give up what is in flight
	hurry   func()
	unwatch func() // ends what feeds the watchdog of systemd; nil: nothing does
}

// New returns a process without stages, but for the one that reports on the health if
// there is an address for that. It returns an error if others than this host could reach that.
func New(cfg Config) (*Process, error) {
	service.SetDefault(&cfg.StopTimeout, 50*time.Second)
	service.SetDefault(&cfg.Logger, slog.Default())
	if cfg.Started == nil {
		cfg.Started = func() { cfg.Logger.Info("started") }
	}
	p := &Process{cfg: cfg, ended: make(chan struct{}), hurried: make(chan struct{})}
	p.hurry = sync.OnceFunc(func() { close(p.hurried) })
	p.end = sync.OnceFunc(func() { close(p.ended) })
	if cfg.HealthAddress != "" {
		address, err := LoopbackAddress(cfg.HealthAddress)
		if err != nil {
			return nil, err
		}
		p.AddService("health", web.NewServer("health endpoint", address, p.healthHandler(), cfg.Logger))
	}
	return p, nil
}

// Add appends stages: they start in their order, and stop in the reverse one.
func (p *Process) Add(more ...Stage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range more {
		one.question = &singleflight.Group{}
		p.stages = append(p.stages, one)
	}
}

// AddService appends the stage of a service. Add a scheduler last: it stops first then, and submits nothing while running jobs end.
func (p *Process) AddService(name string, s Service) { p.Add(stageOf(name, s)) }

// Up brings up the stages that were added, for programs that add more of them when
// these are up. If one fails, or ctx ends, it stops the others in reverse order and
// returns a [*StageError]; what goes wrong with that is added.
func (p *Process) Up(ctx context.Context) error {
	for {
		stages, done, _ := p.snapshot()
		if done == len(stages) {
			return nil
		}
		one, err := stages[done], ctx.Err()
		if err == nil && one.Up != nil {
			err = one.Up(ctx)
		}
		if err != nil {
			return p.giveUp(ctx, one.Name, err)
		}
		p.mu.Lock()
		p.done++
		p.mu.Unlock()
		if one.service != nil {
			go func() {
				<-one.service.Done()
				p.end()
			}()
		}
	}
}

// giveUp notes that a stage has failed and takes down those that are up.
func (p *Process) giveUp(ctx context.Context, stage string, err error) error {
	failed := &StageError{stage, "start", err}
	p.mu.Lock()
	p.failed = failed
	p.mu.Unlock()
	return errors.Join(failed, p.Close(ctx))
}

// Start brings up the stages that are not yet, and waits until all are healthy: the
// database answers, the scheduler has done its first round or stands by, executor and
// relay have been in touch with the database. Then it tells systemd. If a stage fails,
// or ctx ends, it stops the others in reverse order and returns a [*StageError].
// The services go on when ctx ends later; call Stop.
func (p *Process) Start(ctx context.Context) error {
	if err := p.Up(ctx); err != nil {
		return err
	}
	if sick := p.awaitHealth(ctx); sick != nil {
		return p.giveUp(ctx, sick.Stage, sick.Err)
	}
	p.started.Store(true)
	p.tellSystemd("READY=1")
	p.watch()
	return nil
}

// Stop takes the stages down, the last one first, and waits for that. When ctx ends, each of those that are left gets a
// last second, and then gives up what is in flight. A failure keeps no other stage from its end; Stop returns all of them. A
// process that was not started, or has been stopped, stops at once.
func (p *Process) Stop(ctx context.Context) error {
	if p.started.Swap(false) {
		p.tellSystemd("STOPPING=1")
	}
	var failures []error
	for one := p.last(); one != nil; one = p.last() {
		if err := one.stop(ctx, p.hurried); err != nil {
			failures = append(failures, &StageError{one.Name, "stop", err})
		}
	}
	if p.unwatch != nil {
		p.unwatch()
	}
	return errors.Join(failures...)
}

// last is the last stage that is up, and counts it as down; nil: there is none.
func (p *Process) last() *Stage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done == 0 {
		return nil
	}
	p.done--
	return &p.stages[p.done]
}

// Hurry leaves each stage five seconds to stop, in a stop under way or to come, also
// after a start that failed; for a second Control-C. An executor cancels its running
// jobs, which go back to waiting. It may be called at any time.
func (p *Process) Hurry() { p.hurry() }

// Run starts the process, and stops it when ctx ends or a service does. It returns what
// went wrong with that, and why a service has ended by itself. It returns nil if ctx
// ends, even during the start.
func (p *Process) Run(ctx context.Context) error {
	stopping := sync.OnceFunc(func() { p.cfg.Logger.Info("stopping") })
	defer context.AfterFunc(ctx, stopping)() // also if ctx ends during the start
	err := p.Start(ctx)
	switch {
	case err == nil:
		p.cfg.Started()
		select {
		case <-ctx.Done():
		case <-p.ended:
		}
		stopping()
		err = p.Close(ctx)
		stages, _, _ := p.snapshot()
		for i := range stages {
			err = errors.Join(err, stages[i].err())
		}
	case ctx.Err() != nil:
		err = nil
	default:
		return err
	}
	p.cfg.Logger.Info("stopped")
	return err
}

// Close is Stop within [Config.StopTimeout], also after the end of ctx.
func (p *Process) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.cfg.StopTimeout)
	defer cancel()
	return p.Stop(ctx)
}
