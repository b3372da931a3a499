package tasks

import (
	"context"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
)

// attachCalendars gives tasks the calendars that they name. It asks the database only if there are any.
func attachCalendars(ctx context.Context, tx *sqldb.Tx, list []periodic.Task) error {
	var names []string
	for i := range list {
		for _, name := range days.Names(list[i].Days.Exclude) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	named := tx.Texts(1, names)
	rows, err := calendarRows(ctx, tx, ` WHERE name IN (SELECT v.value FROM `+named.SQL+` AS v)`, named.Param)
	if err != nil {
		return err
	}
	known := days.NewCalendars(rows)
	for i := range list {
		list[i].Days.Calendars = known
	}
	return nil
}

// calendarRows reads rows of periodic_calendar.
func calendarRows(ctx context.Context, tx *sqldb.Tx, where string, params ...any) ([]days.Row, error) {
	day := func(column string) string { return column + ` + time '00:00'` }
	if tx.SQL().IsSQLite() {
		day = func(column string) string { return column + ` || ' 00:00:00'` }
	}
	var rows []struct {
		Name        string
		First, Last sqldb.RowTime
		Reason      sqldb.RowText
	}
	err := tx.Select(ctx, &rows, `SELECT name, `+day("first_day")+` AS first, `+day("last_day")+` AS last, reason FROM periodic_calendar`+where, params...)
	list := make([]days.Row, len(rows))
	for i, r := range rows {
		list[i] = days.Row{Name: r.Name, First: r.First.Time(), Last: r.Last.Time(), Reason: string(r.Reason)}
	}
	slices.SortFunc(list, days.Row.Compare)
	return list, err
}

// Calendars implements [periodic.TaskTx].
func (tx taskTx) Calendars(ctx context.Context) ([]days.Row, error) {
	return calendarRows(ctx, tx.Tx, "")
}

// ChangeCalendars implements [periodic.TaskTx].
func (tx taskTx) ChangeCalendars(ctx context.Context, write, remove []days.Row) error {
	for _, r := range remove {
		if _, err := tx.Exec(ctx, `DELETE FROM periodic_calendar WHERE name = $1 AND first_day = $2`, r.Name, day(r.First)); err != nil {
			return err
		}
	}
	for _, r := range write {
		if err := r.Validate(); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO periodic_calendar (name, first_day, last_day, reason) VALUES ($1, $2, $3, $4)
			ON CONFLICT (name, first_day) DO UPDATE SET last_day = excluded.last_day, reason = excluded.reason`,
			r.Name, day(r.First), day(r.Last), sqldb.Nullable(r.Reason))
		if err != nil {
			return err
		}
	}
	return nil
}

func day(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Format(time.DateOnly)
}
