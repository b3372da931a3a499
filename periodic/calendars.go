package periodic

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nextrun/nextrun/periodic/days"
)

// Calendars manages the rows of periodic_calendar: [Tasks] has them. It is safe for concurrent use.
type Calendars struct{ store TaskStore }

// List returns the rows of all calendars, in the order of their names and days.
func (s *Calendars) List(ctx context.Context) (rows []days.Row, err error) {
	err = s.store.View(ctx, func(tx TaskTx) error {
		rows, err = tx.Calendars(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list calendars: %w", err)
	}
	return rows, nil
}

// Change removes rows of calendars, then writes others; [days.Changes] finds both. A tick is decided by the rows that
// are there then.
func (s *Calendars) Change(ctx context.Context, write, remove []days.Row) error {
	for _, r := range write {
		if err := r.Validate(); err != nil {
			return err
		}
	}
	err := s.store.Update(ctx, func(tx TaskTx) error { return tx.ChangeCalendars(ctx, write, remove) })
	if err != nil {
		return fmt.Errorf("change calendars: %w", err)
	}
	return nil
}

// calendars makes the calendars like those of a, and checks that those of its tasks exist. Calendars that a does not
// have stay.
func (a *Apply) calendars(ctx context.Context, tx TaskTx, done *Applied) error {
	have, err := tx.Calendars(ctx)
	if err != nil {
		return err
	}
	var problems []error
	all := days.NewCalendars(slices.Concat(have, a.Calendars))
	for i := range a.Tasks {
		problems = append(problems, checkDays(&a.Tasks[i], all))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	have = slices.DeleteFunc(have, func(h days.Row) bool {
		return !slices.ContainsFunc(a.Calendars, func(w days.Row) bool { return w.Name == h.Name })
	})
	done.Days, done.Gone = days.Changes(have, a.Calendars)
	if a.DryRun || len(done.Days)+len(done.Gone) == 0 {
		return nil
	}
	return tx.ChangeCalendars(ctx, done.Days, done.Gone)
}

// checkDays returns a [*TaskError] for a task that names a calendar which does not exist.
func checkDays(t *Task, calendars days.Calendars) error {
	if err := calendars.Check(t.Days.Exclude); err != nil {
		return &TaskError{ID: t.ID, Fields: []FieldError{{Field: "exclude_calendars", Err: err}}}
	}
	return nil
}

// checkDaysIn is checkDays with the calendars of the database.
func checkDaysIn(ctx context.Context, tx TaskTx, t *Task) error {
	if t.Days.Exclude == "" {
		return nil
	}
	rows, err := tx.Calendars(ctx)
	if err != nil {
		return err
	}
	return checkDays(t, days.NewCalendars(rows))
}
