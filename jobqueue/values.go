package jobqueue

import (
	"errors"

	"github.com/nextrun/nextrun/internal/service"
)

// Numbers with a meaning.
const (
	// MaxMessage is the greatest length of a line, and of a result, in bytes.
	MaxMessage = 64 << 10
	// MaxLogLines is how many lines of an attempt are kept.
	MaxLogLines = 100_000
	// MaxLogBytes is how many bytes of these lines are kept.
	MaxLogBytes = 16 << 20
	// DefaultListLimit is how many jobs or lines a list has by default.
	DefaultListLimit = 100
	// PriorityLow and PriorityHigh are the priorities of jobs. Any other number is served like the nearer of the two.
	PriorityLow  = 0
	PriorityHigh = 10
	// Never means zero where 0 means the default, as in [Limits.RetryLimit].
	Never = -1
)

// The jobs of hooks, which package hooks makes. Lists and counts leave them out, unless they ask for
// one of these names.
const (
	HookHandler = "nextrun.hook"
	HookGroup   = "nextrun.hooks"
)

// Errors of [Queue], and causes of the end of a handler's context. Match with [errors.Is].
var (
	// ErrNotFound is returned for a job that does not exist.
	ErrNotFound = service.ErrNotFound
	// ErrFinal is returned by Cancel and SetPriority for a job that has ended.
	ErrFinal = errors.New("the job has ended already")
	// ErrNotFinal is returned by Retry for a job that has not ended.
	ErrNotFinal = errors.New("the job has not ended yet")
	// ErrTaken is returned by SetPriority for a job that an executor has.
	ErrTaken = errors.New("an executor has the job already")
	// ErrForeign is returned by Cancel and Retry for a job that another kind of
	// executor has, or whose state is not one of [States].
	ErrForeign = errors.New("the job belongs to another kind of executor")
	// ErrCancelled: somebody asked for the cancellation of the job.
	ErrCancelled = errors.New("the job was cancelled")
	// ErrLeaseLost: another executor has taken the job, as it took this one for dead, or somebody has changed it in
	// the table. What the handler returns is ignored.
	ErrLeaseLost = errors.New("the lease of the job was lost")
	// ErrShutdown: the executor stops, and the grace time is over. Unless the
	// handler returns nil the job goes back to waiting.
	ErrShutdown = errors.New("the executor shuts down")
	// ErrTimeout: the job took longer than its [Timeout].
	ErrTimeout = errors.New("the job took too long")
)
