package periodic

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/sirupsen/logrus"
)

// Defaults of [Config].
const (
	DefaultBatchSize    = 1000
	DefaultLease        = 30 * time.Second
	DefaultPollInterval = 30 * time.Second
	DefaultRetryMin     = 100 * time.Millisecond
	DefaultRetryMax     = 10 * time.Second
)

// Bounds of [Config].
const (
	maxName  = 200
	maxBatch = 10_000
	minLease = time.Second
)

// Config is the settings of a [Scheduler]. Only Name is required.
type Config struct {
	// Name of the worker, by convention the host's: marks carry it, and at start
	// a scheduler clears those of its own name. 1 to 200 bytes, no slash and no
	// control characters. A second process of the same name does no harm.
	Name string
	// BatchSize is the greatest number of tasks that are marked, decided and
	// submitted together, 1 to 10,000. 0: DefaultBatchSize.
	BatchSize int
	// Lease is how long a mark is valid. Other schedulers take over a task whose mark
	// is older. At least 1 s, and much longer than a batch takes.
	// 0: DefaultLease.
	Lease time.Duration
	// PollInterval is the longest time between two queries: how late a change can
	// be noticed if its notification is lost. At least 10 ms.
	// 0: DefaultPollInterval.
	PollInterval time.Duration
	// RetryMin and RetryMax bound the time between attempts after an error; it
	// doubles from one to the other, with jitter. 0: DefaultRetryMin,
	// DefaultRetryMax.
	RetryMin, RetryMax time.Duration
	// Mode says who schedules. Empty: ModeShared.
	Mode Mode
	// Lock is the lock of the modes leader and exclusive.
	Lock LockConfig
	// Submitters replace the store's submitters of the same sink, or add to them.
	Submitters map[Sink]Submitter
	// Logger takes the log lines. nil: logrus.StandardLogger().
	Logger logrus.FieldLogger
	// Observe, if not nil, is called for every event, from the scheduler's
	// goroutines: it must return soon.
	Observe func(Event)
}

func (c Config) withDefaults() Config {
	if c.BatchSize == 0 {
		c.BatchSize = DefaultBatchSize
	}
	for d, value := range map[*time.Duration]time.Duration{
		&c.Lease: DefaultLease, &c.PollInterval: DefaultPollInterval,
		&c.RetryMin: DefaultRetryMin, &c.RetryMax: DefaultRetryMax,
	} {
		if *d == 0 {
			*d = value
		}
	}
	if c.Mode == "" {
		c.Mode = ModeShared
	}
	if c.Logger == nil {
		c.Logger = logrus.StandardLogger()
	}
	return c
}

func (c Config) validate() error {
	bad := func(field, value any, bound string) error {
		return fmt.Errorf("periodic.Config.%s is %v; use %s", field, value, bound)
	}
	switch {
	case c.Name == "" || len(c.Name) > maxName:
		return bad("Name", fmt.Sprintf("%q", c.Name), "1 to 200 bytes")
	case strings.Contains(c.Name, "/") || strings.ContainsFunc(c.Name, unicode.IsControl):
		return bad("Name", fmt.Sprintf("%q", c.Name), "a name without slashes and control characters")
	case c.BatchSize < 1 || c.BatchSize > maxBatch:
		return bad("BatchSize", c.BatchSize, "1 to 10,000, or 0 for the default")
	case c.Lease < minLease:
		return bad("Lease", c.Lease, "1s or more, or 0 for the default")
	case c.PollInterval < 10*time.Millisecond:
		return bad("PollInterval", c.PollInterval, "10ms or more, or 0 for the default")
	case c.RetryMin < time.Millisecond:
		return bad("RetryMin", c.RetryMin, "1ms or more, or 0 for the default")
	case c.RetryMax < c.RetryMin:
		return bad("RetryMax", c.RetryMax, "RetryMin or more, or 0 for the default")
	case !c.Mode.Valid():
		return bad("Mode", fmt.Sprintf("%q", c.Mode), "shared, leader or exclusive")
	}
	return nil
}

// observe logs an event and passes it on.
func (c *Config) observe(e Event) {
	logEvent(c.Logger, e)
	if c.Observe != nil {
		c.Observe(e)
	}
}
