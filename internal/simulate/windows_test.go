package simulate_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/decide"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
)

// randomWindows makes windows that begin and end at quarters of an hour.
func randomWindows(r *rand.Rand, begin time.Time) (rows []days.Row) {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	for range max(0, r.IntN(8)-2) {
		at := begin.Add(time.Duration(r.IntN(96*130)-96*10) * 15 * time.Minute)
		row := days.Row{
			Name: pick("v", "w", "x"), Scope: pick(days.ScopeAll, "group:g", "group:other"), Once: r.IntN(3) > 0,
			Timer: at.Format("2006-01-02 15:04"), Length: time.Duration(1+r.IntN(200)) * 15 * time.Minute, Reason: pick("", "deploy"),
		}
		switch r.IntN(4) {
		case 0:
			row.Timer, row.Length, row.First = "", 0, at.Truncate(24*time.Hour)
			row.Last = row.First.AddDate(0, 0, r.IntN(3))
		case 1:
			row.Timer = pick("Sun 02:00", "*-*-* 08:45", "Mon..Fri 12:00 Europe/Berlin", "*-*-1 00:00 Asia/Kolkata")
			row.Length = min(row.Length, 20*time.Hour)
		}
		if r.IntN(4) == 0 {
			row.Since = begin.Add(time.Duration(r.IntN(96*90)) * 15 * time.Minute)
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, days.Row.Compare)
	return rows
}

// window is the slow, obvious rule: the first window in the order of names that holds the task at a time.
func (c dayCase) window(t *testing.T, at time.Time) *days.Row {
	for i, row := range c.rows {
		if row.Scope != days.ScopeAll && row.Scope != "group:g" || at.Before(row.Since) {
			continue
		}
		of := c
		of.rows = c.rows[i : i+1]
		if of.covers(t, row.Name, at, time.UTC) {
			return &row
		}
	}
	return nil
}

// hold takes ticks that windows hold out of those that take place, adds those at the end of windows, and returns
// when the others would have been.
func (c dayCase) hold(t *testing.T, taken map[time.Time]time.Time, allowed func(time.Time) bool) (left []time.Time) {
	last, waits, ends := map[time.Time]time.Time{}, map[time.Time]time.Time{}, map[time.Time]time.Time{}
	for due, nominal := range taken {
		row := c.window(t, due)
		if row == nil {
			continue
		}
		left = append(left, due)
		delete(taken, due)
		if !row.Once {
			continue
		}
		end := due
		for !end.After(due) || c.window(t, end) != nil {
			if end = end.Truncate(15 * time.Minute).Add(15 * time.Minute); !ends[end].IsZero() {
				end = ends[end]
				break
			}
		}
		for at := due.Truncate(15 * time.Minute); at.Before(end) && ends[at].IsZero(); at = at.Add(15 * time.Minute) {
			ends[at] = end
		}
		if allowed(end) && !due.Before(last[end]) {
			last[end], waits[end] = due, nominal
		}
	}
	for end, nominal := range waits {
		if _, meets := taken[end]; !meets {
			taken[end] = nominal
		}
	}
	return left
}

// What a window says of a tick of which nothing runs later, and of a row that cannot be read.
func TestWindowReasons(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 25, 14, 0, 0, 0, time.UTC)
	window := days.Row{Name: "w", Scope: days.ScopeAll, Once: true, Timer: "2026-11-25 14:00", Length: time.Hour, Reason: "deploy"}
	for name, c := range map[string]struct {
		rows   []days.Row
		change func(*periodic.Task)
		want   string
	}{
		"once":    {rows: []days.Row{window}, want: "window w: deploy; it counts once with the tick of 2026-11-25 15:00:00 UTC"},
		"skip":    {rows: []days.Row{{Name: "w", Scope: days.ScopeAll, First: begin.Truncate(24 * time.Hour)}}, want: "window w"},
		"endless": {rows: []days.Row{window, {Name: "x", Scope: days.ScopeAll, Timer: "hourly", Length: time.Hour}}, want: "window w: deploy; nothing runs when it ends: it does not end within 366 days"},
		"ends":    {rows: []days.Row{window}, change: func(t *periodic.Task) { t.Ends = begin.Add(time.Hour) }, want: "window w: deploy; nothing runs when it ends: the task ends before"},
		"excluded": {
			rows:   []days.Row{window, {Name: "c", Timer: "15:00", Length: time.Hour, Reason: "siesta"}},
			change: func(t *periodic.Task) { t.Days.Exclude = "c" }, want: "window w: deploy; nothing runs when it ends: calendar c: siesta",
		},
		"another group": {rows: []days.Row{{Name: "w", Scope: "group:g", Timer: "2026-11-25 14:00", Length: time.Hour}}},
		"before since":  {rows: []days.Row{{Name: "w", Scope: days.ScopeAll, Timer: "2026-11-25 14:00", Length: time.Hour, Since: begin.Add(6 * time.Minute)}}},
		"bad":           {rows: []days.Row{{Name: "w", Scope: days.ScopeAll, Timer: "2026-11-31 25:00", Length: time.Hour}}},
	} {
		task := periodic.NewTask("t", "x", "*-*-* 14:05")
		if c.change != nil {
			c.change(&task)
		}
		task.Days.Calendars = days.NewCalendars(c.rows)
		if next, err := task.Upcoming(begin, 1); err != nil || next[0].LeftOut != c.want {
			t.Errorf("%s: %+v, %v, want %q", name, next, err, c.want)
		}
		holding := task.Days.Calendars.Holding(begin.Add(10 * time.Minute))
		if want := name != "bad"; (len(holding) > 0) != want {
			t.Errorf("%s: holding %+v", name, holding)
		}
		timer, err := calendar.Parse(task.Timer)
		if err != nil {
			t.Fatal(err)
		}
		plan := decide.Decide(&task, timer, decide.Facts{Now: begin}, nil)
		if warned := strings.HasPrefix(plan.Problem, `warning: a row of the window "w" is ignored: `); warned != (name == "bad") {
			t.Errorf("%s: problem %q", name, plan.Problem)
		}
	}
}
