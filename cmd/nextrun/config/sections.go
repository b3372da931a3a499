package config

import (
	"cmp"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/store"
)

// longest is the greatest duration that is accepted.
const longest = 1000 * time.Hour

func (r *reader) config(n *yaml.Node, c *Config) {
	r.mapping(n, "", keys{
		"database":  func(place string, v *yaml.Node) { r.database(place, v, &c.Database) },
		"scheduler": func(place string, v *yaml.Node) { r.scheduler(place, v, &c.Scheduler) },
		"executor":  func(place string, v *yaml.Node) { r.executor(place, v, &c.Executor) },
		"relay":     func(place string, v *yaml.Node) { r.relay(place, v, &c.Relay) },
		"handlers": func(place string, v *yaml.Node) {
			c.Handlers = map[string]Handler{}
			r.pairs(v, place, func(key, value *yaml.Node) {
				c.Handlers[key.Value] = r.handler(join(place, key.Value), value)
			})
		},
	})
}

func (r *reader) database(place string, n *yaml.Node, o *store.Options) {
	r.mapping(n, place, keys{
		"connect_timeout":   r.durationInto(&o.ConnectTimeout, time.Millisecond, time.Hour),
		"statement_timeout": r.durationInto(&o.StatementTimeout, time.Millisecond, time.Hour),
		"lock_timeout":      r.durationInto(&o.LockTimeout, time.Millisecond, time.Hour),
		"idle_timeout":      r.durationInto(&o.IdleTimeout, time.Millisecond, time.Hour),
		"max_conns":         r.numberInto(&o.MaxConns, 1, 1000),
		"poll_only":         func(place string, v *yaml.Node) { o.PollOnly = r.boolean(place, v) },
	})
}

func (r *reader) scheduler(place string, n *yaml.Node, c *periodic.Config) {
	r.mapping(n, place, keys{
		"batch_size":    r.numberInto(&c.BatchSize, 1, 10_000),
		"lease":         r.durationInto(&c.Lease, time.Second, longest),
		"poll_interval": r.durationInto(&c.PollInterval, 10*time.Millisecond, longest),
		"retry_min":     r.durationInto(&c.RetryMin, time.Millisecond, longest),
		"retry_max":     r.durationInto(&c.RetryMax, time.Millisecond, longest),
		"lock":          func(place string, v *yaml.Node) { r.lock(place, v, &c.Lock) },
	})
}

func (r *reader) lock(place string, n *yaml.Node, c *periodic.LockConfig) {
	before := len(r.problems)
	r.mapping(n, place, keys{
		"name":      func(place string, v *yaml.Node) { c.Name = r.text(place, v) },
		"ttl":       r.durationInto(&c.TTL, time.Second, 24*time.Hour),
		"heartbeat": r.durationInto(&c.Heartbeat, 10*time.Millisecond, 8*time.Hour),
	})
	// The bound of leader.Config, here with the line.
	most := cmp.Or(c.TTL, leader.DefaultTTL) / 3
	if len(r.problems) == before && c.Heartbeat > most {
		r.problem(value(n, "heartbeat"), "%s.heartbeat must be at most a third of ttl (%s)", place, most.Truncate(time.Millisecond))
	}
}

func (r *reader) executor(place string, n *yaml.Node, c *jobqueue.Config) {
	r.mapping(n, place, keys{
		"pool_size":      r.numberInto(&c.PoolSize, 1, 10_000),
		"groups":         func(place string, v *yaml.Node) { c.Groups = r.texts(place, v) },
		"high":           r.numberInto(&c.High, 1, 1000),
		"low":            r.numberInto(&c.Low, 1, 1000),
		"lease":          r.durationInto(&c.Lease, time.Second, longest),
		"heartbeat":      r.durationInto(&c.Heartbeat, time.Millisecond, longest),
		"poll_interval":  r.durationInto(&c.PollInterval, time.Millisecond, longest),
		"retry_delay":    r.durationInto(&c.RetryDelay, time.Millisecond, longest),
		"retry_cap":      r.durationInto(&c.RetryCap, time.Millisecond, longest),
		"retry_limit":    func(place string, v *yaml.Node) { c.RetryLimit = r.orNever(place, v) },
		"max_interrupts": func(place string, v *yaml.Node) { c.MaxInterrupts = r.orNever(place, v) },
		"shutdown_grace": func(place string, v *yaml.Node) {
			// There zero stands for the default, and -1 for no time at all.
			if c.ShutdownGrace = r.duration(place, v, 0, longest); c.ShutdownGrace == 0 {
				c.ShutdownGrace = -1
			}
		},
	})
}

// orNever reads a number of times; zero is what jobqueue calls Never.
func (r *reader) orNever(place string, n *yaml.Node) int {
	if times := r.number(place, n, 0, 1_000_000); times > 0 {
		return times
	}
	return jobqueue.Never
}
