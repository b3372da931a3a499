package dashboard

import (
	"context"
	"html/template"
	"net/http"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/calendar/explain"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// How much of the past and of the future a task shows.
const (
	taskTicks    = 50
	taskUpcoming = 10
)

// taskView is the page of a task.
type taskView struct {
	yearKnown

	Row      taskRow        `json:"task"`
	Task     *periodic.Task `json:"-"`
	Why      whyView        `json:"why"`
	Settings []show.Setting `json:"settings"`
	Args     string         `json:"args"`
	Upcoming []upcoming     `json:"upcoming"`
	Findings []string       `json:"findings,omitempty"`
	Place    string         `json:"-"`       // the timer with a caret under what is wrong
	Ticks    []cell         `json:"ticks"`   // the newest first
	Actions  []actionRow    `json:"actions"` // the newest first
	SQL      string         `json:"sql"`
	Edit     *preview       `json:"edit,omitempty"` // of the timer that somebody tries
	Took     template.HTML  `json:"-"`              // how long the runs took
	Late     template.HTML  `json:"-"`              // how late they were submitted
	Days     []yearDay      `json:"days"`           // of the year around now
	Year     template.HTML  `json:"-"`              // the days as a calendar
}

// upcoming is a tick to come.
type upcoming struct {
	Due     time.Time `json:"due"`
	NextRun time.Time `json:"nextrun"` // Due and the jitter
	Skipped bool      `json:"skipped"` // since the task is paused then
}

func (s *server) taskPage(ctx context.Context, r *http.Request) (any, error) {
	q := r.URL.Query()
	id := q.Get("id")
	if id == "" {
		return nil, frame.Bad("which task? Add ?id=ID to the address")
	}
	t, err := s.tasks.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	history, err := s.db.Figures().History(ctx, []string{id}, taskTicks)
	if err != nil {
		return nil, err
	}
	var h store.History
	if len(history) > 0 {
		h = history[0]
	}
	d := taskView{Row: s.row(&t, h), Task: &t, Settings: show.Settings(&t, s.mask), Args: s.mask.Args(t.Args), SQL: show.RowSQL(&t, s.mask)}
	for i := len(d.Row.Cells) - 1; i >= 0; i-- {
		d.Ticks = append(d.Ticks, d.Row.Cells[i])
	}
	if n := len(d.Row.Cells); n > shownTicks {
		d.Row.Cells = d.Row.Cells[n-shownTicks:]
	}
	if d.Why, err = s.why(ctx, id); err != nil {
		return nil, err
	}
	if d.Actions, err = s.recorded(ctx, id, ""); err != nil {
		return nil, err
	}
	now := s.now()
	d.lookAhead(now)
	d.Took, d.Late = plots(s.prefix, h.Ticks, usual(h.Ticks), now, frame.Zone(r))
	if d.Days, d.yearKnown, err = year(ctx, s.db, &t, d.Row.Zone, now); err != nil {
		return nil, err
	}
	d.Year = drawYear(d.Days, d.yearKnown, d.Row.Zone, now)
	if timer := q.Get("timer"); timer != "" {
		d.Edit = tryTimer(&t, timer, now)
	}
	return d, nil
}

// lookAhead adds the ticks to come, and what is odd or wrong about the timer.
func (d *taskView) lookAhead(now time.Time) {
	if coming, err := d.Task.Upcoming(now, taskUpcoming); err == nil && d.Task.Enabled {
		for _, u := range coming {
			d.Upcoming = append(d.Upcoming, upcoming{u.Due, u.NextRun, d.Task.Pause.At(u.NextRun)})
		}
	}
	if schedule, err := calendar.ParseAt(d.Task.Timer, d.Task.Anchor()); err == nil {
		for _, f := range explain.Lint(schedule, now, 0) {
			d.Findings = append(d.Findings, f.Message)
		}
	} else {
		d.Place = show.Place(err)
	}
}

// previewDays is how far an edit of a timer looks ahead.
const previewDays = 30

// mostChanges is how many gained and lost ticks are listed.
const mostChanges = 20

// preview is what another timer would change.
type preview struct {
	Timer  string         `json:"timer"`
	Words  string         `json:"timer_in_words,omitempty"`
	Error  string         `json:"error,omitempty"`
	Place  string         `json:"-"` // the timer, and a caret under what is wrong
	Days   int            `json:"days"`
	Gained []time.Time    `json:"gained"`
	Lost   []time.Time    `json:"lost"`
	More   bool           `json:"more"` // than are listed
	Kept   int            `json:"kept"`
	Zone   *time.Location `json:"-"`
}

// tryTimer compares the ticks of a task with those of another timer.
func tryTimer(t *periodic.Task, timer string, now time.Time) *preview {
	p := &preview{Timer: show.Shorten(timer, calendar.MaxLength), Days: previewDays, Zone: time.UTC}
	other, err := calendar.ParseAt(timer, t.Anchor())
	if err != nil {
		p.Error, p.Place = err.Error(), show.Place(err)
		return p
	}
	p.Zone, p.Words = calendar.Location(other), explain.Schedule(other)
	before, err := calendar.ParseAt(t.Timer, t.Anchor())
	if err != nil {
		before = other // nothing to compare with: the row has a problem
	}
	until := now.AddDate(0, 0, previewDays)
	old, fresh := before.Next(now), other.Next(now)
	within := func(at time.Time) bool { return !at.IsZero() && at.Before(until) }
	for within(old) || within(fresh) {
		switch {
		case old.Equal(fresh):
			p.Kept++
			old, fresh = before.Next(old), other.Next(fresh)
		case within(old) && (fresh.IsZero() || old.Before(fresh)):
			p.add(&p.Lost, old)
			old = before.Next(old)
		default:
			p.add(&p.Gained, fresh)
			fresh = other.Next(fresh)
		}
		if p.Kept+len(p.Lost)+len(p.Gained) > 100_000 || len(p.Lost) >= mostChanges && len(p.Gained) >= mostChanges {
			p.More = true
			break
		}
	}
	return p
}

func (p *preview) add(to *[]time.Time, at time.Time) {
	if len(*to) < mostChanges {
		*to = append(*to, at)
	} else {
		p.More = true
	}
}
