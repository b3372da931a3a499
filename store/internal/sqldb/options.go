package sqldb

import (
	"errors"
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
	ListenURL        string
	Schema           string
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

// Validate does what package store says.
func (o Options) Validate() error {
	o = o.withDefaults()
	p := &service.Check{Config: "store.Options"}
	service.Within(p, "ConnectTimeout", o.ConnectTimeout, time.Millisecond, time.Hour)
	service.Within(p, "StatementTimeout", o.StatementTimeout, time.Millisecond, time.Hour)
	service.Within(p, "LockTimeout", o.LockTimeout, time.Millisecond, time.Hour)
	service.Within(p, "IdleTimeout", o.IdleTimeout, time.Millisecond, time.Hour)
	service.Within(p, "MaxConns", o.MaxConns, 1, 1000)
	return errors.Join(p.Err(), validSchema(o.Schema))
}

// noListenURL refuses what only PostgreSQL has.
func (o Options) noListenURL() error {
	if o.ListenURL != "" {
		return errors.New("store.Options.ListenURL is for PostgreSQL; leave it empty for SQLite")
	}
	return nil
}
