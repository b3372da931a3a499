package leader

// EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	EventLeading  EventKind = "leading"  // the lock was acquired: a term begins
	EventStandby  EventKind = "standby"  // somebody else holds the lock; once for each holder
	EventLost     EventKind = "lost"     // the term ended before the elector was stopped
	EventReleased EventKind = "released" // the lock was released, at the end
	EventError    EventKind = "error"    // something failed and will be tried again
)

// Event is something that happened to an [Elector]. Which fields are set depends
// on Kind.
type Event struct {
	Kind  EventKind
	Lock  Lock   // the lock as last read; leading, lost, released: of the term
	Doing string // error: what was attempted
	Err   error  // error; lost: why
}
