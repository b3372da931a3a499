package scheduler

import (
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
	EventClock   EventKind = "clock"   // the database's clock differs from the host's by more than a second

	// In the modes leader and exclusive.
	EventLeading  EventKind = "leading"  // the lock was acquired; scheduling begins
	EventStandby  EventKind = "standby"  // somebody else has the lock
	EventLost     EventKind = "lost"     // the lock was lost; scheduling has stopped
	EventResigned EventKind = "resigned" // the lock was given up after failed rounds
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
	Skew    time.Duration  // clock: how far the database's clock is ahead
	ID      string         // aside: the task's id
	Sink    periodic.Sink  // sink, ended
	Doing   string         // error, split, aside: what was attempted
	Err     error          // error, split, aside; sink: nil if it can be used again
	Lock    Lock           // standby: as last read; leading, lost, resigned, released: Name, Holder and Token
}
