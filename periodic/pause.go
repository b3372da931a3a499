package periodic

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/periodic/days"
)

// Pause says that a task is paused: its timer goes on, and what falls due is skipped.
// The zero value is no pause.
type Pause struct {
	Since  time.Time // zero: the task is not paused
	Until  time.Time // when the pause ends by itself; zero: when somebody ends it
	By     string    // who paused the task
	Reason string    // why
}

// At reports whether the pause holds at a time.
func (p Pause) At(now time.Time) bool {
	return !p.Since.IsZero() && (p.Until.IsZero() || now.Before(p.Until))
}

// Skips reports whether a tick that is decided now is skipped. A tick that fell due
// during a pause is also skipped when no scheduler decided it before its end.
func (p Pause) Skips(due, now time.Time) bool {
	return p.At(now) || p.holds(due)
}

// holds reports whether a tick falls due during the pause.
func (p Pause) holds(due time.Time) bool { return p.At(due) && !due.Before(p.Since) }

// Note says who paused the task, and why: "ada: the disk is full".
func (p Pause) Note() string { return days.Note(p.By, p.Reason) }

// validate returns a [*TaskError] unless the task with an id can be paused so from now on.
func (p Pause) validate(id string, now time.Time) error {
	e := &TaskError{ID: id}
	if p.AfterFailures() {
		e.addf("paused_by", "is %q, which stands for a pause after failures; say who pauses the task", p.By)
	}
	e.text("paused_by", p.By, false)
	e.text("paused_reason", p.Reason, false)
	if !p.Until.IsZero() && (!p.Until.After(now) || p.Until.After(Never)) {
		e.addf("paused_until", "is %s; use a time from now on up to the year 9999", utc(p.Until))
	}
	return e.orNil()
}

// Pause pauses a task: its timer goes on, and what falls due is recorded as skipped.
// The definition and the plan of the task stay. RunNow still runs it. A pause takes the place of an earlier one. Since is
// set to the database's now. A pause that is not good gives a [*TaskError].
func (s *Tasks) Pause(ctx context.Context, id string, p Pause) error {
	return s.store.Update(ctx, func(tx TaskTx) error {
		_, p.Since = tx.Bare()
		if err := p.validate(id, p.Since); err != nil {
			return err
		}
		return about(id, tx.SetPause(ctx, id, p))
	})
}

// Resume ends the pause of a task, and reports whether it was paused.
func (s *Tasks) Resume(ctx context.Context, id string) (was bool, err error) {
	err = s.edit(ctx, id, func(tx TaskTx, t Task) error {
		_, now := tx.Bare()
		was = t.Pause.At(now)
		return tx.SetPause(ctx, id, Pause{})
	})
	return was, err
}

// AfterFailures reports whether the pause follows from failures.
func (p Pause) AfterFailures() bool { return !p.Since.IsZero() && p.By == PausedAfterFailures }
