package figures

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// Overdue is what may keep a task that is due from being taken, as far as the database
// shows.
type Overdue struct {
	Schedulers []string            // that live
	Row        *sqldb.Holder       // has locked the task's row; nil: nobody
	Tables     []sqldb.TableHolder // keep others from writing to tables
	Own        []sqldb.TableHolder // those of nextrun among them
	FileLocked bool                // SQLite: somebody else writes, or has a transaction open
}

// fileWait is how long a SQLite file must be locked to be called so.
const fileWait = time.Second

// Overdue reads why a task that is due may not have been taken. It takes no locks on
// PostgreSQL, and for a moment that of the file on SQLite.
func (r Reader) Overdue(ctx context.Context, id string) (o Overdue, err error) {
	services, err := r.Services(ctx)
	if err != nil {
		return o, err
	}
	for _, s := range services {
		if s.Kind == Scheduler && s.Lives {
			o.Schedulers = append(o.Schedulers, s.Worker)
		}
	}
	if r.db.SQL().IsSQLite() {
		brief, cancel := context.WithTimeout(ctx, fileWait)
		defer cancel()
		err := r.db.UpdateWithin(brief, fileWait, func(*sqldb.Tx) error { return nil })
		o.FileLocked = errors.Is(err, sqldb.ErrBusy) || errors.Is(err, context.DeadlineExceeded)
		return o, ctx.Err()
	}
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		held, err := sqldb.RowHolders(ctx, tx, `SELECT 'it', xmax FROM periodic_task WHERE id = $1`, id)
		if h, ok := held["it"]; ok {
			o.Row = &h
		}
		if err == nil {
			o.Tables, err = sqldb.TableHolders(ctx, tx)
		}
		return err
	})
	for _, t := range o.Tables {
		if sqldb.IsOurTable(strings.Trim(t.Table, `"`)) {
			o.Own = append(o.Own, t)
		}
	}
	if err != nil {
		return o, fmt.Errorf("read why task %s is overdue: %w", id, err)
	}
	return o, nil
}
