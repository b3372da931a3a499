package search

import (
	"errors"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/leader"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/aside"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/batch"
)

// Findings is the result of work in the background.
type Findings struct {
	Committed []Committed
	SetAside  []aside.Failed
	Released  []string                // keys of tasks that need not be set aside any more
	Sinks     map[periodic.Sink]error // tried: why they cannot be used; nil: they can
	Queued    *error                  // looked for queued ticks: why that cannot be done; points to nil: it can
	Searched  []string                // keys of the tasks of a failed batch
	Retried   bool                    // this was the retry of what was set aside
	Err       error                   // of the database as a whole
}

// Committed is a committed batch.
type Committed struct {
	Batch   batch.Batch
	Outcome batch.Outcome
}

// Add joins other findings to these.
func (f *Findings) Add(more Findings) {
	f.Committed = append(f.Committed, more.Committed...)
	f.SetAside = append(f.SetAside, more.SetAside...)
	f.Released = append(f.Released, more.Released...)
	f.Searched = append(f.Searched, more.Searched...)
	f.Err = errors.Join(f.Err, more.Err)
	if more.Queued != nil {
		f.Queued = more.Queued
	}
	for sink, err := range more.Sinks {
		if f.Sinks == nil {
			f.Sinks = map[periodic.Sink]error{}
		}
		f.Sinks[sink] = err
	}
}

// Faults says what to blame for the errors of a store; see [taskdb.Store.Fault].
type Faults func(error) taskdb.Fault

// Of says what to blame for an error.
func (of Faults) Of(err error) taskdb.Fault {
	if errors.Is(err, leader.ErrLost) {
		return taskdb.FaultDatabase
	}
	return of(err)
}

// Isolatable reports whether an error may lie in one of several rows.
func (of Faults) Isolatable(err error) bool { return of.Of(err) != taskdb.FaultDatabase }

// cause is Of in the terms of the search. An unknown error counts as one of a
// row: the search finds out whether other rows succeed.
func (of Faults) cause(err error) isolate.Cause {
	switch of.Of(err) {
	case taskdb.FaultLock:
		return isolate.Contended
	case taskdb.FaultDatabase:
		return isolate.Database
	}
	return isolate.Row
}
