package jobqueue

import (
	"github.com/nextrun/nextrun/jobqueue/backend"
	"github.com/nextrun/nextrun/jobqueue/internal/joblog"
)

// Types that stores use too; package backend has their fields.
type (
	// Job is a row of the table job.
	Job = backend.Job
	// Limits are the settings of a handler or of a single job.
	Limits = backend.Limits
	// State is where a job is in its life.
	State = backend.State
	// Level is how much a line of the job log matters.
	Level = backend.Level
	// Filter selects jobs.
	Filter = backend.Filter
	// LogFilter selects lines of a job's log.
	LogFilter = backend.LogFilter
	// LogLine is a line of a job's log.
	LogLine = backend.LogLine
	// PruneFilter selects final jobs to delete.
	PruneFilter = backend.PruneFilter
	// Pause is a group or a task of which no job is claimed.
	Pause = backend.Pause
	// Limit bounds how many jobs of a group or a task run at once.
	Limit = backend.Limit
	// LimitKind says which jobs a limit counts.
	LimitKind = backend.LimitKind
	// PauseKind says what is paused.
	PauseKind = backend.PauseKind
	// DBTX runs statements inside somebody's transaction: *sql.Tx or *sqlx.Tx.
	DBTX = backend.DBTX
	// SendTracer makes the spans of those who put jobs into queues.
	SendTracer = backend.SendTracer
	// RunTracer makes the spans of attempts.
	RunTracer = backend.RunTracer
	// Hooks hear of jobs that begin and of jobs that end; see package hooks.
	Hooks = backend.Hooks
)

// The states of a job. Waiting, scheduled, running and stuck jobs are pending;
// the others are final.
const (
	Waiting   = backend.Waiting
	Scheduled = backend.Scheduled
	Running   = backend.Running
	Stuck     = backend.Stuck
	Success   = backend.Success
	Failed    = backend.Failed
	Cancelled = backend.Cancelled
)

// The levels of the job log, the least first.
const (
	Debug = backend.Debug
	Info  = backend.Info
	Warn  = backend.Warn
	Error = backend.Error
)

// ParseState reads a state as the table has it, or as [State.Word] writes it.
func ParseState(text string) State { return backend.ParseState(text) }

// What can be paused, and what can have a limit.
const (
	PauseGroup = backend.PauseGroup
	PauseTask  = backend.PauseTask
	LimitGroup = backend.LimitGroup
	LimitTask  = backend.LimitTask
)

// Priorities of jobs. Any other number is served like the nearer of the two.
const (
	PriorityLow  = backend.PriorityLow
	PriorityHigh = backend.PriorityHigh
)

const (
	// DefaultListLimit is how many jobs or lines a list has by default.
	DefaultListLimit = backend.DefaultListLimit
	// MaxMessage is the greatest length of a line of the job log, and of a
	// result, in bytes.
	MaxMessage = backend.MaxMessage
	// MaxLogLines is how many lines of an attempt are kept.
	MaxLogLines = joblog.MaxAttemptLines
	// MaxLogBytes is how many bytes of an attempt's lines are kept.
	MaxLogBytes = joblog.MaxAttemptBytes
)

// States lists all states, pending ones first.
func States() []State { return backend.States() }

// NewID returns an id for a job: a UUID of version 7 (RFC 9562), so that ids of
// later jobs sort later.
func NewID() string { return backend.NewID() }
