package periodic

import (
	"iter"
	"time"

	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/task"
)

type ( //nolint:revive // the values that programs work with; package task describes them
	Task       = task.Task
	Tick       = task.Tick
	Upcoming   = task.Upcoming
	Pending    = task.Pending
	Overlap    = task.Overlap
	Catchup    = task.Catchup
	Sink       = task.Sink
	Decision   = task.Decision
	TaskError  = task.Error
	FieldError = task.FieldError
	Submitter  = backend.Submitter
	TaskFilter = backend.TaskFilter
	TickFilter = backend.TickFilter
)

// Their constants.
const (
	OverlapSkip    = task.OverlapSkip
	OverlapQueue   = task.OverlapQueue
	OverlapReplace = task.OverlapReplace
	OverlapAllow   = task.OverlapAllow
	CatchupOne     = task.CatchupOne
	CatchupNone    = task.CatchupNone
	CatchupAll     = task.CatchupAll
	SinkJob        = task.SinkJob
	SinkEvent      = task.SinkEvent
	Submitted      = task.Submitted
	Skipped        = task.Skipped
	Queued         = task.Queued
	Late           = task.Late
	Missed         = task.Missed
)

// ErrNotFound and ErrDuplicate are wrapped by the errors of [Tasks] about a task
// that does not exist, and about one that exists already.
var (
	ErrNotFound  = backend.ErrNotFound
	ErrDuplicate = backend.ErrDuplicate
)

// NextRun of a task that is not planned yet, and of one without further ticks.
var (
	Unplanned = task.Unplanned
	Never     = task.Never
)

// Preview returns the ticks to come of tasks; see [task.Preview].
func Preview(tasks []Task, now, until time.Time) iter.Seq[Upcoming] {
	return task.Preview(tasks, now, until)
}
