package periodic

import (
	"iter"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/task"
)

// The values that programs work with. Package task describes them.
type (
	// Task is a row of periodic_task.
	Task = task.Task
	// Tick is a row of periodic_tick: what became of one time at which a task was due.
	Tick = task.Tick
	// Upcoming is a tick to come.
	Upcoming = task.Upcoming
	// Pause says that a task is paused.
	Pause = task.Pause
	// Pending is a job that is not final.
	Pending = task.Pending
	// Overlap is the policy for a tick whose task still has a job that is not final.
	Overlap = task.Overlap
	// Catchup is the policy for ticks that were missed.
	Catchup = task.Catchup
	// Sink is where the ticks of a task go.
	Sink = task.Sink
	// Decision is what became of a tick.
	Decision = task.Decision
	// TaskError is an error about one task.
	TaskError = task.Error
	// FieldError is an error about one field of a task.
	FieldError = task.FieldError
	// Submitter puts the jobs of due tasks into a queue, in the transaction of the
	// scheduler.
	Submitter = backend.Submitter
	// Hooks hear of ticks that get no job; see package jobqueue/hooks.
	Hooks = backend.Hooks
	// TaskFilter selects tasks.
	TaskFilter = backend.TaskFilter
	// Outcome is what became of a task last.
	Outcome = backend.Outcome
	// Result is what became of the job or the event of a tick.
	Result = backend.Result
	// TaskState says whether the scheduler gives a task ticks.
	TaskState = backend.TaskState
	// TickFilter selects ticks.
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
	TaskEnabled    = backend.TaskEnabled
	TaskDisabled   = backend.TaskDisabled
	TaskPaused     = backend.TaskPaused
	TaskProblem    = backend.TaskProblem
	TaskFailed     = backend.TaskFailed
	TaskAttention  = backend.TaskAttention
	TaskRetrying   = backend.TaskRetrying
	TaskOverdue    = backend.TaskOverdue
)

// TaskStates are all states of tasks, in the order in which people read them.
func TaskStates() []TaskState { return backend.TaskStates() }

// The errors that those of this package wrap.
var (
	// ErrNotFound is wrapped by the errors of [Tasks] about a task that does not exist.
	ErrNotFound = backend.ErrNotFound
	// ErrDuplicate is wrapped by the errors of [Tasks] about a task that exists already.
	ErrDuplicate = backend.ErrDuplicate
	// ErrNoJobs is wrapped by errors about a database without the tables of jobs.
	ErrNoJobs = backend.ErrNoJobs
	// ErrStarted is wrapped by the errors of Start and RunOnce of a scheduler that
	// runs or ran.
	ErrStarted = service.ErrStarted
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

// OverdueAfter is how long after its time a task counts as overdue. A scheduler that
// works takes a task within milliseconds.
const OverdueAfter = task.OverdueAfter
