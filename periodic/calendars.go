package periodic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/calendar"
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

// Change adds rows to calendars, then removes others by their ids; [days.Changes] finds both. A calendar that
// a task names must keep a row; the database refuses to remove the last one.
func (s *Calendars) Change(ctx context.Context, add []days.Row, remove []int64) error {
	for _, r := range add {
		if err := r.Validate(); err != nil {
			return err
		}
	}
	if len(add)+len(remove) == 0 {
		return nil
	}
	err := s.store.Update(ctx, func(tx TaskTx) error { return tx.ChangeCalendars(ctx, add, remove) })
	if err != nil {
		return fmt.Errorf("change calendars: %w", err)
	}
	return nil
}

// calendarChanges are the rows to add and to remove so that each calendar that is named among the wanted rows has
// these. Other calendars stay.
func calendarChanges(have, want []days.Row) (add []days.Row, remove []int64) {
	unnamed := func(r days.Row) bool {
		return !slices.ContainsFunc(want, func(w days.Row) bool { return w.Name == r.Name })
	}
	return days.Changes(slices.DeleteFunc(slices.Clone(have), unnamed), want)
}

// calendars makes the calendars like those of a, and checks that its tasks can follow them.
func (a *Apply) calendars(ctx context.Context, tx TaskTx, done *Applied) error {
	have, err := tx.Calendars(ctx)
	if err != nil {
		return err
	}
	add, remove := calendarChanges(have, a.Calendars)
	isGone := func(r days.Row) bool { return slices.Contains(remove, r.ID) }
	all := append(slices.DeleteFunc(slices.Clone(have), isGone), add...)
	var problems []error
	for i := range a.Tasks {
		if !a.Tasks[i].Days.Empty() {
			problems = append(problems, checkDays(&a.Tasks[i], all))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	done.Days, done.Gone = add, slices.DeleteFunc(have, func(r days.Row) bool { return !isGone(r) })
	if a.DryRun || len(add)+len(remove) == 0 {
		return nil
	}
	return tx.ChangeCalendars(ctx, add, remove)
}

// checkDays returns a [*TaskError] for a task whose calendars do not exist, or whose ticks cannot move.
func checkDays(t *Task, rows []days.Row) error {
	timer, err := calendar.ParseAt(t.Timer, t.Anchor())
	if err != nil {
		return nil //nolint:nilerr // the timer is refused already
	}
	of := *t
	of.Days.Calendars = days.NewCalendars(rows)
	if _, err := of.timeline(timer); err != nil {
		field, _, _ := strings.Cut(err.Error(), " ")
		return &TaskError{ID: t.ID, Fields: []FieldError{{Field: strings.TrimSuffix(field, ":"), Err: err}}}
	}
	return nil
}

// checkDaysIn is checkDays with the calendars of the database.
func checkDaysIn(ctx context.Context, tx TaskTx, t *Task) error {
	if t.Days.Empty() {
		return nil
	}
	rows, err := tx.Calendars(ctx)
	if err != nil {
		return err
	}
	return checkDays(t, rows)
}
