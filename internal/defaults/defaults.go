// Package defaults has what settings are that nobody has set. The configurations of the services say it where
// people read; the program counts with it.
package defaults

import "time"

// Of executor.Config.
const (
	PoolSize      = 10
	High          = 3
	Low           = 1
	RetryDelay    = 10 * time.Second
	RetryLimit    = 5
	RetryCap      = time.Hour
	MaxInterrupts = 5
	ShutdownGrace = 20 * time.Second
)

// Of executor.Config, scheduler.Config and relay.Config.
const (
	Lease        = 30 * time.Second
	PollInterval = 30 * time.Second
)

// Of scheduler.Config.
const (
	Batch            = 2500
	Lead             = time.Second
	SchedulerRetries = 100 * time.Millisecond // RetryMin
	SchedulerPause   = 10 * time.Second       // RetryMax
)

// Of relay.Config.
const (
	Concurrency  = 8
	Events       = 100 // BatchSize
	EventBytes   = 8 << 20
	RelayRetries = time.Second // RetryMin
	RelayPause   = time.Minute // RetryMax
	RefusalLimit = 5
)

// Of store.Options.
const (
	ConnectTimeout   = 10 * time.Second
	StatementTimeout = 20 * time.Second
	LockTimeout      = 5 * time.Second
	IdleTimeout      = 10 * time.Second
	MaxConns         = 10
)

// Of the handlers that run programs and make HTTP calls.
const (
	KillGrace   = 5 * time.Second
	MaxOutput   = 1 << 20
	CallTimeout = time.Minute
)

// Of what hooks run and call, and of webhooks.
const (
	HookTimeout    = 10 * time.Second
	WebhookTimeout = 10 * time.Second
)
