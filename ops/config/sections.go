package config

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// sectionReader reads the configuration file and those of its sections that are
// mappings of settings.
type sectionReader struct{ *reader }

func (r sectionReader) config(n *yaml.Node, c *Config) {
	r.mapping(n, "", hookReader(r).withHooks(&c.Hooks, keys{
		"database":  func(place string, v *yaml.Node) { r.database(place, v, &c.Database) },
		"scheduler": func(place string, v *yaml.Node) { r.scheduler(place, v, &c.Scheduler) },
		"executor":  func(place string, v *yaml.Node) { r.executor(place, v, &c.Executor) },
		"relay":     func(place string, v *yaml.Node) { relayReader(r).relay(place, v, &c.Relay) },
		"handlers":  named(r.reader, &c.Handlers, handlerReader(r).handler),
		"queues":    func(place string, v *yaml.Node) { queueReader(r).queues(place, v, c) },
		"tasks":     named(r.reader, &c.TaskHooks, hookReader(r).task),
	}))
}

func (r sectionReader) database(place string, n *yaml.Node, o *store.Options) {
	r.mapping(n, place, keys{
		"connect_timeout":   &o.ConnectTimeout,
		"statement_timeout": &o.StatementTimeout,
		"lock_timeout":      &o.LockTimeout,
		"idle_timeout":      &o.IdleTimeout,
		"max_conns":         &o.MaxConns,
		"poll_only":         &o.PollOnly,
	})
	r.check(n, place, o)
}

func (r sectionReader) scheduler(place string, n *yaml.Node, c *scheduler.Config) {
	r.mapping(n, place, keys{
		"batch_size":    &c.BatchSize,
		"lease":         &c.Lease,
		"lead":          func(place string, v *yaml.Node) { c.Lead = r.lead(place, v) },
		"poll_interval": &c.PollInterval,
		"retry_min":     &c.RetryMin,
		"retry_max":     &c.RetryMax,
		"retention":     func(place string, v *yaml.Node) { r.retention(place, v, &c.Retention) },
		"lock":          func(place string, v *yaml.Node) { r.lock(place, v, &c.Lock) },
	})
	r.check(n, place, c)
}

// lead reads the lead of a scheduler, of which the file turns 0 off.
func (r sectionReader) lead(place string, n *yaml.Node) time.Duration {
	d, err := time.ParseDuration(resolve(n).Value)
	switch {
	case err != nil || d < 0:
		r.problem(n, "%s must be a duration such as 1s, or 0 to mark tasks when they are due", place)
	case d == 0:
		return -1
	}
	return d
}

func (r sectionReader) retention(place string, n *yaml.Node, c *scheduler.Retention) {
	r.mapping(n, place, keys{
		"ticks":  orZero(r.reader, &c.Ticks, scheduler.Forever),
		"jobs":   orZero(r.reader, &c.Jobs, scheduler.Forever),
		"events": orZero(r.reader, &c.Events, scheduler.Forever),
	})
	r.check(n, place, c)
}

func (r sectionReader) lock(place string, n *yaml.Node, c *scheduler.LockConfig) {
	var l leader.Config
	r.mapping(n, place, keys{"name": &l.Lock, "ttl": &l.TTL, "heartbeat": &l.Heartbeat})
	r.check(n, place, &l)
	*c = scheduler.LockConfig{Name: l.Lock, TTL: l.TTL, Heartbeat: l.Heartbeat}
}

func (r sectionReader) executor(place string, n *yaml.Node, c *executor.Config) {
	r.mapping(n, place, keys{
		"pool_size":      &c.PoolSize,
		"groups":         &c.Groups,
		"high":           &c.High,
		"low":            &c.Low,
		"poll_interval":  &c.PollInterval,
		"retry_delay":    &c.RetryDelay,
		"retry_cap":      &c.RetryCap,
		"retry_limit":    orZero(r.reader, &c.RetryLimit, executor.Never),
		"max_interrupts": orZero(r.reader, &c.MaxInterrupts, executor.Never),
		"shutdown_grace": orZero(r.reader, &c.ShutdownGrace, -1),
	})
	r.check(n, place, c)
}
