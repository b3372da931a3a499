package periodic

import (
	"errors"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/leader"
)

// findings is the result of work beside the loop.
type findings struct {
	done      []batchDone
	setAside  []setAside
	released  []string       // keys of tasks that need not be set aside any more
	sinks     map[Sink]error // tried: why they cannot be used; nil: they can
	queued    *error         // looked for queued ticks: why that cannot be done; points to nil: it can
	marks     []string       // to remove from the tasks that still carry them
	candidate []string       // keys of the tasks of a failed claim
	retried   bool           // this was the retry of what was set aside
	err       error          // of the database as a whole
}

// batchDone is a committed batch.
type batchDone struct {
	batch batch
	done  outcome
}

// setAside is a task that is left out of batches.
type setAside struct {
	key   string
	doing string
	err   error
	fault backend.Fault
	why   verdict
}

// verdict says why a task is left out of batches, and so what a retry does.
type verdict int

const (
	// failsAlone: a retry skips the tick if the database still refuses the row.
	failsAlone verdict = iota
	// notToBlame: the cause may lie elsewhere, such as in the claim or in the queue.
	// Retries leave the ticks undecided until one succeeds.
	notToBlame
	// skipped: its tick was skipped. The task is tried alone from now on, so that its
	// next tick does not make a batch fail again.
	skipped
)

// soon: a task whose job was refused, and which ticks again sooner than this, is
// tried alone.
const soon = time.Minute

// add joins other findings to these.
func (f *findings) add(more findings) {
	f.done = append(f.done, more.done...)
	f.setAside = append(f.setAside, more.setAside...)
	f.released = append(f.released, more.released...)
	f.marks = append(f.marks, more.marks...)
	f.candidate = append(f.candidate, more.candidate...)
	f.err = errors.Join(f.err, more.err)
	if more.queued != nil {
		f.queued = more.queued
	}
	for sink, err := range more.sinks {
		if f.sinks == nil {
			f.sinks = map[Sink]error{}
		}
		f.sinks[sink] = err
	}
}

// fault says what to blame for an error.
func (c committer) fault(err error) backend.Fault {
	if errors.Is(err, leader.ErrLost) {
		return backend.FaultDatabase
	}
	return c.faultOf(err)
}

// isolatable reports whether an error may lie in one of several rows.
func (c committer) isolatable(err error) bool { return c.fault(err) != backend.FaultDatabase }

// cause is fault in the terms of the search. An unknown error counts as one of a
// row: the search finds out whether other rows succeed.
func (c committer) cause(err error) isolate.Cause {
	switch c.fault(err) {
	case backend.FaultLock:
		return isolate.Contended
	case backend.FaultDatabase:
		return isolate.Database
	}
	return isolate.Row
}
