package periodic

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nextrun/nextrun/periodic/days"
)

// SkipAt returns the skip of the tick at a time, nil if there is none.
func (t *Task) SkipAt(due time.Time) *days.LeftOut {
	for i := range t.Days.Skips {
		if t.Days.Skips[i].Due.Equal(due) {
			return &t.Days.Skips[i]
		}
	}
	return nil
}

// SkipsToCome are the skips of ticks that are not due yet, or that no scheduler has decided yet.
func (t *Task) SkipsToCome(now time.Time) []days.LeftOut {
	list := []days.LeftOut{}
	for _, s := range t.Days.Skips {
		if s.Due.After(now) || s.Due.Equal(t.Due) {
			list = append(list, s)
		}
	}
	return list
}

// Skip leaves out one tick of a task: when it falls due, it is recorded as skipped, with the reason. A zero due is
// the next run. It returns when the tick is due.
//
// A tick that the task does not have, or that is past, gives a [*TaskError]. RunNow and Backfill do not ask what is
// skipped. A new timer forgets all skips, a NextRun that is set by hand those up to it.
func (s *Tasks) Skip(ctx context.Context, id string, due time.Time, reason string) (time.Time, error) {
	bad := &TaskError{ID: id}
	if bad.text("reason", reason, false); len(bad.Fields) > 0 {
		return due, bad
	}
	err := s.edit(ctx, id, func(tx TaskTx, t Task) (err error) {
		_, now := tx.Bare()
		if due, err = t.toSkip(due.Truncate(time.Microsecond), now); err != nil {
			return err
		}
		return tx.Skip(ctx, id, days.LeftOut{Due: due, Reason: reason})
	})
	return due, err
}

// Unskip undoes the skip of a tick to come, the first one if due is zero, and returns when that is due.
func (s *Tasks) Unskip(ctx context.Context, id string, due time.Time) (time.Time, error) {
	err := s.edit(ctx, id, func(tx TaskTx, t Task) error {
		_, now := tx.Bare()
		coming := t.SkipsToCome(now)
		i := slices.IndexFunc(coming, func(s days.LeftOut) bool { return due.IsZero() || s.Due.Equal(due) })
		if i < 0 {
			return t.noSkip("no tick to come is skipped" + at(due, " at "))
		}
		due = coming[i].Due
		return tx.Unskip(ctx, id, due)
	})
	return due, err
}

// toSkip is the tick at a time that can be left out; that of the next run for the zero time.
func (t *Task) toSkip(due, now time.Time) (time.Time, error) {
	line, err := t.parse()
	if err != nil {
		return due, err
	}
	waits := !t.Due.IsZero() && !t.Due.After(now) && t.NextRun.After(now) && t.NextRun.Before(Never) // for its delay
	switch {
	case due.IsZero() && waits && line.Exclusion(t.Due) == "":
		return t.Due, nil
	case due.IsZero():
		for due = line.Next(now); !due.IsZero() && line.Exclusion(due) != ""; {
			due = line.Next(due)
		}
		if due.IsZero() {
			return due, t.noSkip("the task has no tick to come")
		}
		return due, nil
	case !due.After(now) && !(waits && due.Equal(t.Due)):
		return due, t.noSkip("the tick" + at(due, " of ") + " is in the past, or decided already; name one to come")
	}
	switch next := line.Next(due.Add(-time.Microsecond)); {
	case !next.Equal(due):
		return due, t.noSkip("the task has no tick" + at(due, " at ") + at(next, "; its next one is that of "))
	case line.Exclusion(due) != "" && t.SkipAt(due) == nil:
		return due, t.noSkip("the tick" + at(due, " of ") + " does not take place: " + line.Exclusion(due))
	}
	return due, nil
}

// HasTick reports whether the timer of a task elapses at a time.
func (t *Task) HasTick(due time.Time) bool {
	line, err := t.parse()
	return err == nil && line.Next(due.Add(-time.Microsecond)).Equal(due)
}

// noSkip is why a tick cannot be skipped, or no skip undone.
func (t *Task) noSkip(problem string) error {
	return &TaskError{ID: t.ID, Fields: []FieldError{{Field: "due", Err: errors.New(problem)}}}
}

// at is a time behind a word; empty for the zero time.
func at(t time.Time, word string) string {
	if t.IsZero() {
		return ""
	}
	return word + utc(t)
}

func utc(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
