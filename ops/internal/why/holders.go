package why

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// holders is what may keep a task that is due from being taken, as far as the database shows.
type holders struct {
	Schedulers []view.Service     // that live
	Row        *view.Holder       // has locked the task's row; nil: nobody
	Tables     []view.TableHolder // keep others from writing to tables: to those of nextrun, unless the task's queue is another one
	FileLocked bool               // SQLite: somebody else writes, or has a transaction open
}

// lockWait is how long a SQLite file must be locked to be called so, and a row by nextrun itself.
const lockWait = time.Second

// mostTables is how many locked tables are named.
const mostTables = 3

// readHolders reads why a task that has been due for a while may not have been taken. It takes no locks on
// PostgreSQL, and for a moment that of the file on SQLite.
func (f *Facts) readHolders(ctx context.Context, db *store.DB) error {
	if !f.Task.Enabled || f.Late() <= periodic.OverdueAfter && !f.Task.Unplanned() {
		return nil
	}
	services, err := view.Of(db).Services(ctx)
	if err != nil {
		return err
	}
	h := &holders{Schedulers: filter(services, func(s view.Service) bool { return s.Kind == view.Scheduler && s.Lives })}
	err = sqldb.Of(db).View(ctx, func(tx *sqldb.Tx) error {
		row, err := view.RowHolder(ctx, tx, "periodic_task", "id", f.Task.ID)
		if row != nil && (row.For >= lockWait || !strings.HasPrefix(row.App, "nextrun")) {
			h.Row = row // a scheduler that tries the task has its row for a moment
		}
		return err
	})
	if err == nil {
		h.Tables, err = tableHolders(ctx, db)
	}
	if err != nil {
		return err
	}
	if f.Task.Sink == periodic.SinkJob || f.Task.Sink == periodic.SinkEvent {
		h.Tables = filter(h.Tables, func(t view.TableHolder) bool { return sqldb.IsOurTable(strings.Trim(t.Table, `"`)) })
	}
	if sqldb.Of(db).SQL().IsSQLite() {
		h.FileLocked = fileLocked(ctx, db)
	}
	f.holders = h
	return ctx.Err()
}

// WithHolders adds to an error of a database that is busy who has locked its tables.
func WithHolders(ctx context.Context, db *store.DB, err error) error {
	if !errors.Is(err, store.ErrBusy) {
		return err
	}
	tables, unread := tableHolders(ctx, db)
	if unread != nil {
		return err
	}
	for _, t := range tables[:min(len(tables), mostTables)] {
		err = fmt.Errorf("%w; the table %s is locked by %s", err, t.Table, t.Text())
	}
	return err
}

// tableHolders finds who keeps others from writing to tables. It reads no table of nextrun.
func tableHolders(ctx context.Context, db *store.DB) (found []view.TableHolder, err error) {
	err = sqldb.Of(db).View(ctx, func(tx *sqldb.Tx) (err error) { found, err = view.TableHolders(ctx, tx); return err })
	return found, err
}

// fileLocked reports whether somebody has locked a SQLite file for a while. SQLite
// waits for its lock as long as the connection says, so it is not waited for here.
func fileLocked(ctx context.Context, db *store.DB) bool {
	done := make(chan error, 1)
	go func() { done <- db.Update(ctx, func(*store.Tx) error { return nil }) }()
	select {
	case err := <-done:
		return errors.Is(err, sqldb.ErrBusy)
	case <-time.After(lockWait):
		return true
	}
}
