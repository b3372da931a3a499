package service

import (
	"errors"
	"time"
)

// Errors that all floors match, so that a database can return them without knowing who asks. The packages above have
// them under names of their own.
var (
	// ErrNotFound says that there is no row of that id.
	ErrNotFound = errors.New("not found")
	// ErrDuplicate says that there is one already.
	ErrDuplicate = errors.New("exists already")
)

// DelayedError is an error of a handler that is to be tried again no sooner than after a delay.
type DelayedError struct {
	Err   error
	Delay time.Duration
}

// Error is what the handler returned.
func (e DelayedError) Error() string { return e.Err.Error() }

// Unwrap returns what the handler returned.
func (e DelayedError) Unwrap() error { return e.Err }
