package relay

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// What the fields of [Config] are that nobody sets.
const (
	DefaultConcurrency  = 8
	DefaultBatchSize    = 100
	DefaultRetryMin     = time.Second
	DefaultRetryMax     = time.Minute
	DefaultLease        = 30 * time.Second
	DefaultPollInterval = 30 * time.Second
	// DefaultRefusalLimit is after how many refusals a message is dead, unless Config.RefusalLimits says something else.
	DefaultRefusalLimit = 5
)

// longest is the greatest duration.
const longest = 1000 * time.Hour

// Config are the settings of a [Relay]. Only Name has no
// default.
type Config struct {
	// Name tells the process from others, by convention the host's: 1 to 200
	// bytes, no slash and no control characters. A second process of the same name does
	// no harm. In the database, each character other than an ASCII letter, a digit, -, _
	// and . is a dash.
	Name string
	// Topics are the only topics to work on. nil: all.
	Topics []string
	// Concurrency is how many topics are worked on at a time. At most
	// Concurrency times BatchSize events are with the publisher. 1 to 1000. 0: 8.
	Concurrency int `yaml:"concurrency"`
	// BatchSize is the maximum number of events that are handed over and
	// recorded together, 1 to 10,000. If a relay dies, at most so many events of
	// each topic are published twice. A batch of more than one event has at most 8 MiB of
	// payload. 0: 100.
	BatchSize int `yaml:"batch_size"`
	// Lease is how long a topic is held for a batch. The publisher has three
	// quarters of it for the batch, and must need much less for one event. At
	// least 1 s. 0: 30 s.
	Lease time.Duration `yaml:"lease"`
	// PollInterval is the longest time between queries: how late an event is
	// noticed if its notification is lost. At least 10 ms.
	// 0: 30 s.
	PollInterval time.Duration `yaml:"poll_interval"`
	// RetryMin and RetryMax bound the time between attempts. It doubles from
	// RetryMin to RetryMax, with jitter. 0: 1 s, 1 m.
	RetryMin time.Duration `yaml:"retry_min"`
	RetryMax time.Duration `yaml:"retry_max"`
	// RefusalLimits say after how many refusals ([jobqueue.Permanent]) a message of a topic is dead, once one of those behind it
	// is accepted; "*" stands for all other topics. While all are refused alike, which is no fault of one event, the
	// topic waits, for hours. 0: 5; [jobqueue.Never]: a refused message holds its topic, until it is accepted or somebody deletes it.
	RefusalLimits map[string]int
	// Tracer, if not nil, makes a span for each batch; package ops/tracing has one.
	Tracer Tracer
	// Logger receives the log lines. nil: slog.Default().
	Logger *slog.Logger
	// Observe, if not nil, is called with every [Notice]. Calls come from
	// several goroutines at once and must return soon.
	Observe func(Notice)
}

func (c Config) withDefaults() Config {
	service.SetDefault(&c.Concurrency, DefaultConcurrency)
	service.SetDefault(&c.BatchSize, DefaultBatchSize)
	service.SetDefault(&c.Lease, DefaultLease)
	service.SetDefault(&c.PollInterval, DefaultPollInterval)
	service.SetDefault(&c.RetryMin, DefaultRetryMin)
	service.SetDefault(&c.RetryMax, max(DefaultRetryMax, c.RetryMin))
	service.SetDefault(&c.Logger, slog.Default())
	return c
}

// refusalLimit is after how many refusals a message of a topic is dead.
func (c Config) refusalLimit(topic string) int {
	limit, is := c.RefusalLimits[topic]
	if !is {
		limit = c.RefusalLimits["*"]
	}
	return cmp.Or(limit, DefaultRefusalLimit)
}

// Validate returns an error that names every field that is out of bounds. [New]
// calls it. It needs no database.
func (c Config) Validate() error {
	c = c.withDefaults()
	p := &service.Check{Config: "relay.Config"}
	p.Name(c.Name)
	service.Within(p, "Concurrency", c.Concurrency, 1, 1000)
	service.Within(p, "BatchSize", c.BatchSize, 1, 10_000)
	service.Within(p, "Lease", c.Lease, time.Second, longest)
	service.Within(p, "PollInterval", c.PollInterval, 10*time.Millisecond, longest)
	service.Within(p, "RetryMin", c.RetryMin, time.Millisecond, longest)
	p.Field(c.RetryMin <= c.RetryMax && c.RetryMax <= longest,
		"RetryMax", c.RetryMax, fmt.Sprintf("RetryMin (%s) to %s", c.RetryMin, longest))
	return p.Err()
}
