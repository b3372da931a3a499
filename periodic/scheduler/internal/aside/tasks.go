package aside

import (
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
)

// Tasks are the tasks that are left out of batches, by their keys.
type Tasks struct {
	held  isolate.Aside[string, reason]
	facts map[string]facts
	busy  map[string]bool // they are being claimed in the background

	submitted map[periodic.Sink]time.Time // when a task submitted last
}

type facts struct {
	version string // of the row, as first seen after the failure; empty: not yet
	verdict Verdict
	why     string        // the last error
	sink    periodic.Sink // that refuses its jobs
	began   time.Time     // the last try that failed
}

// Verdict says why a task is left out of batches, and so what a retry does.
type Verdict int

const (
	// Refused means that the database refuses its job. A retry skips the tick if that is
	// still so, and another task has submitted to the same sink since; otherwise the table may
	// refuse every row, and the ticks stay due.
	Refused Verdict = iota
	// NotToBlame means that the cause may lie elsewhere, such as in the claim or in the
	// queue. Retries leave the ticks undecided until one succeeds.
	NotToBlame
	// Skipped means that its tick was skipped. The task is tried alone from now on, so
	// that its next tick does not make a batch fail again.
	Skipped
)

// Failed is a task to be left out of batches.
type Failed struct {
	Key   string
	Doing string
	Err   error
	Fault taskdb.Fault
	Why   Verdict
	Sink  periodic.Sink // that refuses its job
	Began time.Time     // the try, by the host's clock
}

// Try is a task to be tried again alone.
type Try struct {
	Key     string
	Verdict Verdict
	Why     string // the last error
	Others  bool   // another task has submitted to its sink since the last try began
}

func newTasks() Tasks {
	return Tasks{
		held:  isolate.Aside[string, reason]{Paces: paces},
		facts: map[string]facts{},
		busy:  map[string]bool{},

		submitted: map[periodic.Sink]time.Time{},
	}
}

// keys are those of all tasks that are left out.
func (t *Tasks) keys() []string {
	keys := t.held.Keys()
	if len(t.busy) > 0 {
		keys = slices.AppendSeq(keys, maps.Keys(t.busy))
	}
	return keys
}

// Begin leaves out tasks while they are claimed in the background. It returns those that are not
// claimed there already.
func (t *Tasks) Begin(keys []string) []string {
	keys = slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return t.busy[key] })
	for _, key := range keys {
		t.busy[key] = true
	}
	return keys
}

// End ends Begin.
func (t *Tasks) End(keys []string) {
	for _, key := range keys {
		delete(t.busy, key)
	}
}

// Add sets a task aside. It reports whether that is new.
func (t *Tasks) Add(f Failed, now time.Time) (first bool) {
	why := failed
	switch {
	case f.Fault == taskdb.FaultLock:
		why = locked
	case f.Why != NotToBlame:
		why = refused
	}
	fact, known := t.facts[f.Key]
	t.held.Add(f.Key, why, now)
	fact.verdict = f.Why
	if f.Err != nil {
		fact.why, fact.sink, fact.began = f.Err.Error(), f.Sink, f.Began
	}
	t.facts[f.Key] = fact
	return !known
}

// Release has batches take a task again.
func (t *Tasks) Release(key string) {
	t.held.Release(key)
	delete(t.facts, key)
}

// Skips reports whether the ticks of a task are skipped, since the database refuses
// their jobs.
func (t *Tasks) Skips(key string) bool { return t.facts[key].verdict == Skipped }

// Compare releases the tasks whose row was edited since they were set aside, and
// those that are gone. It reports whether there were any.
func (t *Tasks) Compare(versions map[string]string) (released bool) {
	for key, fact := range t.facts {
		version, exists := versions[key]
		switch {
		case !exists, fact.version != "" && fact.version != version:
			t.Release(key)
			released = true
		case fact.version == "":
			fact.version = version
			t.facts[key] = fact
		}
	}
	return released
}

// Submitted notes that a task has submitted to a sink. Those that the sink has refused
// since the last time are tried again soon: it may have refused all.
func (t *Tasks) Submitted(sink periodic.Sink, now time.Time) {
	before := t.submitted[sink]
	t.submitted[sink] = now
	for _, fact := range t.facts {
		if fact.verdict == Refused && fact.sink == sink && fact.began.After(before) {
			t.held.Hurry(now, brief.Least, refused)
			return
		}
	}
}

// Why is the last error of one of the tasks that the scheduler could not submit; empty if
// none is left out for that.
func (t *Tasks) Why() string {
	for _, key := range slices.Sorted(maps.Keys(t.facts)) {
		if fact := t.facts[key]; fact.verdict != Skipped && fact.why != "" && !t.held.Has(key, locked) {
			return fact.why
		}
	}
	return ""
}

func (t *Tasks) due(now time.Time) []Try {
	var tries []Try
	for _, key := range t.held.Due(now) {
		fact := t.facts[key]
		tries = append(tries, Try{key, fact.verdict, fact.why, t.submitted[fact.sink].After(fact.began)})
	}
	return tries
}
