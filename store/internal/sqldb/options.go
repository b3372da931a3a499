package sqldb

import (
	"time"

	"github.com/nextrun/nextrun/internal/service"
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
	service.SetDefault(&o.ConnectTimeout, DefaultConnectTimeout)
	service.SetDefault(&o.StatementTimeout, DefaultStatementTimeout)
	service.SetDefault(&o.LockTimeout, DefaultLockTimeout)
	service.SetDefault(&o.IdleTimeout, DefaultIdleTimeout)
	service.SetDefault(&o.MaxConns, DefaultMaxConns)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}

func (o Options) validate() error {
	check := service.Check{Config: "store.Options"}
	service.Within(&check, "ConnectTimeout", o.ConnectTimeout, 0, time.Hour)
	service.Within(&check, "StatementTimeout", o.StatementTimeout, 0, time.Hour)
	service.Within(&check, "LockTimeout", o.LockTimeout, 0, time.Hour)
	service.Within(&check, "IdleTimeout", o.IdleTimeout, 0, time.Hour)
	service.Within(&check, "MaxConns", o.MaxConns, 0, 1000)
	return check.Err()
}
