package outcome

import (
	"errors"
	"time"
)

// Causes of the end of a handler's context; package jobqueue documents them.
var (
	ErrCancelled = errors.New("the job was cancelled")
	ErrLeaseLost = errors.New("the lease of the job was lost")
	ErrShutdown  = errors.New("the executor shuts down")
	// ErrAhead ends an attempt that was claimed ahead, before its handler is called.
	ErrAhead = errors.New("all places of the executor are taken")
)

// PermanentError is an error that no retry would help.
type PermanentError struct{ error }

// Permanent makes one.
func Permanent(err error) PermanentError { return PermanentError{err} }

// Unwrap returns what the handler returned.
func (e PermanentError) Unwrap() error { return e.error }

// IsPermanent reports whether err is, or wraps, a [PermanentError].
func IsPermanent(err error) bool {
	var p PermanentError
	return errors.As(err, &p)
}

// DelayedError is an error after which the job is to be tried again no sooner than
// after a delay.
type DelayedError struct {
	error
	delay time.Duration
}

// Delayed makes one.
func Delayed(err error, delay time.Duration) DelayedError { return DelayedError{err, delay} }

// Unwrap returns what the handler returned.
func (e DelayedError) Unwrap() error { return e.error }
