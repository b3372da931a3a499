package periodic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nextrun/nextrun/internal/bounds"
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

// pauseLayout is how a pause says times.
const pauseLayout = "2006-01-02 15:04:05 UTC"

// Text says who paused the task, since and until when, and why.
func (p Pause) Text() string {
	text := "paused"
	if p.By != "" {
		text += " by " + p.By
	}
	text += " since " + p.Since.UTC().Format(pauseLayout)
	if !p.Until.IsZero() {
		text += " until " + p.Until.UTC().Format(pauseLayout)
	}
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

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
// Ticks that are queued wait until the pause ends; the definition and the plan of the
// task stay. RunNow still runs it. A pause takes the place of an earlier one. Since is
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

// occurrences are single ticks of tasks, about which people decide.
type occurrences struct{ store TaskStore }

// Skip leaves out one tick of a task: when it falls due, it is recorded as skipped, with o.Who and o.Reason. A zero
// o.Due is the next run. It returns what it has written. A tick that has moved is named by its new time.
//
// A tick that the task does not have, or that is past, gives a [*TaskError]. RunNow and Backfill do not ask what is skipped.
func (s *occurrences) Skip(ctx context.Context, id string, o days.Override) (days.Override, error) {
	o.To = time.Time{}
	return s.override(ctx, id, o)
}

// Move lets one tick of a task take place at another time, o.To, whatever calendars say about that. Otherwise it is like
// Skip. If another tick takes place then, the moved one counts once with it and is recorded as skipped.
func (s *occurrences) Move(ctx context.Context, id string, o days.Override) (days.Override, error) {
	if o.To.IsZero() {
		return o, badOverride(id, "moved_to", "is missing; say when the tick is to take place")
	}
	return s.override(ctx, id, o)
}

// Unskip undoes Skip or Move for a tick to come, the first one if due is zero, and returns what it has undone.
func (s *occurrences) Unskip(ctx context.Context, id string, due time.Time) (undone days.Override, err error) {
	err = s.store.Update(ctx, func(tx TaskTx) error {
		t, err := tx.Get(ctx, id, true)
		if err != nil {
			return about(id, err)
		}
		_, now := tx.Bare()
		for _, o := range t.Days.Overrides {
			first := due.IsZero() && o.Due.After(now) && (undone.Due.IsZero() || o.Due.Before(undone.Due))
			if first || !due.IsZero() && (o.Due.Equal(due) || o.To.Equal(due)) {
				undone = o
			}
		}
		switch {
		case undone.Due.IsZero():
			return badOverride(id, "due", "no tick to come is skipped or moved"+at(due, " from or to "))
		case !undone.Due.After(now) && !undone.Due.Equal(t.Due):
			return badOverride(id, "due", "the tick"+at(undone.Due, " of ")+" is in the past")
		}
		return about(id, tx.DropOverride(ctx, id, undone.Due))
	})
	return undone, err
}

// override writes what somebody has decided about a tick.
func (s *occurrences) override(ctx context.Context, id string, o days.Override) (days.Override, error) {
	for _, c := range []struct{ column, value string }{{"who", o.Who}, {"reason", o.Reason}} {
		if problem := badNote(c.value); problem != "" {
			return o, badOverride(id, c.column, problem)
		}
	}
	o.Due, o.To = o.Due.UTC().Truncate(time.Microsecond), o.To.UTC().Truncate(time.Microsecond)
	err := s.store.Update(ctx, func(tx TaskTx) error {
		t, err := tx.Get(ctx, id, true)
		if err != nil {
			return about(id, err)
		}
		_, now := tx.Bare()
		if !o.To.IsZero() && (!o.To.After(now) || !o.To.Before(Never)) {
			return badOverride(id, "moved_to", "it is"+at(o.To, " ")+"; use a time from now on up to the year 9999")
		}
		if err := t.meant(&o, now); err != nil {
			return err
		}
		if o.To.Equal(o.Due) {
			return badOverride(id, "moved_to", "the tick takes place"+at(o.To, " at ")+" anyway; to undo a move: nextrun task unskip")
		}
		return about(id, tx.SetOverride(ctx, id, o))
	})
	return o, err
}

// meant finds the tick that an override is about, and makes it the one that the timer and the calendars have.
func (t *Task) meant(o *days.Override, now time.Time) error {
	future, err := t.future()
	if err != nil {
		return err
	}
	waits := t.Due.Before(now) && t.NextRun.After(now) && t.NextRun.Before(Never) // for its delay
	switch {
	case o.Due.IsZero() && waits && !t.Due.IsZero() && future.timer.Exclusion(t.Due) == "":
		o.Due = t.Due
	case o.Due.IsZero():
		for future.goTo(now); future.At.LeftOut != ""; {
			future.advance()
		}
		if o.Due = future.At.Due; o.Due.IsZero() {
			return badOverride(t.ID, "due", "the task has no tick to come")
		}
	case !o.Due.After(now) && !(waits && o.Due.Equal(t.Due)):
		return badOverride(t.ID, "due", "the tick"+at(o.Due, " of ")+" is in the past, or decided already; name one to come")
	}
	timed := *t
	timed.Days.Overrides = nil
	own, err := timed.future()
	if err != nil {
		return err
	}
	if moved := slices.IndexFunc(t.Days.Overrides, func(other days.Override) bool { return other.To.Equal(o.Due) }); moved >= 0 && !future.timer.At(o.Due).Nominal.IsZero() {
		o.Due = t.Days.Overrides[moved].Due
	}
	switch own.goTo(o.Due.Add(-time.Microsecond)); {
	case !own.At.Due.Equal(o.Due):
		return badOverride(t.ID, "due", "the task has no tick"+at(o.Due, " at ")+at(own.At.Due, "; its next one is that of "))
	case own.At.LeftOut != "":
		return badOverride(t.ID, "due", "the tick"+at(o.Due, " of ")+" does not take place: "+own.At.LeftOut)
	}
	return nil
}

// Overridden says what becomes of ticks that people have skipped or moved, but not of those whose times have passed.
func (t *Task) Overridden(now time.Time) []days.Effect {
	list := []days.Effect{}
	future, err := t.future()
	if err != nil || len(t.Days.Overrides) == 0 {
		return list
	}
	for _, e := range future.timer.days.(*days.Overridden).Effects {
		if e.Due.After(now) || e.To.After(now) || e.Due.Equal(t.Due) {
			list = append(list, e)
		}
	}
	return list
}

func badOverride(id, column, problem string) error {
	return &TaskError{ID: id, Fields: []FieldError{{Field: column, Err: errors.New(problem)}}}
}

// at is a time behind a word; empty for the zero time.
func at(t time.Time, word string) string {
	if t.IsZero() {
		return ""
	}
	return word + t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// Failures say what follows when jobs of a task fail. Only jobs of ticks count, and only how they
// ended: not an attempt that is tried again, and not a job that was cancelled.
type Failures struct {
	PauseAfter int // the task is paused after so many failures in a row, until somebody resumes it; 0: it is not
	Count      int // failures since the last success; written when a job ends
}

// AfterFailures reports whether the pause follows from failures.
func (p Pause) AfterFailures() bool { return !p.Since.IsZero() && p.By == bounds.PausedAfterFailures }
