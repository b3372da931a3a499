package lifecycle

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/service"
)

const (
	stopTimeout = 50 * time.Second // an executor may wait 20 s for its jobs
	lastMoment  = time.Second      // for each stage that is left when the time to stop has run out
	lastHurried = 5 * time.Second  // the same in a hurry, to give jobs back
)

// Config is the configuration of a [Process].
type Config struct {
	// HealthAddress is where GET /healthz reports the health, such as 127.0.0.1:8321: a
	// loopback address, since whoever reaches it may read it. Empty: nowhere; use
	// [Process.HealthHandler] in a server of your own.
	HealthAddress string
	// StartTimeout limits how long the services may take to become healthy after all of
	// them have started. 0: 30 s.
	StartTimeout time.Duration
	// StopTimeout limits how long [Process.Run] lets the stages stop; then each gets a
	// last second. 0: 50 s.
	StopTimeout time.Duration
	// Logger takes the log lines. nil: logrus.StandardLogger().
	Logger logrus.FieldLogger
}

func (c Config) withDefaults() Config {
	service.SetDefault(&c.StartTimeout, 30*time.Second)
	service.SetDefault(&c.StopTimeout, stopTimeout)
	service.SetDefault[logrus.FieldLogger](&c.Logger, logrus.StandardLogger())
	return c
}

// Validate returns an error that names each field that is out of bounds.
func (c Config) Validate() error {
	c = c.withDefaults()
	check := service.Check{Config: "lifecycle.Config"}
	if c.HealthAddress != "" {
		_, err := LoopbackAddress(c.HealthAddress)
		check.Field(err == nil, "HealthAddress", c.HealthAddress, "a loopback address with a port, such as 127.0.0.1:8321")
	}
	service.AtLeast(&check, "StartTimeout", c.StartTimeout, time.Millisecond)
	service.AtLeast(&check, "StopTimeout", c.StopTimeout, time.Millisecond)
	return check.Err()
}

// Process is what runs in stages. Health and HealthHandler may be used at any time; Add,
// Up, Start, Run and Stop by one goroutine at a time.
type Process struct {
	cfg      Config
	stages   stages
	started  atomic.Bool   // all services are healthy, and none has to stop
	ended    chan struct{} // closed: a service has ended
	end      func()
	hurry    func()
	watchdog watchdog
}

// New returns a process without stages, but for the one that reports on the health if
// there is an address for that.
func New(cfg Config) (*Process, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	p := &Process{cfg: cfg, ended: make(chan struct{}), stages: stages{hurry: make(chan struct{})}}
	p.hurry = sync.OnceFunc(func() { close(p.stages.hurry) })
	p.end = sync.OnceFunc(func() { close(p.ended) })
	if cfg.HealthAddress != "" {
		p.Add(p.healthStage())
	}
	return p, nil
}

// Add appends stages: they start in their order, and stop in the reverse one.
func (p *Process) Add(more ...Stage) { p.stages.add(more...) }

// AddService appends the stage of a service. Add a scheduler last: it stops first then, and submits nothing while running jobs end.
func (p *Process) AddService(name string, s Service) { p.Add(stageOf(name, s)) }

// Up brings up the stages that were added, for programs that add more of them when
// these are up. If one fails, or ctx ends, it stops the others in reverse order and
// returns a [*StageError].
func (p *Process) Up(ctx context.Context) error {
	return p.stages.up(ctx, func(one Stage) {
		if one.Done == nil {
			return
		}
		go func() {
			<-one.Done
			p.end()
		}()
	})
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
		return p.stages.giveUp(ctx, sick.Stage, sick.Err)
	}
	p.started.Store(true)
	p.tellSystemd("READY=1")
	p.watchdog.start(p.stages.stuck, p.tellSystemd)
	return nil
}

// Done is closed when a service has ended, be it by itself or by Stop.
func (p *Process) Done() <-chan struct{} { return p.ended }

// Stop takes the stages down, the last one first, and waits for that. When ctx ends, each of those that are left gets a
// last second, and then gives up what is in flight. A failure keeps no other stage from its end; Stop returns all of them. A
// process that was not started, or has been stopped, stops at once.
func (p *Process) Stop(ctx context.Context) error {
	if p.started.Swap(false) {
		p.tellSystemd("STOPPING=1")
	}
	err := p.stages.down(ctx)
	p.watchdog.stop()
	return err
}

// Hurry leaves each stage five seconds to stop, in a stop under way or to come, also
// after a start that failed; for a second Control-C. An executor cancels its running
// jobs, which go back to waiting. It may be called at any time.
func (p *Process) Hurry() { p.hurry() }

// Err says why services have ended by themselves. It is of use after Done.
func (p *Process) Err() error {
	list, _, _ := p.stages.snapshot()
	var errs []error
	for i := range list {
		if list[i].Err != nil {
			errs = append(errs, list[i].Err())
		}
	}
	return errors.Join(errs...)
}

// Run starts the process, and stops it when ctx ends or a service does. It returns what
// went wrong with that, and why a service has ended by itself. It returns nil if ctx
// ends, even during the start.
func (p *Process) Run(ctx context.Context) error {
	if err := p.Start(ctx); err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return nil
		}
		return err
	}
	p.cfg.Logger.Info("started")
	select {
	case <-ctx.Done():
	case <-p.ended:
	}
	p.cfg.Logger.Info("stopping")
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.cfg.StopTimeout)
	defer cancel()
	err := errors.Join(p.Stop(ctx), p.Err())
	p.cfg.Logger.Info("stopped")
	return err
}
