package jobqueue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/sirupsen/logrus"
)

// Defaults of [Config].
const (
	DefaultPoolSize      = 10
	DefaultHigh          = 3
	DefaultLow           = 1
	DefaultPollInterval  = 30 * time.Second
	DefaultLease         = 30 * time.Second
	DefaultRetryDelay    = 10 * time.Second
	DefaultRetryLimit    = 5
	DefaultRetryCap      = time.Hour
	DefaultMaxInterrupts = 5
	DefaultShutdownGrace = 20 * time.Second
)

// Never means zero in [Config.RetryLimit] and [Config.MaxInterrupts], where 0 means
// the default.
const Never = -1

const (
	maxName     = 200
	maxPoolSize = 10_000
	maxShare    = 1000
	minLease    = time.Second
)

// Config are the settings of an [Executor]. Only Name has no default.
type Config struct {
	// Name is the worker's name, at most 200 bytes without '/'. The column
	// worker holds name/boot id, so that processes of one name stay apart.
	Name string
	// PoolSize is how many jobs run at once. 0: [DefaultPoolSize].
	PoolSize int
	// Groups limits the executor to jobs of these groups. Empty: all groups.
	Groups []string
	// High and Low are the counting scheme: of High+Low jobs of a group, High
	// are of high priority and Low of low priority, as long as there are such.
	// 0: [DefaultHigh] and [DefaultLow].
	High, Low int
	// PollInterval is how often an idle executor looks for jobs without a
	// notification. It also looks whenever a lease may end, at least once per
	// Lease. 0: [DefaultPollInterval].
	PollInterval time.Duration
	// Lease is the age of a job's heartbeat beyond which any executor takes the
	// job from its worker; use the same everywhere. 0: [DefaultLease]; at least 1s.
	Lease time.Duration
	// Heartbeat is how often the heartbeat of jobs in flight is renewed.
	// 0: a third of Lease; at most half of it.
	Heartbeat time.Duration
	// RetryDelay is how long a failed job is stuck before it is tried again; it
	// doubles with each retry, and varies by a tenth. 0: [DefaultRetryDelay].
	RetryDelay time.Duration
	// RetryLimit is how often a failed job is tried again. 0:
	// [DefaultRetryLimit]; [Never]: no retries.
	RetryLimit int
	// RetryCap is the longest delay. 0: [DefaultRetryCap].
	RetryCap time.Duration
	// MaxInterrupts is how often a job may lose its worker. The next time it fails,
	// since the job itself may kill its workers. 0: [DefaultMaxInterrupts];
	// [Never]: a job that loses its worker fails.
	MaxInterrupts int
	// ShutdownGrace is how long running jobs may go on once the executor stops;
	// then their contexts are cancelled and they go back to waiting.
	// 0: [DefaultShutdownGrace]; negative: cancelled at once.
	ShutdownGrace time.Duration
	// Logger takes the log lines. nil: logrus.StandardLogger().
	Logger logrus.FieldLogger
	// Observe, if not nil, is called for every [Event], possibly from several
	// goroutines at once. It must return at once.
	Observe func(Event)
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (c Config) withDefaults() Config {
	setDefault(&c.PoolSize, DefaultPoolSize)
	setDefault(&c.High, DefaultHigh)
	setDefault(&c.Low, DefaultLow)
	setDefault(&c.PollInterval, DefaultPollInterval)
	setDefault(&c.Lease, DefaultLease)
	setDefault(&c.Heartbeat, c.Lease/3)
	setDefault(&c.RetryDelay, DefaultRetryDelay)
	setDefault(&c.RetryLimit, DefaultRetryLimit)
	setDefault(&c.RetryCap, DefaultRetryCap)
	setDefault(&c.MaxInterrupts, DefaultMaxInterrupts)
	setDefault(&c.ShutdownGrace, DefaultShutdownGrace)
	if c.Logger == nil {
		c.Logger = logrus.StandardLogger()
	}
	c.Groups = slices.Compact(slices.Sorted(slices.Values(c.Groups))) // claims would count one twice
	return c
}

// validate checks a Config that has its defaults, and names the field and the
// bound of everything that is wrong.
func (c Config) validate() error {
	var problems []error
	check := func(ok bool, field string, value any, bound string) {
		if !ok {
			problems = append(problems, fmt.Errorf("jobqueue.Config.%s is %v; use %s", field, value, bound))
		}
	}
	check(c.Name != "", "Name", `""`, "a name that sets this process apart from others, such as the host's")
	check(!strings.Contains(c.Name, "/"), "Name", c.Name, "a name without '/'")
	check(len(c.Name) <= maxName, "Name", fmt.Sprintf("%d bytes long", len(c.Name)), fmt.Sprintf("at most %d bytes", maxName))
	check(text.Valid(c.Name), "Name", fmt.Sprintf("%q", c.Name), "UTF-8 without NUL")
	for _, group := range c.Groups {
		check(text.Valid(group), "Groups", fmt.Sprintf("%q", group), "UTF-8 without NUL")
	}
	check(within(c.PoolSize, 1, maxPoolSize), "PoolSize", c.PoolSize, fmt.Sprintf("1 to %d", maxPoolSize))
	check(within(c.High, 1, maxShare), "High", c.High, fmt.Sprintf("1 to %d", maxShare))
	check(within(c.Low, 1, maxShare), "Low", c.Low, fmt.Sprintf("1 to %d", maxShare))
	check(within(c.PollInterval, time.Millisecond, 24*time.Hour), "PollInterval", c.PollInterval, "1ms to 24h")
	check(within(c.Lease, minLease, 24*time.Hour), "Lease", c.Lease, "1s to 24h")
	check(within(c.Heartbeat, time.Millisecond, c.Lease/2), "Heartbeat", c.Heartbeat, "1ms to half of Lease")
	check(within(c.RetryDelay, 0, c.RetryCap), "RetryDelay", c.RetryDelay, "a positive duration of at most RetryCap")
	check(c.RetryLimit >= Never, "RetryLimit", c.RetryLimit, "a number of retries, 0 (the default) or Never")
	check(within(c.RetryCap, 0, 365*24*time.Hour), "RetryCap", c.RetryCap, "a positive duration of at most 8760h")
	check(c.MaxInterrupts >= Never, "MaxInterrupts", c.MaxInterrupts, "a number of interrupts, 0 (the default) or Never")
	return errors.Join(problems...)
}

func within[T int | time.Duration](value, low, high T) bool { return low <= value && value <= high }
