package executor

import (
	"context"
	"log/slog"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
)

// EventKind says what happened in an [Executor].
type EventKind string

// The kinds of events.
const (
	EventStarted     EventKind = "started"     // the executor began its work
	EventStopping    EventKind = "stopping"    // the executor claims no more; Count jobs are in flight. Those that are Running have Grace to end
	EventHurried     EventKind = "hurried"     // the grace of a stop is over: the contexts of the jobs that are Running were cancelled
	EventStopped     EventKind = "stopped"     // the executor has ended
	EventBegun       EventKind = "begun"       // Job runs now, or as soon as there is a place in the pool
	EventEnded       EventKind = "ended"       // Job went to State after Duration; Err is why, if not success. Attempts is how often it is tried at most
	EventLost        EventKind = "lost"        // Job was taken away by others
	EventInterrupted EventKind = "interrupted" // Job was taken back from Worker, which has died; it is in State now
	EventRefused     EventKind = "refused"     // the database refuses to change Job; the others go on, and it is tried again after Duration, then ever more rarely
	EventTrouble     EventKind = "trouble"     // work in the database failed with Err; it is tried again after Duration
)

// Event is something that happened in an [Executor]. Fields that the kind does
// not name are zero.
type Event struct {
	Kind     EventKind
	Job      jobqueue.Job
	State    jobqueue.State
	Worker   string
	Count    int
	Running  string // tasks of jobs, or else their handlers, separated by commas
	Grace    time.Duration
	Attempts int // 0: not known
	Duration time.Duration
	Err      error
}

// emit tells the log and the program what happened.
func (e *Executor) emit(event Event) {
	if e.cfg.Observe != nil {
		e.cfg.Observe(event)
	}
	logEvent(e.cfg.Logger, event)
}

// logEvent makes a log line of an event: constant messages, data in fields.
func logEvent(logger *slog.Logger, event Event) {
	if event.Kind == EventTrouble && service.LogOutage(logger, event.Err) {
		return
	}
	level, message := words(event)
	if ctx := context.Background(); logger.Enabled(ctx, level) { // there are many jobs: make no fields for lines that are not written
		logger.Log(ctx, level, message, fields(event)...)
	}
}

// fields are the data of an event that are set.
func fields(event Event) (list []any) {
	add := func(is bool, pairs ...any) {
		if is {
			list = append(list, pairs...)
		}
	}
	add(event.Job.JID != "", "jid", event.Job.JID)
	add(event.Job.Tracker != "", "task", event.Job.Tracker)
	add(event.Job.Task != "", "handler", event.Job.Task, "group", event.Job.Group)
	add(event.Kind == EventEnded, "attempt", event.Job.Retries+1)
	add(event.Attempts != 0, "max_attempts", event.Attempts)
	add(event.Worker != "", "worker", event.Worker)
	add(event.State != "", "state", event.State.Word())
	add(event.Count != 0, "jobs", event.Count)
	add(event.Running != "", "running", event.Running)
	add(event.Grace != 0, "grace", event.Grace)
	add(event.Duration != 0, "duration", event.Duration.Round(time.Millisecond).String())
	add(event.Err != nil, "error", event.Err)
	return list
}

func words(event Event) (level slog.Level, message string) {
	switch event.Kind {
	case EventStarted:
		return slog.LevelInfo, "executor started"
	case EventStopping:
		return slog.LevelInfo, "executor is stopping"
	case EventHurried:
		return slog.LevelWarn, "executor is stopping: jobs that still run were cancelled, and are waited for"
	case EventStopped:
		return slog.LevelInfo, "executor stopped"
	case EventBegun:
		return slog.LevelDebug, "job begun"
	case EventEnded:
		switch event.State {
		case jobqueue.Stuck:
			return slog.LevelWarn, "job failed, and is tried again"
		case jobqueue.Failed:
			return slog.LevelWarn, "job ended"
		}
		return slog.LevelInfo, "job ended"
	case EventLost:
		return slog.LevelWarn, "job lost: another worker has it, or it was cancelled or changed in the table"
	case EventInterrupted:
		return slog.LevelWarn, "job taken back: its worker has died"
	case EventRefused:
		return slog.LevelError, "the database refuses to change a job; the other jobs go on. Look for a constraint, a trigger or a lock that stops it"
	default: // EventTrouble
		return slog.LevelError, "executor: database work failed, retrying"
	}
}
