package executor

import (
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/jobqueue"
)

// EventKind says what happened in an [Executor].
type EventKind string

// The kinds of events.
const (
	EventStarted     EventKind = "started"     // the executor began its work
	EventStopping    EventKind = "stopping"    // the executor claims no more; Count jobs are in flight
	EventStopped     EventKind = "stopped"     // the executor has ended
	EventClaimed     EventKind = "claimed"     // Count jobs were taken
	EventBegun       EventKind = "begun"       // Job runs now, or as soon as there is a place in the pool
	EventEnded       EventKind = "ended"       // Job went to State after Duration; Err is why, if not success. Attempts is how often it is tried at most
	EventLost        EventKind = "lost"        // Job was taken away by others, or its lease could not be renewed
	EventInterrupted EventKind = "interrupted" // Job was taken back from Worker, which has ended or whose lease has; it is in State now
	EventRetried     EventKind = "retried"     // Count stuck jobs wait again
	EventRefused     EventKind = "refused"     // the database refuses to change Job (or Count jobs that Err names); the others go on, and it is tried again after Duration, then ever more rarely
	EventSlow        EventKind = "slow"        // the row of Job took Duration to write; the others go on beside it. Of each task, one job is named
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
	Attempts int // 0: not known
	Duration time.Duration
	Err      error
}

// events reports what happens to the program and to the log.
type events struct {
	worker  string
	logger  logrus.FieldLogger
	observe func(Event)
}

func (e events) emit(event Event) {
	if e.observe != nil {
		e.observe(event)
	}
	logEvent(e.logger, event)
}

func (e events) started() { e.emit(Event{Kind: EventStarted, Worker: e.worker}) }

func (e events) stopped(left int) { e.emit(Event{Kind: EventStopped, Worker: e.worker, Count: left}) }

func (e events) Stopping(inFlight int) {
	e.emit(Event{Kind: EventStopping, Worker: e.worker, Count: inFlight})
}

func (e events) Claimed(jobs int) { e.emit(Event{Kind: EventClaimed, Count: jobs}) }

func (e events) Begun(job jobqueue.Job) { e.emit(Event{Kind: EventBegun, Job: job}) }

func (e events) Ended(job jobqueue.Job, attempts int, state jobqueue.State, took time.Duration, why error) {
	e.emit(Event{Kind: EventEnded, Job: job, Attempts: attempts, State: state, Duration: took, Err: why})
}

func (e events) Lost(job jobqueue.Job) { e.emit(Event{Kind: EventLost, Job: job}) }

func (e events) Interrupted(jid, worker string, state jobqueue.State) {
	e.emit(Event{Kind: EventInterrupted, Job: jobqueue.Job{JID: jid}, Worker: worker, State: state})
}

func (e events) Retried(jobs int) { e.emit(Event{Kind: EventRetried, Count: jobs}) }

func (e events) Refused(jobs []jobqueue.Job, again time.Duration, why error) {
	event := Event{Kind: EventRefused, Duration: again, Err: why}
	if len(jobs) == 1 {
		event.Job = jobs[0]
	} else {
		event.Count = len(jobs)
	}
	e.emit(event)
}

func (e events) Slow(job jobqueue.Job, took time.Duration) {
	e.emit(Event{Kind: EventSlow, Job: job, Duration: took})
}

func (e events) Trouble(why error, again time.Duration) {
	e.emit(Event{Kind: EventTrouble, Err: why, Duration: again})
}
