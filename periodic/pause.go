package periodic

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

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

// maxPauseText is the greatest length of By and Reason.
const maxPauseText = 254

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

// badNote says what is wrong with a text for people; empty: nothing.
func badNote(text string) string {
	if n := utf8.RuneCountInString(text); n > maxPauseText {
		return fmt.Sprintf("has %d characters; use at most %d", n, maxPauseText)
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "is not UTF-8 text without NUL"
	}
	return ""
}

// Validate checks a pause of the task with an id that begins now. It returns an [*TaskError].
func (p Pause) Validate(id string, now time.Time) error {
	bad := func(column, problem string) error {
		return &TaskError{ID: id, Fields: []FieldError{{Field: column, Err: errors.New(problem)}}}
	}
	if p.AfterFailures() {
		return bad("paused_by", fmt.Sprintf("is %q, which stands for a pause after failures; say who pauses the task", p.By))
	}
	for _, c := range []struct{ column, value string }{{"paused_by", p.By}, {"paused_reason", p.Reason}} {
		if problem := badNote(c.value); problem != "" {
			return bad(c.column, problem)
		}
	}
	if !p.Until.IsZero() && (!p.Until.After(now) || p.Until.After(Never)) {
		return bad("paused_until", "is "+p.Until.UTC().Format("2006-01-02 15:04:05 UTC")+"; use a time from now on up to the year 9999")
	}
	return nil
}

// Pause pauses a task: its timer goes on, and what falls due is recorded as skipped.
// The definition and the plan of the task stay. RunNow still runs it. A pause takes the place of an earlier one. Since is
// set to the database's now. A pause that is not good gives a [*TaskError].
func (s *Tasks) Pause(ctx context.Context, id string, p Pause) error {
	return s.store.Update(ctx, func(tx TaskTx) error {
		_, p.Since = tx.Bare()
		if err := p.Validate(id, p.Since); err != nil {
			return err
		}
		return about(id, tx.SetPause(ctx, id, p))
	})
}

// Resume ends the pause of a task, and reports whether it was paused.
func (s *Tasks) Resume(ctx context.Context, id string) (was bool, err error) {
	err = s.store.Update(ctx, func(tx TaskTx) error {
		t, err := tx.Get(ctx, id, true)
		if err != nil {
			return about(id, err)
		}
		_, now := tx.Bare()
		was = t.Pause.At(now)
		return about(id, tx.SetPause(ctx, id, Pause{}))
	})
	return was, err
}

// AfterFailures reports whether the pause follows from failures.
func (p Pause) AfterFailures() bool { return !p.Since.IsZero() && p.By == PausedAfterFailures }
