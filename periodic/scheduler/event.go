package scheduler

import (
	"context"
	"log/slog"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic"
)

// ErrStarted is wrapped by the errors of Start and RunOnce of a scheduler that
// runs or ran.
var ErrStarted = service.ErrStarted

// EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	EventTick    EventKind = "tick"    // a tick was decided, and the decision is committed
	EventEnded   EventKind = "ended"   // a job in a queue that is not nextrun's own has ended, and that is recorded
	EventProblem EventKind = "problem" // a row has a problem
	EventBatch   EventKind = "batch"   // a batch was committed
	EventCleared EventKind = "cleared" // stale marks were removed
	EventPruned  EventKind = "pruned"  // old rows were deleted
	EventError   EventKind = "error"   // something failed and will be tried again
	EventSplit   EventKind = "split"   // a batch failed; its tasks are tried in smaller parts, to find those that fail
	EventAside   EventKind = "aside"   // a task fails alone: it is left out of batches and tried again by itself
	EventSlow    EventKind = "slow"    // a batch of Count tasks took long to write: batches are smaller for 10 s. Named once a minute
	EventSink    EventKind = "sink"    // a sink cannot be used, and its tasks wait; or it can be used again

	// In the modes leader and exclusive.
	EventLeading  EventKind = "leading"  // the lock was acquired; scheduling begins
	EventStandby  EventKind = "standby"  // somebody else has the lock
	EventLost     EventKind = "lost"     // the lock was lost; scheduling has stopped
	EventReleased EventKind = "released" // the lock was released at the end
)

// Event is something that a scheduler did. Which fields are set depends on Kind.
type Event struct {
	Kind    EventKind
	Task    *periodic.Task // tick, problem; ended: some of its columns, nil if it was deleted
	Tick    periodic.Tick  // tick, ended
	Problem string         // problem
	Count   int            // batch: tasks; cleared: marks
	Ticks   int            // batch: ticks
	Took    time.Duration  // batch, slow
	Pruned  Pruned         // pruned
	ID      string         // aside: the task's id
	Sink    periodic.Sink  // sink, ended
	Doing   string         // error, split, aside: what was attempted
	Err     error          // error, split, aside; lost: why; sink: nil if it can be used again
	Lock    Lock           // standby, leading, lost, released: as last read
}

// logEvent writes an event as a log line: constant messages, data in fields.
func logEvent(log *slog.Logger, e Event) {
	switch e.Kind {
	case EventTick:
		logTick(log, e)
	case EventProblem:
		log.Warn("task has a problem", "task", e.Task.ID, "timer", e.Task.Timer, "problem", e.Problem)
	case EventBatch:
		log.Debug("batch committed", "tasks", e.Count, "ticks", e.Ticks, "took", e.Took)
	case EventCleared:
		log.Info("stale marks cleared", "marks", e.Count)
	case EventPruned:
		log.Info("old rows deleted", "ticks", e.Pruned.Ticks, "jobs", e.Pruned.Jobs, "events", e.Pruned.Events)
	case EventError:
		if service.LogOutage(log, e.Err) {
			return
		}
		log.Error("scheduler: database work failed, retrying", "error", e.Err, "while", e.Doing)
	case EventSplit:
		log.Warn("a batch failed; trying its tasks in smaller parts", "error", e.Err, "while", e.Doing)
	case EventAside:
		log.Warn("task set aside, others go on; it is retried from time to time. Change its row, or remove the lock or the constraint that stops it",
			"error", e.Err, "task", e.ID, "while", e.Doing)
	case EventEnded:
		logEnded(log, e)
	case EventSlow:
		log.Warn("the database takes long to submit a batch of tasks: batches are smaller for a while. Look for a slow trigger or check on periodic_task, periodic_tick or job",
			"tasks", e.Count, "took", e.Took.Round(time.Millisecond))
	case EventSink:
		if e.Err == nil {
			log.Info("sink works again", "sink", e.Sink)
		} else {
			log.Error("sink cannot be used; its tasks wait", "error", e.Err, "sink", e.Sink)
		}
	case EventLeading, EventStandby, EventLost, EventReleased:
		logLock(log, e)
	}
}

func logTick(log *slog.Logger, e Event) {
	level := slog.LevelInfo
	if e.Tick.Decision == periodic.Missed || e.Tick.Decision == periodic.Late {
		level = slog.LevelWarn
	}
	ctx := context.Background()
	if !log.Enabled(ctx, level) {
		return // there are many ticks: make no fields for lines that are not written
	}
	log = log.With("task", e.Tick.TaskID, "due", e.Tick.Due.UTC().Format(tickLayout))
	if e.Tick.Cause != "" {
		log = log.With("cause", e.Tick.Cause)
	}
	if e.Tick.Reason != "" {
		log = log.With("reason", e.Tick.Reason)
	}
	switch e.Tick.Decision {
	case periodic.Submitted:
		if e.Task.Sink == periodic.SinkEvent {
			log.Info("event written", "type", e.Task.Task, "topic", e.Task.Group, "event", e.Tick.JID)
			return
		}
		log.Info("job submitted", "handler", e.Task.Task, "jid", e.Tick.JID)
	case periodic.Missed:
		log.Warn("ticks missed", "missed", e.Tick.Missed, "until", e.Tick.Until.UTC().Format(tickLayout))
	default:
		log.Log(ctx, level, "tick "+string(e.Tick.Decision))
	}
}

// tickLayout is how log lines say times of ticks.
const tickLayout = "2006-01-02T15:04:05.999999Z"

// logEnded is like the line of an executor about the end of a job.
func logEnded(log *slog.Logger, e Event) {
	level := slog.LevelInfo
	if !e.Tick.Ended.Succeeded() {
		level = slog.LevelWarn
	}
	log = log.With("task", e.Tick.TaskID, "queue", e.Sink, "jid", e.Tick.JID, "state", e.Tick.Ended)
	if e.Tick.Attempts > 0 {
		log = log.With("attempt", e.Tick.Attempts)
	}
	if e.Tick.Error != "" {
		log = log.With("error", e.Tick.Error)
	}
	log.Log(context.Background(), level, "job ended")
}

func logLock(log *slog.Logger, e Event) {
	log = log.With("lock", e.Lock.Name)
	switch e.Kind {
	case EventLeading:
		log.Info("scheduler lock acquired; scheduling")
	case EventStandby:
		log.Info("standing by; another instance schedules", "holder", e.Lock.Holder, "host", e.Lock.Hostname, "pid", e.Lock.PID,
			"since", e.Lock.Acquired.UTC().Format("2006-01-02T15:04:05Z"))
	case EventLost:
		log.Error("scheduler lock lost; scheduling stopped", "error", e.Err)
	case EventReleased:
		log.Info("scheduler lock released")
	}
}
