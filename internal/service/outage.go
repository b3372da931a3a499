package service

import (
	"errors"
	"log/slog"
	"sync"
	"time"
)

// Outage is a time in which a database cannot be reached. All services that use the
// database share one value, so that the log tells of an outage once, however many
// of them fail. It is safe for concurrent use; its zero value is ready.
type Outage struct {
	mu     sync.Mutex
	begun  time.Time     // zero: there is no outage
	writes bool          // writing failed: that reading succeeds does not end it
	said   time.Duration // how long it had lasted at the last line of the log
	log    *slog.Logger  // has a line about the beginning; nil: none was written
	ended  time.Time     // the end of the last one
}

// outageError is an error that an outage causes.
type outageError struct {
	error
	outage *Outage
}

func (e outageError) Unwrap() error { return e.error }

// Failed marks an error of work as caused by the outage. Work that began before the last outage ended
// says nothing about a new one.
func (o *Outage) Failed(err error, writing bool, workBegan time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if workBegan.Before(o.ended) {
		return outageError{err, o}
	}
	if o.begun.IsZero() {
		o.begun = time.Now()
	}
	o.writes = o.writes || writing
	return outageError{err, o}
}

// Reached ends the outage, if there is one: the database was read or written, by work that began after
// it did.
func (o *Outage) Reached(writing bool, workBegan time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.begun.IsZero() || o.writes && !writing || workBegan.Before(o.begun) {
		return
	}
	if o.log != nil {
		o.log.Info("database works again", "after", lasted(time.Since(o.begun)))
	}
	o.begun, o.writes, o.said, o.log, o.ended = time.Time{}, false, 0, nil, time.Now()
}

// Lasts reports whether there is one.
func (o *Outage) Lasts() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.begun.IsZero()
}

// Intervals between the lines about an outage: each is twice the one before.
const (
	outageLeast = 10 * time.Second
	outageMost  = 30 * time.Minute
)

// tell logs at the beginning, and then at growing intervals.
func (o *Outage) tell(log *slog.Logger, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.begun.IsZero() { // it has ended since
		return
	}
	if o.log == nil {
		o.log = log
		log.Error("database does not work, retrying", "error", err)
		return
	}
	if d := time.Since(o.begun); d >= o.said+min(max(o.said, outageLeast), outageMost) {
		o.said = d
		log.Error("database still does not work, retrying", "error", err, "for", lasted(d))
	}
}

// lasted rounds how long something took for people.
func lasted(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Second)
}

// LogOutage logs an error that an outage causes: at the beginning, and then at growing
// intervals. It reports false, and logs nothing, if no outage causes the error.
func LogOutage(log *slog.Logger, err error) bool {
	var e outageError
	if !errors.As(err, &e) {
		return false
	}
	e.outage.tell(log, e.error)
	return true
}
