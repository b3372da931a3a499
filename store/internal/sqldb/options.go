package sqldb

import (
	"fmt"
	"time"
)

// Defaults of [Options].
const (
	DefaultConnectTimeout   = 10 * time.Second
	DefaultStatementTimeout = 20 * time.Second
	DefaultLockTimeout      = 5 * time.Second
	DefaultIdleTimeout      = 10 * time.Second
	DefaultMaxConns         = 10
)

// Options are those of package store, which explains them.
type Options struct {
	Create           bool
	ConnectTimeout   time.Duration
	StatementTimeout time.Duration
	LockTimeout      time.Duration
	IdleTimeout      time.Duration
	MaxConns         int
	PollOnly         bool
	Clock            func() time.Time
}

func (o Options) withDefaults() Options {
	setDuration := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	setDuration(&o.ConnectTimeout, DefaultConnectTimeout)
	setDuration(&o.StatementTimeout, DefaultStatementTimeout)
	setDuration(&o.LockTimeout, DefaultLockTimeout)
	setDuration(&o.IdleTimeout, DefaultIdleTimeout)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.MaxConns == 0 {
		o.MaxConns = DefaultMaxConns
	}
	return o
}

func (o Options) validate() error {
	for name, d := range map[string]time.Duration{
		"ConnectTimeout": o.ConnectTimeout, "StatementTimeout": o.StatementTimeout,
		"LockTimeout": o.LockTimeout, "IdleTimeout": o.IdleTimeout,
	} {
		if d < 0 || d > time.Hour {
			return fmt.Errorf("store.Options.%s is %s; use 0 (the default) to 1h", name, d)
		}
	}
	if o.MaxConns < 0 || o.MaxConns > 1000 {
		return fmt.Errorf("store.Options.MaxConns is %d; use 0 (the default) to 1000", o.MaxConns)
	}
	return nil
}
