package diagnosis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/internal/figures"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// mostTables is how many locked tables are named.
const mostTables = 3

// late is for how long a task has been due.
func (f *Facts) late() time.Duration {
	if f.Task.Created.After(f.Task.NextRun) {
		return f.Now.Sub(f.Task.Created)
	}
	return f.Now.Sub(f.Task.NextRun)
}

// readOverdue reads what keeps a task from being taken that has been due for a while.
func (f *Facts) readOverdue(ctx context.Context, db *store.DB) error {
	if !f.Task.Enabled || f.late() <= overdueAfter && !f.Task.Unplanned() {
		return nil
	}
	o, err := figures.Of(db).Overdue(ctx, f.Task.ID)
	if err == nil {
		f.overdue = &o
	}
	return err
}

// WithHolders adds to an error of a database that is busy who has locked its tables.
func WithHolders(ctx context.Context, db *store.DB, err error) error {
	if !errors.Is(err, store.ErrBusy) {
		return err
	}
	tables, unread := figures.Of(db).TableHolders(ctx)
	if unread != nil {
		return err
	}
	for _, t := range tables[:min(len(tables), mostTables)] {
		err = fmt.Errorf("%w; the table %s is locked by %s", err, t.Table, t.Text())
	}
	return err
}

// ofOverdue says why nobody takes a task that is due, as far as that was found.
func ofOverdue(f *Facts) []Finding {
	since, o := "It has been due for "+text.Text(f.late()), f.overdue
	if !f.Task.NextRun.After(periodic.Unplanned) {
		since = "It is " + text.Text(f.late()) + " old and not planned yet"
	}
	tables := o.Own
	if f.Task.Sink != periodic.SinkJob && f.Task.Sink != periodic.SinkEvent {
		tables = o.Tables // which of them are its queue's is not known
	}
	switch {
	case o.Row != nil:
		return []Finding{{taskLocked, fmt.Sprintf("%s, and its row is locked by %s. A scheduler can take it when that lock ends.", since, o.Row.Text()), o.Row.Remedy()}}
	case len(tables) > 0:
		var list []Finding
		for _, t := range tables[:min(len(tables), mostTables)] {
			list = append(list, Finding{tableLocked, fmt.Sprintf("%s, and the table %s is locked by %s. Tasks that write to that table wait until the lock ends.",
				since, t.Table, t.Text()), t.Remedy()})
		}
		return list
	case o.FileLocked:
		return []Finding{{fileLocked, since + ", and another connection has locked the database file: it writes, or has left a transaction open. Nobody else can write meanwhile.",
			"end that transaction in its program"}}
	}
	return nil
}

// notTaken says who could take a task that is due, or is to be planned, if nothing was found
// that keeps it.
func notTaken(f *Facts) []Finding {
	code, what := taskOverdue, "It has been due for "+text.Text(f.late())+", and no scheduler has taken it."
	if f.Task.Unplanned() {
		age := f.Now.Sub(f.overdue.Since)
		code, what = taskUnplanned, "No scheduler has planned it, although it was added or changed "+text.Text(age)+" ago."
		switch {
		case age > overdueAfter:
		case len(f.overdue.Schedulers) > 0:
			return []Finding{{taskPlanSoon, "It is not planned yet: a scheduler does that within a second.", ""}}
		default:
			what = "It is not planned yet, and no scheduler runs, as far as the database shows."
		}
	}
	if list := f.overdue.Schedulers; len(list) > 0 {
		return []Finding{ofSchedulers(list, code, what+lockState(f.locks))}
	}
	return []Finding{{code, what + lockState(f.locks), "is one running on this database? start one: nextrun serve"}}
}

// ofSchedulers says what schedulers that run tell, if they have not taken a task.
func ofSchedulers(list []figures.Service, code Code, what string) Finding {
	var names []string
	for _, s := range list {
		if s.Trouble != "" {
			return Finding{schedulerFails, what + " The scheduler " + s.Worker + " runs and reports: " + s.Trouble + ".", "mend that; the scheduler goes on by itself then"}
		}
		names = append(names, s.Worker)
	}
	return Finding{code, what + " The cause is not known. A scheduler is connected, and may be stopped or stuck: " + strings.Join(names, ", ") + ".", "does its process run? read its log"}
}
