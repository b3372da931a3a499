package why

import (
	"errors"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// How long something may take before it is remarkable.
const (
	waitsLong  = 10 * time.Second
	markedLong = 30 * time.Second
)

func disabled(f *Facts) []Args { return when(!f.Task.Enabled, nil) }

func problem(f *Facts) []Args {
	p := f.Task.Blocked()
	if p == "" || strings.HasPrefix(p, periodic.WaitsPrefix) {
		return nil
	}
	_, err := calendar.Parse(f.Task.Timer)
	row := !strings.HasPrefix(p, periodic.UnscheduledPrefix)
	if !row {
		p = strings.ToUpper(p[:1]) + p[1:]
	}
	return when(true, Args{"Problem": p, "Row": row, "Timer": err != nil && strings.HasPrefix(p, periodic.UnreadablePrefix)})
}

// warning is not said if idle says the same.
func warning(f *Facts) []Args {
	said, is := strings.CutPrefix(f.Task.Problem, periodic.WarningPrefix)
	return when(is && !(strings.HasSuffix(said, " never elapses") && f.never()), Args{"Text": said})
}

func (f *Facts) never() bool { return !f.Task.NextRun.Before(periodic.Never) }

func queueBroken(f *Facts) []Args {
	why, waits := strings.CutPrefix(f.Task.Problem, periodic.WaitsPrefix)
	return when(waits || f.unknown || f.broken != nil, Args{"Sink": f.Task.Sink, "Waits": why, "Unknown": f.unknown, "Error": f.broken, "Busy": errors.Is(f.broken, store.ErrBusy)})
}

func paused(f *Facts) []Args {
	p := f.Task.Pause
	return when(p.At(f.Now), Args{"By": p.By, "Since": p.Since, "Until": known(p.Until), "Reason": p.Reason, "Early": p.Since.After(f.Now)})
}

// waits reports whether its tick is due and waits for the end of a job.
func (f *Facts) waits() bool {
	return f.Task.Enabled && f.Task.Queues() && f.Late() > 0 && !f.Task.Unplanned() && (f.job != nil || f.pending != nil)
}

func tickWaits(f *Facts) []Args {
	if !f.waits() {
		return nil
	}
	a := Args{"Due": f.Task.NextRun}
	if j := f.job; j != nil {
		a["Of"], a["State"], a["JID"] = known(j.Due), j.State.Word(), j.JID
		if !j.Started.IsZero() {
			a["Began"], a["Attempt"] = j.Submitted, max(j.Attempt()-1, 1)
		}
		return when(true, a)
	}
	p := f.pending
	a["Of"], a["State"], a["JID"], a["Began"] = known(p.Due), p.State.Word(), p.JID, known(p.Started)
	return when(true, a)
}

// due are the args of a task that is due and has not been taken, nil if it is not so.
func (f *Facts) due() Args {
	if f.holders == nil || f.never() || f.waits() {
		return nil
	}
	return Args{"Late": f.Late(), "Unplanned": f.Task.Unplanned()}
}

func locked(f *Facts) []Args {
	a := f.due()
	if a == nil {
		return nil
	}
	tables := f.holders.Tables
	switch {
	case f.holders.Row != nil:
		a["Who"], a["Remedy"] = f.holders.Row.Text(), f.holders.Row.Remedy()
		return when(true, a)
	case len(tables) > 0:
		var list []Args
		for _, t := range tables[:min(len(tables), mostTables)] {
			list = append(list, Args{"Late": a["Late"], "Unplanned": a["Unplanned"], "Table": t.Table, "Who": t.Text(), "Remedy": t.Remedy()})
		}
		return list
	}
	a["File"], a["Remedy"] = true, "end that transaction in its program"
	return when(f.holders.FileLocked, a)
}

// overdue is not said of what another cause keeps from being taken.
func overdue(f *Facts) []Args {
	a, t := f.due(), f.Task
	if a == nil || t.Blocked() != "" || locked(f) != nil {
		return nil
	}
	switch {
	case t.Worker != "" && f.Now.Sub(t.Marked) <= markedLong:
		return nil // somebody works on it
	case t.Unplanned() && f.Late() <= periodic.OverdueAfter:
		a["Late"] = nil
		return when(len(f.holders.Schedulers) == 0, a)
	}
	a["Marked"], a["Since"] = t.Worker, t.Marked
	a["Who"] = workersOf(f.holders.Schedulers)
	for _, s := range f.holders.Schedulers {
		if s.Trouble != "" {
			a["Who"], a["Trouble"] = s.Worker, s.Trouble
		}
	}
	return when(true, a)
}

// idle finds a task that has no ticks now: its timer never elapses again, its ends have passed, or its starts are to come.
func idle(f *Facts) (list []Args) {
	t := f.Task
	_, err := calendar.Parse(t.Timer)
	switch {
	case !t.Ends.IsZero() && !t.Ends.After(f.Now):
		return when(true, Args{"Ends": t.Ends})
	case t.Enabled && f.never() && err == nil && t.Ends.IsZero() && t.Blocked() == "":
		return when(true, Args{"Timer": t.Timer, "Later": t.Starts.After(f.Now)})
	}
	return when(t.Starts.After(f.Now), Args{"Starts": t.Starts})
}

// byHand finds a next run that somebody set to another time than the timer's. Whole hours from the time
// at which that was done, or from a time of the timer, look like the time of another zone.
func byHand(f *Facts) []Args {
	t := f.Task
	if !t.Enabled || t.Blocked() != "" || !t.Manual() || f.never() || !t.NextRun.After(f.Now) || t.HasTick(t.NextRun) {
		return nil
	}
	a := Args{"Next": t.NextRun}
	if next, err := t.Upcoming(f.Now, 1); err == nil && len(next) > 0 {
		a["Elapse"] = next[0].Due
	}
	const slip, most = 3 * time.Second, 14
	for h := 1; h <= most; h++ {
		away := time.Duration(h) * time.Hour
		switch since := t.NextRun.Sub(f.Edited) - away; {
		case since.Abs() <= slip:
			a["Hours"], a["Side"], a["Of"] = h, "after", "the time at which it was set"
		case t.HasTick(t.NextRun.Add(-away)):
			a["Hours"], a["Side"], a["Of"] = h, "after", "a time of its timer"
		case t.HasTick(t.NextRun.Add(away)):
			a["Hours"], a["Side"], a["Of"] = h, "before", "a time of its timer"
		default:
			continue
		}
		break
	}
	return when(true, a)
}

// leftOut finds the planned tick if a calendar leaves it out, and ticks to come that people leave out.
func leftOut(f *Facts) (list []Args) {
	t := f.Task
	if !t.Due.IsZero() && t.Due.After(f.Now) && t.SkipAt(t.Due) == nil && t.Enabled && !f.never() {
		if next, err := t.Upcoming(t.Due.Add(-time.Microsecond), 1); err == nil && len(next) > 0 && next[0].Due.Equal(t.Due) && next[0].LeftOut != "" {
			list = append(list, Args{"Due": t.Due, "Calendar": next[0].LeftOut})
		}
	}
	for _, s := range t.SkipsToCome(f.Now) {
		list = append(list, Args{"Due": s.Due, "By": view.Because(periodic.CausePerson, s.Reason), "NoTick": !t.HasTick(s.Due)})
	}
	return list
}

func notRead(f *Facts) []Args {
	parts := strings.Join(f.unread, "; ")
	return when(f.Unread(), Args{"Parts": parts, "Right": strings.Contains(parts, "permission denied")})
}
