package periodic

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/days"
	"github.com/nextrun/nextrun/periodic/sink"
)

// TaskStore is the database as [Tasks] needs it; package store implements it.
// It must be safe for concurrent use.
type TaskStore interface {
	// Update runs fn in a transaction, and commits it unless fn returns an error.
	Update(ctx context.Context, fn func(TaskTx) error) error
	// View runs fn in a transaction that only reads.
	View(ctx context.Context, fn func(TaskTx) error) error
	// Join returns the operations inside the caller's transaction.
	Join(ctx context.Context, tx jobqueue.DBTX) (TaskTx, error)
	// Queues returns the built-in queues, and the given ones by their names.
	Queues(others Submitters) map[Sink]Queue
}

// Times that stand for none, and errors.
var (
	// Unplanned is the NextRun of a task that no scheduler has planned yet.
	Unplanned = time.Unix(0, 0).UTC()
	// Never is the NextRun and Due of a task that will not elapse again.
	Never = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	// ErrNotFound and ErrDuplicate are wrapped by errors about a task that does not
	// exist, and about one that exists already.
	ErrNotFound  = service.ErrNotFound
	ErrDuplicate = service.ErrDuplicate
)

// TaskTx are the operations on tasks inside one transaction. Where there is no
// task of an id they return [ErrNotFound].
type TaskTx interface {
	taskReader
	originKeeper
	skipper
	// Add adds a task; [ErrDuplicate] if there is one of that id.
	Add(ctx context.Context, t Task) error
	// Save writes the columns that users own, without NextRun.
	Save(ctx context.Context, t Task) error
	// Enable enables or disables a task.
	Enable(ctx context.Context, id string, enabled bool) error
	// SetPause pauses a task, or with the zero value ends its pause.
	SetPause(ctx context.Context, id string, p Pause) error
	// RunAt sets NextRun, as by hand.
	RunAt(ctx context.Context, id string, at time.Time) error
	// Record records a tick that was decided without a scheduler: TaskID, Due, Decision,
	// Reason and JID. If it is Submitted, it takes the place of a tick that was skipped,
	// late or missed. If that is the first of several missed ticks in one row, the row
	// begins at Until afterwards. Record clears the task's mark, so that nobody who has marked it
	// commits a decision on it. It reports false for a tick that is there and stays.
	Record(ctx context.Context, tick Tick) (bool, error)
	// Reopen forgets how the job of a tick ended in another queue, since it runs again there.
	Reopen(ctx context.Context, tick Tick) error
	// Bare returns the transaction as a [sink.Submitter] needs it, and its now.
	Bare() (jobqueue.DBTX, time.Time)
	// Delete deletes a task.
	Delete(ctx context.Context, id string) error
	// ChangeCalendars removes rows of calendars, then writes others, by their names and first days.
	ChangeCalendars(ctx context.Context, write, remove []days.Row) error
}

// taskReader reads tasks and what became of them.
type taskReader interface {
	// Get reads a task; to edit it, it is locked until the transaction ends.
	Get(ctx context.Context, id string, toEdit bool) (Task, error)
	// List reads tasks in the order of their ids.
	List(ctx context.Context, filter TaskFilter) ([]Task, error)
	// Ticks reads ticks, the latest first.
	Ticks(ctx context.Context, filter TickFilter) ([]Tick, error)
	// Calendars reads the rows of all calendars, in the order of their names and days.
	Calendars(ctx context.Context) ([]days.Row, error)
	// Awaited reads the newest job of a task whose end in its queue is not recorded yet; without
	// one, sink is empty.
	Awaited(ctx context.Context, id string) (sink Sink, job sink.Open, err error)
}

// skipper keeps the ticks to come that people leave out.
type skipper interface {
	// Skip writes ahead that a tick is skipped, or changes the reason. [ErrDuplicate] if it is decided.
	Skip(ctx context.Context, id string, s days.LeftOut) error
	// Unskip removes a skip; [ErrNotFound] if there is none, or it is decided.
	Unskip(ctx context.Context, id string, due time.Time) error
}

// originKeeper knows who declares tasks.
type originKeeper interface {
	// LockOrigins keeps others who declare tasks waiting until the transaction ends.
	LockOrigins(ctx context.Context) error
	// SetOrigin gives tasks to an origin; empty: to none.
	SetOrigin(ctx context.Context, ids []string, origin string) error
}

// TaskFilter selects tasks; its zero value selects all.
type TaskFilter struct {
	ID     string // with that id; empty: any
	Task   string // of that name; empty: any
	Group  string // of that group; empty: any
	Search string // only those whose id or task contains it, in any case; empty: any
	State  TaskState
	// DueBefore selects enabled tasks that are planned before a time, the earliest first.
	// After must be empty then.
	DueBefore time.Time
	After     string // only ids greater than that, to go on after a page
	Limit     int    // at most so many; 0: all

	WithArgs bool // read the args, too, which may be large
	Slim     bool // read only what [Preview] needs, Overlap and Group: of thousands of tasks, that takes half of the time
}

// TaskState selects tasks by whether the scheduler gives them ticks, and by how they are doing;
// empty: any.
type TaskState string

// The states of tasks. Each is in one of the first four; it may be in several of the others.
const (
	TaskEnabled  TaskState = "enabled"  // and neither paused nor blocked
	TaskDisabled TaskState = "disabled" //
	TaskPaused   TaskState = "paused"   // enabled and paused, and not blocked
	TaskBlocked  TaskState = "blocked"  // enabled, and its row has a problem that keeps it from running
	TaskProblem  TaskState = "problem"  // its row has a problem, or a warning
	// TaskFailed: it is enabled, and it is paused after failures, or of its ten newest ticks, the newest
	// that has ended failed, was missed or late.
	TaskFailed TaskState = "failed"
	// TaskAttention: it is enabled, and failed, overdue or with a problem or warning; or no run has succeeded in time, as the view periodic_stale
	// has it. A task that somebody has paused needs attention only if it is overdue, or has a problem or warning.
	TaskAttention TaskState = "attention"
	TaskRetrying  TaskState = "retrying" // a job of it has failed and is tried again
	TaskOverdue   TaskState = "overdue"  // it is enabled, and has been due for 5 s or more
)

// TaskStates are all states that select tasks, in the order in which people read them.
func TaskStates() []TaskState {
	return []TaskState{TaskEnabled, TaskPaused, TaskBlocked, TaskDisabled, TaskAttention, TaskFailed, TaskRetrying, TaskOverdue, TaskProblem}
}

// TickFilter selects ticks; its zero value selects the latest of all tasks.
type TickFilter struct {
	TaskID   string    // of that task; empty: of all
	Group    string    // of the tasks of that group; empty: of all
	JID      string    // that became that job or event; empty: any
	Decision Decision  // with that decision, or "not-run": skipped, late or missed; empty: any
	Since    time.Time // decided at that time or later; zero: whenever
	Until    time.Time // decided before that time; zero: whenever
	DueFrom  time.Time // due at that time or later; zero: whenever. Without TaskID, also rows whose Until is
	DueTo    time.Time // due before that time; zero: whenever
	Oldest   bool      // those due first, instead of those due last
	Limit    int       // at most so many; 0: [DefaultTickLimit]
}
