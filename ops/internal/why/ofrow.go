package why

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// How long something may take before it is remarkable.
const (
	waitsLong  = 10 * time.Second
	markedLong = 30 * time.Second
)

func disabled(e *Explanation) []Args { return when(!e.Enabled, Args{}) }

func problem(e *Explanation) []Args {
	p := e.Blocked()
	if p == "" || strings.HasPrefix(p, periodic.WaitsPrefix) {
		return nil
	}
	row := !strings.HasPrefix(p, periodic.UnscheduledPrefix)
	if !row {
		p = strings.ToUpper(p[:1]) + p[1:]
	}
	return when(true, Args{"Problem": p, "Row": row, "Timer": strings.HasPrefix(p, periodic.UnreadablePrefix)})
}

// warning is not said if idle says the same.
func warning(e *Explanation) []Args {
	said, is := strings.CutPrefix(e.Problem, periodic.WarningPrefix)
	return when(is && !(e.never() && e.Problem == periodic.NeverElapses(e.Timer)), Args{"Text": said})
}

func (e *Explanation) never() bool { return !e.NextRun.Before(periodic.Never) }

func queueBroken(e *Explanation) []Args {
	why, waits := strings.CutPrefix(e.Problem, periodic.WaitsPrefix)
	return when(waits || e.unknown || e.broken != nil, Args{"Sink": e.Sink, "Waits": why, "Unknown": e.unknown, "Error": e.broken, "Busy": errors.Is(e.broken, store.ErrBusy)})
}

func paused(e *Explanation) []Args {
	p := e.Pause
	return when(p.At(e.Now), Args{"By": p.By, "Since": p.Since, "Until": known(p.Until), "Reason": p.Reason, "Early": p.Since.After(e.Now)})
}

// idle finds a task that has no ticks now: its timer never elapses again, its ends have passed, or its starts are to come.
func idle(e *Explanation) []Args {
	coming, err := e.Upcoming(e.Now, 1)
	switch {
	case !e.Ends.IsZero() && !e.Ends.After(e.Now):
		return when(true, Args{"Never": true, "Ends": e.Ends})
	case e.Enabled && e.Blocked() == "" && err == nil && len(coming) == 0 && e.Timer != calendar.Never && (e.never() || e.Unplanned()):
		return when(true, Args{"Never": true, "Timer": e.Timer, "Later": e.Starts.After(e.Now), "Until": known(e.Ends)})
	}
	return when(e.Starts.After(e.Now), Args{"Starts": e.Starts})
}

// waits reports whether its tick is due and waits for the end of a job.
func (e *Explanation) waits() bool {
	return e.Enabled && e.Queues() && e.Late() > 0 && !e.Unplanned() && (e.job != nil || e.pending != nil)
}

func tickWaits(e *Explanation) []Args {
	a := Args{"Due": e.NextRun}
	switch j, p := e.job, e.pending; {
	case !e.waits():
		return nil
	case j == nil:
		a["Of"], a["State"], a["JID"], a["Began"] = known(p.Due), p.State.Word(), p.JID, known(p.Started)
	case j.Started.IsZero():
		a["Of"], a["State"], a["JID"] = known(j.Due), j.State.Word(), j.JID
	default:
		a["Of"], a["JID"], a["Began"], a["Attempt"] = known(j.Due), j.JID, j.Submitted, max(j.Attempt()-1, 1)
	}
	return when(true, a)
}

// held is what may keep a task that is due from being taken, as far as the database shows.
type held struct {
	Schedulers []view.Service // that live
	Row        *holder        // has locked the task's row, or that of its aggregate of events; nil: nobody
	Tables     []holder       // keep others from writing to tables: to those of nextrun, unless the task's queue is another one
	FileLocked bool           // SQLite: somebody else writes, or has a transaction open
}

// readHeld reads why a task that has been due for a while may not have been taken. It takes no locks on
// PostgreSQL, and for a moment that of the file on SQLite.
func (e *Explanation) readHeld(ctx context.Context, db *store.DB) error {
	if !e.Enabled || e.Late() <= periodic.OverdueAfter && !e.Unplanned() {
		return nil
	}
	services, err := view.Of(db).Services(ctx)
	if err != nil {
		return err
	}
	h := &held{Schedulers: filter(services, func(s view.Service) bool { return s.Kind == view.Scheduler && s.Lives })}
	if h.Row, err = rowHolder(ctx, db, "periodic_task", "id", e.ID); err == nil && h.Row == nil && e.Sink == periodic.SinkEvent {
		h.Row, err = rowHolder(ctx, db, "event_aggregate", "id", e.ID)
	}
	if err != nil {
		return err
	}
	if h.Row != nil && h.Row.Seconds < lockWait.Seconds() && strings.HasPrefix(h.Row.App, "nextrun") {
		h.Row = nil // a scheduler that tries the task has its row for a moment
	}
	if h.Tables, err = tableHolders(ctx, db); err != nil {
		return err
	}
	if e.Sink == periodic.SinkJob || e.Sink == periodic.SinkEvent {
		h.Tables = filter(h.Tables, func(t holder) bool { return sqldb.IsOurTable(strings.Trim(t.Table, `"`)) })
	}
	h.FileLocked = sqldb.Of(db).SQL().IsSQLite() && fileLocked(ctx, db)
	e.held = h
	return ctx.Err()
}

