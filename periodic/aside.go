package periodic

import (
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/periodic/backend"
)

// aside is what the loop leaves out of its batches, and when to try it again:
// tasks that fail alone, and sinks that cannot be used.
type aside struct {
	locked  isolate.Quarantine[string] // tasks, by key: somebody else holds a lock
	refused isolate.Quarantine[string] // tasks that fail for another reason
	suspect isolate.Quarantine[string] // tasks whose ticks are skipped, since the database refuses their jobs
	sinks   isolate.Quarantine[Sink]
	broken  map[Sink]error             // those of sinks that cannot be used for another reason than a lock
	queued  isolate.Quarantine[string] // has one entry while queued ticks cannot be looked for
	known   []Sink                     // those that the scheduler has queues for
	facts   map[string]asideTask
	busy    map[string]bool // tasks that are being claimed beside the loop
}

type asideTask struct {
	version string // as first seen after the failure; empty: not yet
	verdict verdict
	why     string // the last error
}

func newAside(known []Sink) aside {
	return aside{
		known:   known,
		locked:  isolate.Quarantine[string]{Least: 250 * time.Millisecond, Most: 5 * time.Second},
		refused: isolate.Quarantine[string]{Least: time.Second, Most: 2 * time.Minute},
		suspect: isolate.Quarantine[string]{Least: 250 * time.Millisecond, Most: 5 * time.Second},
		sinks:   isolate.Quarantine[Sink]{Least: 250 * time.Millisecond, Most: 5 * time.Second},
		queued:  isolate.Quarantine[string]{Least: 250 * time.Millisecond, Most: 5 * time.Second},
		broken:  map[Sink]error{},
		facts:   map[string]asideTask{},
		busy:    map[string]bool{},
	}
}

// apart is what to leave out of the next batch.
func (a *aside) apart() backend.Apart {
	keys := slices.Concat(a.locked.Keys(), a.refused.Keys(), a.suspect.Keys())
	if len(a.busy) > 0 {
		keys = slices.AppendSeq(keys, maps.Keys(a.busy))
	}
	return backend.Apart{Keys: keys, Sinks: a.sinks.Keys(), Known: a.usable(), Queued: a.queued.Len() > 0}
}

// usable are the sinks that the scheduler has queues for, without broken ones.
func (a *aside) usable() []Sink {
	sinks := slices.DeleteFunc(slices.Clone(a.known), func(s Sink) bool { return a.broken[s] != nil })
	if len(sinks) == 0 {
		return []Sink{""} // which no task has
	}
	return sinks
}

// addSink sets a sink aside. It reports whether that is new.
func (a *aside) addSink(sink Sink, err error, fault backend.Fault, now time.Time) (first bool) {
	if delete(a.broken, sink); fault != backend.FaultLock {
		a.broken[sink] = err
	}
	return a.sinks.Add(sink, now)
}

// releaseSink reports whether the sink was set aside.
func (a *aside) releaseSink(sink Sink) bool {
	delete(a.broken, sink)
	return a.sinks.Release(sink)
}

// add sets a task aside. It reports whether that is new.
func (a *aside) add(s setAside, now time.Time) (first bool) {
	into := &a.refused
	switch {
	case s.why == skipped:
		into = &a.suspect
	case s.fault == backend.FaultLock:
		into = &a.locked
	}
	fact, known := a.facts[s.key]
	for _, q := range a.tasks() {
		if q != into {
			q.Release(s.key)
		}
	}
	into.Add(s.key, now)
	fact.verdict = s.why
	if s.err != nil {
		fact.why = s.err.Error()
	}
	a.facts[s.key] = fact
	return !known
}

func (a *aside) tasks() []*isolate.Quarantine[string] {
	return []*isolate.Quarantine[string]{&a.locked, &a.refused, &a.suspect}
}

func (a *aside) release(key string) {
	for _, q := range a.tasks() {
		q.Release(key)
	}
	delete(a.facts, key)
}

// compare releases the tasks whose row was edited since they were set aside, and
// those that are gone. It reports whether there were any.
func (a *aside) compare(versions map[string]string) (released bool) {
	for key, fact := range a.facts {
		version, exists := versions[key]
		switch {
		case !exists, fact.version != "" && fact.version != version:
			a.release(key)
			released = true
		case fact.version == "":
			fact.version = version
			a.facts[key] = fact
		}
	}
	return released
}

// due returns the tasks and sinks to try again now.
func (a *aside) due(now time.Time) ([]string, []Sink) {
	return slices.Concat(a.locked.Due(now), a.refused.Due(now), a.suspect.Due(now)), a.sinks.Due(now)
}

// next is when something is due again; zero if nothing is set aside.
func (a *aside) next() time.Time {
	var next time.Time
	for _, at := range []time.Time{a.locked.Next(), a.refused.Next(), a.suspect.Next(), a.sinks.Next(), a.queued.Next()} {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// waits reports whether tasks, sinks or queued ticks wait for another try.
func (a *aside) waits() bool { return a.locked.Len()+a.refused.Len()+a.sinks.Len()+a.queued.Len() > 0 }

// idOf is the id of a key.
func idOf(key string) string {
	id, err := hex.DecodeString(key)
	if err != nil {
		return key
	}
	return string(id)
}
