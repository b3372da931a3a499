package periodic

import (
	"strings"
	"time"

	"github.com/nextrun/nextrun/periodic/days"
)

// Known reports whether this version of nextrun has the policy. It leaves tasks with another one alone.
func (o Overlap) Known() bool {
	return o == OverlapSkip || o == OverlapQueue || o == OverlapReplace || o == OverlapAllow
}

// Overlap says what becomes of a tick while a job of its task is not final: [OverlapSkip], the default,
// [OverlapQueue], [OverlapReplace] or [OverlapAllow].
type Overlap string

// The overlap policies.
const (
	OverlapSkip    Overlap = "skip"    // the tick is recorded and left out
	OverlapQueue   Overlap = "queue"   // it waits for the end of that job
	OverlapReplace Overlap = "replace" // that job is cancelled
	OverlapAllow   Overlap = "allow"   // both run
)

// Catchup says what becomes of ticks that fell due while no scheduler ran: [CatchupOne], the default, submits the
// newest, [CatchupNone] too unless it is older than Grace, [CatchupAll] each.
type Catchup string

// The catchup policies.
const (
	CatchupOne  Catchup = "one"  // the newest is submitted, the others are missed
	CatchupNone Catchup = "none" // as one, but none that is older than Grace
	CatchupAll  Catchup = "all"  // each is decided on its own, oldest first
)

// Sink names the queue that the jobs of a task go to: a built-in one, or one of the
// scheduler's configuration.
type Sink string

// The built-in sinks.
const (
	SinkJob   Sink = "job"   // a row of the table job
	SinkEvent Sink = "event" // an event of the outbox
)

