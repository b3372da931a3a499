package executor

import (
	"time"

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
	EventLost        EventKind = "lost"        // Job was taken away by others
	EventInterrupted EventKind = "interrupted" // Job was taken back from Worker, which has died; it is in State now
	EventRetried     EventKind = "retried"     // Count stuck jobs wait again
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
	Attempts int // 0: not known
	Duration time.Duration
	Err      error
}
