package schedule

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
)

// edition is a number that rises with each change of periodic_calendar; 0 if somebody has deleted its row.
const edition = `coalesce((SELECT max(edition) FROM periodic_calendar_edition), 0)`

// calendarCache remembers the calendars of an edition. It is safe for concurrent use.
type calendarCache struct {
	mu      sync.Mutex
	edition int64 // 0: none has been read
	known   *days.Calendars
}

// attach gives tasks their calendars. It asks the database only if one of the tasks names a calendar, and reads all
// calendars only if they have changed.
func (c *calendarCache) attach(ctx context.Context, tx *sqldb.Tx, list []periodic.Task) error {
	if !slices.ContainsFunc(list, func(t periodic.Task) bool { return !t.Days.Empty() }) {
		return nil
	}
	var now struct{ Edition int64 }
	if err := tx.First(ctx, &now, `SELECT `+edition+` AS edition`); err != nil {
		return err
	}
	c.mu.Lock()
	known, old := c.known, c.edition
	c.mu.Unlock()
	if known == nil || old != now.Edition || now.Edition == 0 {
		rows, err := calendarRows(ctx, tx)
		if err != nil {
			return err
		}
		known = days.NewCalendars(rows)
		c.mu.Lock()
		c.known, c.edition = known, now.Edition
		c.mu.Unlock()
	}
	for i := range list {
		list[i].Days.Calendars = known
	}
	return nil
}

func calendarRows(ctx context.Context, tx *sqldb.Tx) ([]days.Row, error) {
	day := func(column string) string { return column + ` + time '00:00'` }
	if tx.SQL().IsSQLite() {
		day = func(column string) string { return column + ` || ' 00:00:00'` }
	}
	var rows []struct {
		ID            int64
		Name          string
		First, Last   sqldb.RowTime
		Timer, Reason sqldb.RowText
		Length        sqldb.RowInt
	}
	err := tx.Select(ctx, &rows, `SELECT id, name, `+day("first_day")+` AS first, `+day("last_day")+` AS last, timer, length, reason FROM periodic_calendar`)
	list := make([]days.Row, len(rows))
	for i, r := range rows {
		list[i] = days.Row{
			ID: r.ID, Name: r.Name, First: r.First.Time(), Last: r.Last.Time(), Timer: string(r.Timer),
			Length: time.Duration(r.Length.N) * time.Second, Reason: string(r.Reason),
		}
	}
	slices.SortFunc(list, days.Row.Compare)
	return list, err
}

// Calendars implements [periodic.TaskTx].
func (tx taskTx) Calendars(ctx context.Context) ([]days.Row, error) { return calendarRows(ctx, tx.Tx) }

// ChangeCalendars implements [periodic.TaskTx]. It adds before it removes, since a calendar that is
// used must not be empty.
func (tx taskTx) ChangeCalendars(ctx context.Context, add []days.Row, remove []int64) error {
	for _, r := range add {
		if err := r.Validate(); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO periodic_calendar (name, first_day, last_day, timer, length, reason) VALUES ($1, $2, $3, $4, $5, $6)`,
			r.Name, day(r.First), day(r.Last), sqldb.Nullable(r.Timer), seconds(r.Length), sqldb.Nullable(r.Reason)); err != nil {
			return err
		}
	}
	for _, id := range remove {
		if _, err := tx.Exec(ctx, `DELETE FROM periodic_calendar WHERE id = $1`, id); err != nil {
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

func seconds(d time.Duration) any {
	if d == 0 {
		return nil
	}
	return int64(d / time.Second)
}
