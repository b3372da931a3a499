package scheduler

import (
	"time"

	"github.com/sirupsen/logrus"

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
func logEvent(log logrus.FieldLogger, e Event) {
	switch e.Kind {
	case EventTick:
		logTick(log, e)
	case EventProblem:
		service.WithEvent(log, logrus.Fields{"task": e.Task.ID, "timer": e.Task.Timer, "problem": e.Problem}, e).
			Warn("task has a problem")
	case EventBatch:
		log.WithFields(logrus.Fields{"tasks": e.Count, "ticks": e.Ticks, "took": e.Took}).Debug("batch committed")
	case EventCleared:
		log.WithField("marks", e.Count).Info("stale marks cleared")
	case EventPruned:
		log.WithFields(logrus.Fields{"ticks": e.Pruned.Ticks, "jobs": e.Pruned.Jobs, "events": e.Pruned.Events}).Info("old rows deleted")
	case EventError:
		if service.LogOutage(log, e.Err) {
			return
		}
		log.WithError(e.Err).WithField("while", e.Doing).Error("scheduler: database work failed, retrying")
	case EventSplit:
		log.WithError(e.Err).WithField("while", e.Doing).Warn("a batch failed; trying its tasks in smaller parts")
	case EventAside:
		log.WithError(e.Err).WithFields(logrus.Fields{"task": e.ID, "while": e.Doing}).Warn("task set aside, others go on; " +
			"it is retried from time to time. Change its row, or remove the lock or the constraint that stops it")
	case EventEnded:
		logEnded(log, e)
	case EventSlow:
		log.WithFields(logrus.Fields{"tasks": e.Count, "took": e.Took.Round(time.Millisecond)}).
			Warn("the database takes long to submit a batch of tasks: batches are smaller for a while. Look for a slow trigger or check on periodic_task, periodic_tick or job")
	case EventSink:
		if e.Err == nil {
			log.WithField("sink", e.Sink).Info("sink works again")
		} else {
			log.WithError(e.Err).WithField("sink", e.Sink).Error("sink cannot be used; its tasks wait")
		}
	case EventLeading, EventStandby, EventLost, EventReleased:
		logLock(log, e)
	}
}

func logTick(log logrus.FieldLogger, e Event) {
	level := logrus.InfoLevel
	if e.Tick.Decision == periodic.Missed || e.Tick.Decision == periodic.Late {
		level = logrus.WarnLevel
	}
	if l, ok := log.(*logrus.Logger); ok && !l.IsLevelEnabled(level) {
		return // there are many ticks: make no fields for lines that are not written
	}
	line := service.WithEvent(log, logrus.Fields{"task": e.Tick.TaskID, "due": e.Tick.Due.UTC().Format(tickLayout)}, e)
	if e.Tick.Cause != "" {
		line = line.WithField("cause", e.Tick.Cause)
	}
	if e.Tick.Reason != "" {
		line = line.WithField("reason", e.Tick.Reason)
	}
	switch e.Tick.Decision {
	case periodic.Submitted:
		if e.Task.Sink == periodic.SinkEvent {
			line.WithFields(logrus.Fields{"type": e.Task.Task, "topic": e.Task.Group, "event": e.Tick.JID}).Info("event written")
			return
		}
		line.WithFields(logrus.Fields{"handler": e.Task.Task, "jid": e.Tick.JID}).Info("job submitted")
	case periodic.Missed:
		line.WithFields(logrus.Fields{"missed": e.Tick.Missed, "until": e.Tick.Until.UTC().Format(tickLayout)}).Warn("ticks missed")
	default:
		line.Log(level, "tick "+string(e.Tick.Decision))
	}
}

// tickLayout is how log lines say times of ticks.
const tickLayout = "2006-01-02T15:04:05.999999Z"

// logEnded is like the line of an executor about the end of a job.
func logEnded(log logrus.FieldLogger, e Event) {
	level := logrus.InfoLevel
	if !e.Tick.Ended.Succeeded() {
		level = logrus.WarnLevel
	}
	line := service.WithEvent(log, logrus.Fields{"task": e.Tick.TaskID, "queue": e.Sink, "jid": e.Tick.JID, "state": e.Tick.Ended}, e)
	if e.Tick.Attempts > 0 {
		line = line.WithField("attempt", e.Tick.Attempts)
	}
	if e.Tick.Error != "" {
		line = line.WithField("error", e.Tick.Error)
	}
	line.Log(level, "job ended")
}

func logLock(log logrus.FieldLogger, e Event) {
	log = log.WithField("lock", e.Lock.Name)
	switch e.Kind {
	case EventLeading:
		log.Info("scheduler lock acquired; scheduling")
	case EventStandby:
		log.WithFields(logrus.Fields{"holder": e.Lock.Holder, "host": e.Lock.Hostname, "pid": e.Lock.PID,
			"since": e.Lock.Acquired.UTC().Format("2006-01-02T15:04:05Z")}).Info("standing by; another instance schedules")
	case EventLost:
		log.WithError(e.Err).Error("scheduler lock lost; scheduling stopped")
	case EventReleased:
		log.Info("scheduler lock released")
	}
}
