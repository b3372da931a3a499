package scheduler

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/leader"
)

// What the fields of [Config] are that nobody sets.
const (
	DefaultBatchSize    = 2500
	DefaultLead         = time.Second
	DefaultLease        = 30 * time.Second
	DefaultPollInterval = 30 * time.Second
)

// Bounds of [Config].
const (
	maxBatch        = 10_000
	minLease        = time.Second
	maxLead         = 10 * time.Second
	leasePerLead    = 3 // a lease is at least so many leads
	minPollInterval = 10 * time.Millisecond
	longest         = 1000 * time.Hour // of all durations
)

type (
	// Hooks are those of a database, as store.DB.Hooks returns them.
	Hooks = batch.Hooks
	// Lock is the lock of the modes leader and exclusive.
	Lock = leader.Lock
	// LockConfig is the settings of that lock.
	LockConfig = leader.Terms
)

// Config is the settings of a [Scheduler]. Only Name is required.
type Config struct {
	// Name of the worker, by convention the host's: records of ticks carry it, and at start
	// a scheduler clears the marks of its own name. 1 to 200 bytes, no slash and no
	// control characters. A second process of the same name does no harm. In the
	// database, each character other than an ASCII letter, a digit, -, _ and . is a
	// dash.
	Name string
	// BatchSize is the greatest number of tasks that are read, decided and
	// written together, 1 to 10,000. 0: 2500.
	BatchSize int `yaml:"batch_size"`
	// Lease is how long a mark of Docspell is valid: a task whose mark is older is scheduled. At least 1 s.
	// 0: 30 s.
	Lease time.Duration `yaml:"lease"`
	// Lead is how long before its time a task is read and decided at the
	// earliest, so that only its job is left to submit when it is due. At most 10 s and
	// a third of Lease. 0: 1 s, or a third of Lease if that is less. Negative:
	// tasks are read when they are due.
	Lead time.Duration `yaml:"lead" form:"orzero"`
	// PollInterval is the longest time between two queries: how late a change can
	// be noticed if its notification is lost. At least 10 ms.
	// 0: 30 s.
	PollInterval time.Duration `yaml:"poll_interval"`
	// Mode says who schedules. Empty: ModeShared.
	Mode Mode
	// Lock is the lock of the modes leader and exclusive.
	Lock LockConfig `yaml:"lock"`
	// Retention says how long ticks, jobs and events are kept. A scheduler that was started deletes
	// what is older, once a day; RunOnce deletes nothing.
	Retention Retention `yaml:"retention"`
	// Submitters are the queues that are not nextrun's own, by their names. A task
	// selects one by the column sink. One named job or event takes the place of the
	// built-in queue. Names begin with a lower-case letter; letters, digits, '-' and
	// '_' follow, 64 characters at most.
	Submitters periodic.Submitters
	// Hooks, if not nil, hear of ticks that get no job, in the transaction that records
	// them; store.DB.Hooks makes them.
	Hooks Hooks
	// Tracer, if not nil, makes a span for each queue that gets jobs of a batch; package
	// ops/tracing has one.
	Tracer jobqueue.SendTracer
	// Logger takes the log lines. nil: slog.Default().
	Logger *slog.Logger
	// Observe, if not nil, is called for every event, from the scheduler's
	// goroutines: it must return soon.
	Observe func(Event)
}

func (c Config) withDefaults() Config {
	service.SetDefault(&c.BatchSize, DefaultBatchSize)
	service.SetDefault(&c.Lease, DefaultLease)
	service.SetDefault(&c.Lead, min(DefaultLead, c.Lease/leasePerLead))
	service.SetDefault(&c.PollInterval, DefaultPollInterval)
	service.SetDefault(&c.Mode, ModeShared)
	c.Lock = c.Lock.WithDefaults()
	c.Retention = c.Retention.WithDefaults()
	service.SetDefault(&c.Logger, slog.Default())
	return c
}

// Validate returns an error that names every field that is out of bounds, except
// those of Lock and Retention, which check their own. [New] calls all three. It
// needs no database.
func (c Config) Validate() error {
	c = c.withDefaults()
	p := &service.Check{Config: "scheduler.Config"}
	p.Name(c.Name)
	service.Within(p, "BatchSize", c.BatchSize, 1, maxBatch)
	service.Within(p, "Lease", c.Lease, minLease, longest)
	most := min(maxLead, c.Lease/leasePerLead)
	p.Field(c.Lead <= most, "Lead", c.Lead, fmt.Sprintf("1ms to %s, at most a third of Lease, or negative", most))
	service.Within(p, "PollInterval", c.PollInterval, minPollInterval, longest)
	for sink, submitter := range c.Submitters {
		p.Field(sink.Valid() && submitter != nil, "Submitters", fmt.Sprintf("%q", sink), "a queue under a name of 1 to 64 lower-case letters, digits, '-' and '_' that begins with a letter")
	}
	p.Field(c.Mode.Valid(), "Mode", fmt.Sprintf("%q", c.Mode), "shared, leader or exclusive")
	return p.Err()
}

// observe logs an event and passes it on.
func (c *Config) observe(e Event) {
	logEvent(c.Logger, e)
	if c.Observe != nil {
		c.Observe(e)
	}
}

// fail observes an error after which the scheduler goes on.
func (c *Config) fail(doing string, err error) {
	c.observe(Event{Kind: EventError, Doing: doing, Err: err})
}

// Mode says which of several schedulers on one database schedule. A tick has
// one job at most in each of them; the modes with a lock save work.
type Mode string

// The modes.
const (
	// ModeShared: every scheduler schedules; locks on rows keep them apart. The default.
	ModeShared Mode = "shared"
	// ModeLeader: the holder of the lock schedules, the others stand by and take
	// over.
	ModeLeader Mode = "leader"
	// ModeExclusive: as ModeLeader, but a scheduler that finds the lock held
	// refuses to start, and one whose lock was taken by another ends.
	ModeExclusive Mode = "exclusive"
)

// Valid reports whether m is one of the modes.
func (m Mode) Valid() bool { return m == ModeShared || m == ModeLeader || m == ModeExclusive }
