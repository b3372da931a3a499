package aside

import (
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/task"
)

// Sinks are the queues of a scheduler; those that cannot be used are set aside.
type Sinks struct {
	Known  []task.Sink // all of them
	held   isolate.Quarantine[task.Sink]
	broken map[task.Sink]error // of those set aside for another reason than a lock
}

func newSinks(known []task.Sink) Sinks {
	return Sinks{Known: known, held: brief[task.Sink](), broken: map[task.Sink]error{}}
}

// Keys are the sinks that are set aside.
func (s *Sinks) Keys() []task.Sink { return s.held.Keys() }

// Has reports whether a sink is set aside.
func (s *Sinks) Has(sink task.Sink) bool { return s.held.Has(sink) }

// Broken is why a sink cannot be used; nil if it can, or if it is only locked.
func (s *Sinks) Broken(sink task.Sink) error { return s.broken[sink] }

// Usable are the known sinks without broken ones.
func (s *Sinks) Usable() []task.Sink {
	usable := slices.DeleteFunc(slices.Clone(s.Known), func(sink task.Sink) bool { return s.broken[sink] != nil })
	if len(usable) == 0 {
		return []task.Sink{""} // which no task has
	}
	return usable
}

// Add sets a sink aside. It reports whether that is new, or has another cause than before.
func (s *Sinks) Add(sink task.Sink, err error, fault backend.Fault, now time.Time) (first bool) {
	before := s.broken[sink]
	if delete(s.broken, sink); fault != backend.FaultLock {
		s.broken[sink] = err
	}
	return s.held.Add(sink, now) || before != nil && !alike(before, err)
}

// alike compares errors without their numbers: ports and process ids change each time.
func alike(a, b error) bool {
	words := func(err error) []string {
		return strings.FieldsFunc(err.Error(), func(r rune) bool { return '0' <= r && r <= '9' })
	}
	return slices.Equal(words(a), words(b))
}

// Release reports whether the sink was set aside.
func (s *Sinks) Release(sink task.Sink) bool {
	delete(s.broken, sink)
	return s.held.Release(sink)
}
