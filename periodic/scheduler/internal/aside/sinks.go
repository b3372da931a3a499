package aside

import (
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
)

// Sinks are the queues of a scheduler; those that cannot be used are set aside.
type Sinks struct {
	Known  []periodic.Sink // all of them
	held   isolate.Aside[periodic.Sink, reason]
	broken map[periodic.Sink]error // of those set aside for another reason than a lock
}

// Keys are the sinks that are set aside.
func (s *Sinks) Keys() []periodic.Sink { return s.held.Keys() }

// Has reports whether a sink is set aside.
func (s *Sinks) Has(sink periodic.Sink) bool { return s.held.Has(sink) }

// Broken is why a sink cannot be used; nil if it can, or if it is only locked.
func (s *Sinks) Broken(sink periodic.Sink) error { return s.broken[sink] }

// Usable are the known sinks without broken ones.
func (s *Sinks) Usable() []periodic.Sink {
	usable := slices.DeleteFunc(slices.Clone(s.Known), func(sink periodic.Sink) bool { return s.broken[sink] != nil })
	if len(usable) == 0 {
		return []periodic.Sink{""} // which no task has
	}
	return usable
}

// Add sets a sink aside. It reports whether that is new, or has another cause than before.
func (s *Sinks) Add(sink periodic.Sink, err error, fault taskdb.Fault, now time.Time) (first bool) {
	before := s.broken[sink]
	if delete(s.broken, sink); fault != taskdb.FaultLock {
		s.broken[sink] = err
	}
	return s.held.Add(sink, locked, now) || before != nil && !alike(before, err)
}

// alike compares errors without their numbers: ports and process ids change each time.
func alike(a, b error) bool {
	words := func(err error) []string {
		return strings.FieldsFunc(err.Error(), func(r rune) bool { return '0' <= r && r <= '9' })
	}
	return slices.Equal(words(a), words(b))
}

// Release reports whether the sink was set aside.
func (s *Sinks) Release(sink periodic.Sink) bool {
	delete(s.broken, sink)
	held, _ := s.held.Release(sink)
	return held
}