// Valid reports whether s can be the name of a sink: a lower-case letter, then
// lower-case letters, digits, '-' and '_', at most [MaxSink] characters.
func (s Sink) Valid() bool {
	for i, c := range []byte(s) {
		if letter := 'a' <= c && c <= 'z'; !letter && (i == 0 || c != '-' && c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != "" && len(s) <= MaxSink
}

// Task is a row of the table periodic_task. All times are UTC with
// microseconds; the zero time stands for NULL. [Task.Validate] finds what is wrong with it,
// [Task.Upcoming] and [Preview] say when it ticks.
type Task struct {
	ID        string    // unique; also the tracker of its jobs
	Enabled   bool      // a task that is not enabled has no ticks
	Task      string    // of the job: names the handler
	Group     string    // of the job
	Args      string    // of the job; empty in a Task that a scheduler has read
	Subject   string    // of the job
	Submitter string    // of the job
	Priority  int       // of the job: 0 low, 10 high
	Worker    string    // who has marked it: Docspell, or an older nextrun
	Marked    time.Time // when it was marked
	Timer     string    // when it elapses, see package calendar
	NextRun   time.Time // when its next tick is submitted: Due and the jitter
	Created   time.Time // intervals without `from` count from it if Starts is zero
	Summary   string    // for people

	Due          time.Time      // nominal time of the planned tick; zero: not planned, or a user has set NextRun
	Starts       time.Time      // no tick is due before it; zero: no bound
	Ends         time.Time      // no tick is due at it or later; zero: no bound
	Overlap      Overlap        // default OverlapSkip
	Catchup      Catchup        // default CatchupOne
	CatchupLimit int            // with CatchupAll: only the newest so many of the missed ticks are submitted; 0: all
	Grace        time.Duration  // whole seconds; for CatchupNone
	Deadline     *time.Duration // whole seconds after due and the jitter beyond which a tick is late; nil: never
	Jitter       time.Duration  // whole seconds; all ticks are later by the same part of it, which the id determines
	Sink         Sink           // default SinkJob
	Days         Days           // which days are different
	PauseAfter   int            // so many failures of its ticks' jobs in a row pause the task; 0: none do

	// Of the task's jobs in nextrun's own queue, which get them when they are submitted.
	// What is not set, the handler and the executor say.
	RetryLimit *int          // how often a failed job is tried again; nil: not set
	RetryDelay time.Duration // whole seconds before the first retry, then doubling; 0: not set
	Timeout    time.Duration // whole seconds that an attempt may take; 0: not set

	Origin  string    // the program or file that declares it, as name or name@version, written by [Tasks.Apply] only; empty: none
	Pause   Pause     // written by [Tasks.Pause] only, not with the other columns
	Problem string    // what is wrong with the row; empty: nothing
	Since   time.Time // when it was added, or somebody last changed what the plan follows from. Not read in lists
	Version string    // of the row when a scheduler read it; empty: the transaction that read it has locked it, to edit it
	RowID   string    // where the row was then: the ctid of PostgreSQL; empty elsewhere
}

// Days say which ticks of the timer are left out.
type Days struct {
	Exclude   string         // names of calendars, separated by commas: no tick on their days
	Calendars days.Calendars // those, as they were read with the task; nil: none
	Skips     []days.LeftOut // likewise: ticks to come that people leave out, by Due
}

// Empty reports whether all ticks of the timer take place.
func (d *Days) Empty() bool { return d.Exclude == "" && len(d.Skips) == 0 }

// Unplanned reports whether the task waits for its first plan.
func (t *Task) Unplanned() bool { return t.Due.IsZero() && !t.NextRun.After(Unplanned) }

// Manual reports whether a user set NextRun.
func (t *Task) Manual() bool { return t.Due.IsZero() && t.NextRun.After(Unplanned) }

// Anchor is where intervals without `from` count from: Starts, or else the second in which the task
// was created.
func (t *Task) Anchor() time.Time {
	switch {
	case !t.Starts.IsZero():
		return t.Starts
	case t.Created.Before(Unplanned): // the zero time, or one that no timer can count from
		return t.Created
	}
	return t.Created.Truncate(time.Second)
}

// Overlapping reports whether a tick may be submitted while a job of the task
// is not final.
func (t *Task) Overlapping() bool { return t.Overlap == OverlapAllow || t.Sink == SinkEvent }

// Queues reports whether the policy makes ticks wait. Events wait for none.
func (t *Task) Queues() bool {
	return t.Sink != SinkEvent && (t.Overlap == OverlapQueue || t.Overlap == OverlapReplace)
}

// Bounds that several packages must agree on.
const (
	// MaxSink is the greatest length of the name of a sink.
	MaxSink = 64

	// MaxBatchTicks bounds the ticks of a batch, so that many tasks which catch up
	// leave room for those that are on time.
	MaxBatchTicks = 10_000

	// MaxDecided is how many recorded ticks of a task a decision reads. What comes
	// after them is decided in the next batch.
	MaxDecided = 1_000

	// MaxCounted is the greatest number of missed ticks that is counted exactly.
	MaxCounted = 10_000

	// DefaultTickLimit is how many ticks are listed by default.
	DefaultTickLimit = 100

	// OverdueAfter is how long after its time a task counts as overdue. A scheduler that
	// works takes a task within milliseconds.
	OverdueAfter = 5 * time.Second

	// PausedAfterFailures is the By of a pause that follows from failures.
	PausedAfterFailures = "nextrun"

	// NotRun selects in place of a decision the ticks that got no job: skipped, late and missed ones.
	NotRun = "not-run"
)

// What begins a problem says of what kind it is. Triggers write and views read the first, too.
const (
	// WarningPrefix: the task is scheduled all the same. Any other problem blocks its task until somebody changes it.
	WarningPrefix = "warning: "
	// WaitsPrefix: its queue cannot be used.
	WaitsPrefix = "the ticks wait: "
	// UnscheduledPrefix: the task fails alone. The row may be to blame, or something else.
	UnscheduledPrefix = "the task cannot be scheduled: "
	// UnreadablePrefix: its timer cannot be read. The problem is the text of a *calendar.ParseError.
	UnreadablePrefix = `timer "`

	// TableRefused is the reason of a tick whose job the queue refused although no job of the task is in the way.
	TableRefused = "the queue refused the job, although no job of the task is pending; check whether a unique index that you added forbids it"
)

// Blocked is the problem that keeps a task from running; empty if none does.
func (t *Task) Blocked() string {
	if strings.HasPrefix(t.Problem, WarningPrefix) {
		return ""
	}
	return t.Problem
}
