package periodic

import (
	"context"
	"errors"
	"slices"

	"github.com/nextrun/nextrun/periodic/days"
)

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
