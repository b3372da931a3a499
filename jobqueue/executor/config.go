package executor

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// What the fields of [Config] are that nobody sets.
const (
	DefaultPoolSize      = 10
	DefaultHigh          = 3
	DefaultLow           = 1
	DefaultRetryDelay    = 10 * time.Second
	DefaultRetryLimit    = 5
	DefaultRetryCap      = time.Hour
	DefaultMaxInterrupts = 5
	DefaultShutdownGrace = 20 * time.Second
	DefaultPollInterval  = 30 * time.Second
)

// Never means zero in [Config.RetryLimit], [Config.MaxInterrupts] and
// [jobqueue.Limits.RetryLimit], where 0 means the default.
const Never = jobqueue.Never

// Bounds of [Config].
const (
	maxPoolSize = 10_000
	maxShare    = 1000
	maxRetries  = 1_000_000
	maxRetryCap = 365 * 24 * time.Hour
	maxGrace    = 1000 * time.Hour
	longest     = 24 * time.Hour // of other durations
)

// Hooks are those of a database, as store.DB.Hooks returns them.
type Hooks = exchange.Hooks

// Config are the settings of an [Executor]. Only Name has no default.
type Config struct {
	// Name is the worker's name: 1 to 200 bytes, no slash and no control characters.
	// The column worker holds name@boot id, so that processes of one name stay apart;
	// there, each character other than an ASCII letter, a digit, -, _ and . is a dash.
	Name string
	// PoolSize is how many jobs run at once. While jobs end within milliseconds, up to nine times
	// as many wait here for their turn, 500 at most; those that have not begun after
	// 100 ms, or when the executor stops, go back to the queue. 0: 10.
	PoolSize int `yaml:"pool_size"`
	// Groups limits the executor to jobs of these groups. Empty: all groups.
	Groups []string `yaml:"groups"`
	// High and Low are the counting scheme: of High+Low jobs of a group, High
	// are of high priority and Low of low priority, as long as there are such.
	// 0: 3 and 1.
	High int `yaml:"high"`
	Low  int `yaml:"low"`
	// PollInterval is how often an idle executor looks for jobs without a
	// notification. 0: 30 s.
	PollInterval time.Duration `yaml:"poll_interval"`
	// RetryDelay is how long a failed job is stuck before it is tried again; it
	// doubles with each retry, and varies by a tenth. 0: 10 s.
	RetryDelay time.Duration `yaml:"retry_delay"`
	// RetryLimit is how often a failed job is tried again. The [jobqueue.Limits] of its handler,
	// and those of the job itself, come before it and RetryDelay. 0:
	// 5; [Never]: no retries.
	RetryLimit int `yaml:"retry_limit" form:"orzero"`
	// RetryCap is the longest delay, unless the RetryDelay of the [jobqueue.Limits] is longer.
	// 0: an hour.
	RetryCap time.Duration `yaml:"retry_cap"`
	// MaxInterrupts is how often a job may lose its worker. The next time it fails,
	// since the job itself may kill its workers. 0: 5;
	// [Never]: a job that loses its worker fails.
	MaxInterrupts int `yaml:"max_interrupts" form:"orzero"`
	// ShutdownGrace is how long running jobs may go on once the executor stops;
	// then their contexts are cancelled and they go back to waiting.
	// 0: 20 s; negative: cancelled at once.
	ShutdownGrace time.Duration `yaml:"shutdown_grace" form:"orzero"`
	// Hooks, if not nil, hear of jobs that end, in the same transaction; store.DB.Hooks
	// makes them. The executor runs their jobs, too, in four places beside PoolSize.
	Hooks Hooks
	// Tracer, if not nil, makes a span of each attempt; package ops/tracing has one.
	Tracer Tracer
	// Logger takes the log lines. nil: slog.Default().
	Logger *slog.Logger
	// Observe, if not nil, is called for every [Event], possibly from several
	// goroutines at once. It must return at once.
	Observe func(Event)
}

func (c Config) withDefaults() Config {
	service.SetDefault(&c.PoolSize, DefaultPoolSize)
	service.SetDefault(&c.High, DefaultHigh)
	service.SetDefault(&c.Low, DefaultLow)
	service.SetDefault(&c.PollInterval, DefaultPollInterval)
	service.SetDefault(&c.RetryDelay, DefaultRetryDelay)
	service.SetDefault(&c.RetryLimit, DefaultRetryLimit)
	service.SetDefault(&c.RetryCap, DefaultRetryCap)
	service.SetDefault(&c.MaxInterrupts, DefaultMaxInterrupts)
	service.SetDefault(&c.ShutdownGrace, DefaultShutdownGrace)
	service.SetDefault(&c.Logger, slog.Default())
	c.Groups = slices.Compact(slices.Sorted(slices.Values(c.Groups))) // claims would count one twice
	return c
}

// Validate returns an error that names every field that is out of bounds.
// [New] calls it. It needs no database.
func (c Config) Validate() error {
	c = c.withDefaults()
	p := &service.Check{Config: "executor.Config"}
	p.Name(c.Name)
	for _, group := range c.Groups {
		p.Field(text.Valid(group), "Groups", fmt.Sprintf("%q", group), "UTF-8 without NUL")
	}
	service.Within(p, "PoolSize", c.PoolSize, 1, maxPoolSize)
	service.Within(p, "High", c.High, 1, maxShare)
	service.Within(p, "Low", c.Low, 1, maxShare)
	service.Within(p, "PollInterval", c.PollInterval, time.Millisecond, longest)
	p.Field(0 < c.RetryDelay && c.RetryDelay <= c.RetryCap, "RetryDelay", c.RetryDelay, fmt.Sprintf("1ns to RetryCap (%s)", c.RetryCap))
	service.Within(p, "RetryCap", c.RetryCap, 1, maxRetryCap)
	p.Field(Never <= c.RetryLimit && c.RetryLimit <= maxRetries, "RetryLimit", c.RetryLimit, "1 to 1000000, or Never")
	p.Field(Never <= c.MaxInterrupts && c.MaxInterrupts <= maxRetries, "MaxInterrupts", c.MaxInterrupts, "1 to 1000000, or Never")
	p.Field(c.ShutdownGrace <= maxGrace, "ShutdownGrace", c.ShutdownGrace, fmt.Sprintf("0s to %s", maxGrace))
	return p.Err()
}

// Tracer makes the spans of attempts. It must be safe for concurrent use.
type Tracer interface {
	// Run begins the span of an attempt. The handler gets the context that it returns,
	// and passes the traceparent on; empty: that of the job. end is called once, when
	// the handler has returned, with its error.
	Run(ctx context.Context, job *jobqueue.Job) (of context.Context, traceparent string, end func(error))
}
