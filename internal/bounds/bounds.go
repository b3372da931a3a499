// Package bounds has the bounds of tasks and ticks that several packages must agree on.
package bounds

import (
	"time"
)

// MaxSink is the greatest length of the name of a sink.
const MaxSink = 64

// MaxBatchTicks bounds the ticks of a batch, so that many tasks which catch up
// leave room for those that are on time.
const MaxBatchTicks = 10_000

// MaxDecided is how many recorded ticks of a task a decision reads. What comes
// after them is decided in the next batch.
const MaxDecided = 1_000

// MaxCounted is the greatest number of missed ticks that is counted exactly.
const MaxCounted = 10_000

// DefaultTickLimit is how many ticks are listed by default.
const DefaultTickLimit = 100

// OverdueAfter is how long after its time a task counts as overdue. A scheduler that
// works takes a task within milliseconds.
const OverdueAfter = 5 * time.Second

// PausedAfterFailures is the By of a pause that follows from failures.
const PausedAfterFailures = "nextrun"

// HousekeepingTask is the task whose jobs delete what is old.
const HousekeepingTask = "nextrun.housekeeping"

// NotRun selects in place of a decision the ticks that got no job: skipped, late and missed ones.
const NotRun = "not-run"
