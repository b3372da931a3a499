package outbox

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/sirupsen/logrus"
)

// Defaults of [Config].
const (
	DefaultConcurrency  = 8
	DefaultBatchSize    = 100
	DefaultBatchBytes   = 8 << 20
	DefaultLease        = 30 * time.Second
	DefaultPollInterval = 30 * time.Second
	DefaultRetryMin     = time.Second
	DefaultRetryMax     = time.Minute
	DefaultRefusalLimit = 5
	DefaultRetention    = 7 * 24 * time.Hour
)

// Bounds of [Config].
const (
	MaxConcurrency  = 1000
	MaxBatchSize    = 10_000
	MinLease        = time.Second
	MinPollInterval = 10 * time.Millisecond
	MinRetry        = time.Millisecond
)

// Forever is a retention without end.
const Forever time.Duration = -1

// maxName is the greatest length of a relay's name in bytes.
const maxName = 200

// Config are the settings of a [Relay] and of a [Consumer]. Only Name has no
// default.
type Config struct {
	// Name tells the process from others, by convention the host's: 1 to 200
	// bytes. A second process of the same name does no harm.
	Name string
	// Topics are the only topics to work on. nil: all.
	Topics []string
	// Concurrency is how many topics are worked on at a time. At most
	// Concurrency times BatchSize events are with the publisher; as many again
	// may wait in memory. 1 to 1000. 0: DefaultConcurrency.
	Concurrency int
	// BatchSize is the maximum number of events that are handed over and
	// recorded together, 1 to 10,000. If a relay dies, at most so many events of
	// each topic are published twice. 0: DefaultBatchSize.
	BatchSize int
	// BatchBytes limits the payload of a batch of more than one event.
	// 0: DefaultBatchBytes.
	BatchBytes int
	// Lease is how long a topic is held for a batch. The publisher has three
	// quarters of it for the batch, and must need much less for one event. At
	// least 1 s. 0: DefaultLease.
	Lease time.Duration
	// PollInterval is the longest time between queries: how late an event is
	// noticed if its notification is lost. At least 10 ms.
	// 0: DefaultPollInterval.
	PollInterval time.Duration
	// RetryMin and RetryMax bound the time between attempts. It doubles from
	// RetryMin to RetryMax, with jitter. 0: DefaultRetryMin, DefaultRetryMax.
	RetryMin, RetryMax time.Duration
	// RefusalLimit is after how many permanent refusals a message is dead. A
	// consumer's events are never dead. 0: DefaultRefusalLimit.
	RefusalLimit int
	// Retention is how long published messages are kept. 0: DefaultRetention;
	// [Forever]: without end.
	Retention time.Duration
	// EventRetention is how long events are kept after they were written, if
	// they are published and all groups have read them. 0 and [Forever]: without
	// end.
	EventRetention time.Duration
	// Logger receives the log lines. nil: logrus.StandardLogger().
	Logger logrus.FieldLogger
	// Observe, if not nil, is called with every [Notice]. Calls come from
	// several goroutines at once and must return soon.
	Observe func(Notice)
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (c Config) withDefaults() Config {
	setDefault(&c.Concurrency, DefaultConcurrency)
	setDefault(&c.BatchSize, DefaultBatchSize)
	setDefault(&c.BatchBytes, DefaultBatchBytes)
	setDefault(&c.Lease, DefaultLease)
	setDefault(&c.PollInterval, DefaultPollInterval)
	setDefault(&c.RetryMin, DefaultRetryMin)
	setDefault(&c.RetryMax, max(DefaultRetryMax, c.RetryMin))
	setDefault(&c.RefusalLimit, DefaultRefusalLimit)
	setDefault(&c.Retention, DefaultRetention)
	setDefault(&c.EventRetention, Forever)
	if c.Logger == nil {
		c.Logger = logrus.StandardLogger()
	}
	return c
}

// validate checks a Config that has its defaults. It names the field and the
// bound of everything that is wrong.
func (c Config) validate() error {
	var problems []error
	check := func(ok bool, field string, value any, bound string) {
		if !ok {
			problems = append(problems, fmt.Errorf("outbox.Config.%s is %v; use %s", field, value, bound))
		}
	}
	check(c.Name != "" && len(c.Name) <= maxName && text.Valid(c.Name) && !strings.Contains(c.Name, "/"),
		"Name", fmt.Sprintf("%q", c.Name), "1 to 200 bytes of UTF-8 without slash and NUL")
	check(c.Concurrency >= 1 && c.Concurrency <= MaxConcurrency, "Concurrency", c.Concurrency, fmt.Sprintf("1 to %d, or 0 for the default", MaxConcurrency))
	check(c.BatchSize >= 1 && c.BatchSize <= MaxBatchSize, "BatchSize", c.BatchSize, fmt.Sprintf("1 to %d, or 0 for the default", MaxBatchSize))
	check(c.BatchBytes >= 1, "BatchBytes", c.BatchBytes, "1 or more, or 0 for the default")
	check(c.Lease >= MinLease, "Lease", c.Lease, MinLease.String()+" or more, or 0 for the default")
	check(c.PollInterval >= MinPollInterval, "PollInterval", c.PollInterval, MinPollInterval.String()+" or more, or 0 for the default")
	check(c.RetryMin >= MinRetry, "RetryMin", c.RetryMin, MinRetry.String()+" or more, or 0 for the default")
	check(c.RetryMax >= c.RetryMin, "RetryMax", c.RetryMax, "RetryMin or more, or 0 for the default")
	check(c.RefusalLimit >= 1, "RefusalLimit", c.RefusalLimit, "1 or more, or 0 for the default")
	check(c.Retention > 0 || c.Retention == Forever, "Retention", c.Retention, "a positive duration, Forever, or 0 for the default")
	check(c.EventRetention > 0 || c.EventRetention == Forever, "EventRetention", c.EventRetention, "a positive duration, or 0 to keep all")
	return errors.Join(problems...)
}