// due are the args of a task that is due and has not been taken, nil if it is not so.
func (e *Explanation) due() Args {
	if e.held == nil || e.never() || e.waits() {
		return nil
	}
	return Args{"Late": e.Late(), "Unplanned": e.Unplanned()}
}

func locked(e *Explanation) (list []Args) {
	if e.due() == nil {
		return nil
	}
	holders := e.held.Tables[:min(len(e.held.Tables), mostTables)]
	if e.held.Row != nil {
		holders = []holder{*e.held.Row}
	}
	for i := range holders {
		a := e.due()
		a["Row"], a["Table"], a["Who"], a["Remedy"] = e.held.Row != nil, holders[i].Table, holders[i].Who(), holders[i].Remedy()
		list = append(list, a)
	}
	if e.held.FileLocked {
		a := e.due()
		a["File"], a["Remedy"] = true, "end that transaction in its program"
		list = append(list, a)
	}
	return list
}

// overdue is not said of what another cause keeps from being taken.
func overdue(e *Explanation) []Args {
	a := e.due()
	switch {
	case a == nil || e.Blocked() != "" || locked(e) != nil:
		return nil
	case e.Worker != "" && e.Now.Sub(e.Marked) <= markedLong:
		return nil // somebody works on it
	case e.Unplanned() && e.Late() <= periodic.OverdueAfter:
		a["Late"] = nil
		return when(len(e.held.Schedulers) == 0, a)
	}
	a["Marked"], a["Since"] = e.Worker, e.Marked
	a["Who"] = workersOf(e.held.Schedulers)
	for _, s := range e.held.Schedulers {
		if s.Trouble != "" {
			a["Who"], a["Trouble"] = s.Worker, s.Trouble
		}
	}
	return when(true, a)
}

// byHand finds a next run that somebody set to another time than the timer's. Whole hours from the time
// at which that was done, or from a time of the timer, look like the time of another zone.
func byHand(e *Explanation) []Args {
	if !e.Enabled || e.Blocked() != "" || !e.Manual() || e.never() || !e.NextRun.After(e.Now) || e.HasTick(e.NextRun) {
		return nil
	}
	a := Args{"Next": e.NextRun}
	if next, err := e.Upcoming(e.Now, 1); err == nil && len(next) > 0 {
		a["Elapse"] = next[0].Due
	}
	const slip, most = 3 * time.Second, 14
	for h := 1; h <= most && a["Hours"] == nil; h++ {
		away := time.Duration(h) * time.Hour
		switch since := e.NextRun.Sub(e.Edited) - away; {
		case since.Abs() <= slip:
			a["Hours"], a["Side"], a["Of"] = h, "after", "the time at which it was set"
		case e.HasTick(e.NextRun.Add(-away)):
			a["Hours"], a["Side"], a["Of"] = h, "after", "a time of its timer"
		case e.HasTick(e.NextRun.Add(away)):
			a["Hours"], a["Side"], a["Of"] = h, "before", "a time of its timer"
		}
	}
	return when(true, a)
}

// leftOut finds the planned tick if a calendar leaves it out, and ticks to come that people leave out.
func leftOut(e *Explanation) (list []Args) {
	if !e.Due.IsZero() && e.Due.After(e.Now) && e.SkipAt(e.Due) == nil && e.Enabled && !e.never() {
		if next, err := e.Upcoming(e.Due.Add(-time.Microsecond), 1); err == nil && len(next) > 0 && next[0].Due.Equal(e.Due) && next[0].LeftOut != "" {
			list = append(list, Args{"Due": e.Due, "Calendar": next[0].LeftOut})
		}
	}
	for _, s := range e.SkipsToCome(e.Now) {
		list = append(list, Args{"Due": s.Due, "By": view.Because(periodic.CausePerson, s.Reason), "NoTick": !e.HasTick(s.Due)})
	}
	return list
}

func notRead(e *Explanation) []Args {
	parts := strings.Join(e.unread, "; ")
	return when(e.Unread(), Args{"Parts": parts, "Right": strings.Contains(parts, "permission denied")})
}
