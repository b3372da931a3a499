package figures

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Overdue is what may keep a task that is due from being taken, as far as the database
// shows.
type Overdue struct {
	Schedulers []Service     // that live
	Row        *Holder       // has locked the task's row; nil: nobody
	Tables     []TableHolder // keep others from writing to tables
	Own        []TableHolder // those of nextrun among them
	FileLocked bool          // SQLite: somebody else writes, or has a transaction open
	Since      time.Time     // when the task was added, or somebody last changed when it is due
}

// lockWait is how long a SQLite file must be locked to be called so, and a row by nextrun itself.
const lockWait = time.Second

// Overdue reads why a task that is due may not have been taken. It takes no locks on
// PostgreSQL, and for a moment that of the file on SQLite.
func (r Reader) Overdue(ctx context.Context, id string) (o Overdue, err error) {
	services, err := r.Services(ctx)
	if err != nil {
		return o, err
	}
	for _, s := range services {
		if s.Kind == Scheduler && s.Lives {
			o.Schedulers = append(o.Schedulers, s)
		}
	}
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		var since sqldb.RowTime
		if err := tx.First(ctx, &since, `SELECT since FROM periodic_task WHERE id = $1`, id); err != nil {
			return err
		}
		o.Since = since.Time()
		held, err := rowHolders(ctx, tx, `SELECT 'it', xmax FROM periodic_task WHERE id = $1`, id)
		if h, ok := held["it"]; ok && (h.For >= lockWait || !strings.HasPrefix(h.App, "nextrun")) {
			o.Row = &h // a scheduler that tries the task has its row for a moment
		}
		return err
	})
	if err == nil {
		o.Tables, err = r.TableHolders(ctx)
	}
	for _, t := range o.Tables {
		if sqldb.IsOurTable(strings.Trim(t.Table, `"`)) {
			o.Own = append(o.Own, t)
		}
	}
	if err != nil {
		return o, fmt.Errorf("read why task %s is overdue: %w", id, err)
	}
	if r.db.SQL().IsSQLite() {
		o.FileLocked = r.fileLocked(ctx)
	}
	return o, ctx.Err()
}

// TableHolders finds who keeps others from writing to tables. It reads no table of nextrun.
func (r Reader) TableHolders(ctx context.Context) (found []TableHolder, err error) {
	err = r.db.View(ctx, func(tx *sqldb.Tx) (err error) { found, err = tableHolders(ctx, tx); return err })
	return found, err
}

// fileLocked reports whether somebody has locked a SQLite file for a while. SQLite
// waits for its lock as long as the connection says, so it is not waited for here.
func (r Reader) fileLocked(ctx context.Context) bool {
	done := make(chan error, 1)
	go func() { done <- r.db.Update(ctx, func(*sqldb.Tx) error { return nil }) }()
	select {
	case err := <-done:
		return errors.Is(err, sqldb.ErrBusy)
	case <-time.After(lockWait):
		return true
	}
}
