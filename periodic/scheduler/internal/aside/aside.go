package aside

import (
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
)

// Aside is all that is left out of batches.
type Aside struct {
	Tasks  Tasks
	Sinks  Sinks
	Queued Queued
}

// New returns an Aside that leaves out nothing. known are the sinks that the
// scheduler has queues for.
func New(known []periodic.Sink) *Aside {
	return &Aside{
		Tasks: newTasks(), Sinks: Sinks{Known: known, held: isolate.Aside[periodic.Sink, reason]{Paces: paces}, broken: map[periodic.Sink]error{}},
		Queued: Queued{isolate.Aside[string, reason]{Paces: paces}},
	}
}

// reason is why something is set aside.
type reason int

const (
	locked  reason = iota // somebody else holds a lock
	refused               // the database refuses the job
	failed                // anything else
)

// brief is the pace of what is likely to work again soon.
var (
	brief = isolate.Pace{Least: 250 * time.Millisecond, Most: 5 * time.Second}
	paces = map[reason]isolate.Pace{locked: brief, refused: brief, failed: {Least: time.Second, Most: 2 * time.Minute}}
)

// Exclude is what to leave out of the next batch.
func (a *Aside) Exclude() taskdb.Exclude {
	return taskdb.Exclude{IDs: a.Tasks.keys(), Sinks: a.Sinks.Keys(), OnlySinks: a.Sinks.Usable(), Queued: a.Queued.Held()}
}

// Tries is what to try again.
type Tries struct {
	Tasks   []Try
	Sinks   []periodic.Sink
	Queued  bool
	Without taskdb.Exclude // what to leave out of these tries
}

// Any reports whether there is anything to try.
func (t *Tries) Any() bool { return len(t.Tasks)+len(t.Sinks) > 0 || t.Queued }

// Due returns what to try again now.
func (a *Aside) Due(now time.Time) Tries {
	return Tries{
		Tasks: a.Tasks.due(now), Sinks: a.Sinks.held.Due(now), Queued: len(a.Queued.held.Due(now)) > 0,
		Without: taskdb.Exclude{Sinks: a.Sinks.Keys(), OnlySinks: a.Sinks.Known, Queued: a.Queued.Held()},
	}
}

// Next is when something is due again; zero if nothing is set aside.
func (a *Aside) Next() time.Time {
	var next time.Time
	for _, at := range []time.Time{a.Tasks.held.Next(), a.Sinks.held.Next(), a.Queued.held.Next()} {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// Waits reports whether tasks, sinks or queued ticks wait for another try.
func (a *Aside) Waits() bool {
	return len(a.Tasks.held.Keys(locked, failed))+len(a.Sinks.held.Keys()) > 0 || a.Queued.Held()
}

// Queued holds queued ticks while the tables that say which of them can go ahead
// cannot be read. Other ticks do not need those.
type Queued struct{ held isolate.Aside[string, reason] }

// Held reports whether queued ticks are set aside.
func (q *Queued) Held() bool { return q.held.Has("") }

// Add sets queued ticks aside. It reports whether that is new.
func (q *Queued) Add(now time.Time) (first bool) { return q.held.Add("", locked, now) }

// Release ends that.
func (q *Queued) Release() { q.held.Release("") }
