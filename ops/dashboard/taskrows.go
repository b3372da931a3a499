package dashboard

import (
	"context"
	"html/template"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/calendar/explain"
	"github.com/nextrun/nextrun/ops/dashboard/internal/chart"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
)

// shownTicks is how many of the newest ticks of a task stand in a row of a table.
const shownTicks = 20

// taskRow is a task in a table.
type taskRow struct {
	ID        string         `json:"id"`
	Handler   string         `json:"handler"`
	Group     string         `json:"group"`
	State     view.State     `json:"state"`
	Cause     view.Code      `json:"attention,omitempty"` // why it needs attention
	Timer     string         `json:"timer"`
	Words     string         `json:"timer_in_words"`
	Problem   string         `json:"problem,omitempty"`
	Attention string         `json:"attention_in_words,omitempty"`
	Pause     string         `json:"pause,omitempty"`
	Lost      string         `json:"lost_by_overlap,omitempty"` // how many ticks
	Last      *shownRun      `json:"last,omitempty"`            // the newest tick
	Next      time.Time      `json:"next,omitzero"`
	NoNext    string         `json:"no_next,omitempty"` // why it has none, or what becomes of it
	Cells     []shownRun     `json:"ticks"`             // the oldest first
	Strip     template.HTML  `json:"-"`                 // the cells drawn
	Zone      *time.Location `json:"-"`                 // of the timer
}

// Kind is the shape and colour of its state.
func (r taskRow) Kind() string { return kindOf(r.State, r.Cause) }

// rows are tasks with their newest ticks.
func (s *source) rows(ctx context.Context, tasks []periodic.Task, ticks int, zone *time.Location) ([]taskRow, error) {
	facts, err := view.Of(s.db).Tasks(ctx, tasks, ticks)
	if err != nil {
		return nil, err
	}
	list, ids := make([]taskRow, len(facts)), make([]string, len(facts))
	for i := range facts {
		list[i], ids[i] = s.row(&facts[i], zone), facts[i].ID
	}
	lost, err := view.Of(s.db).Losses(ctx, ids)
	for i := range list {
		list[i].Lost = lost[list[i].ID].String()
	}
	return list, err
}

func (s *source) row(f *view.Task, zone *time.Location) taskRow {
	t, status := f.Task, f.Status()
	r := taskRow{ID: t.ID, Handler: t.Task, Group: t.Group, Timer: t.Timer, Problem: t.Problem, State: status.State, Cause: status.Cause,
		Attention: s.attention(f, zone), Pause: pauseOf(t, s.now(), zone), Zone: time.UTC, Next: status.Next, Cells: make([]shownRun, len(f.Runs))}
	if t.Unplanned() { // it says so
		r.Next = t.NextRun
	}
	r.NoNext = noNext(t, s.now(), zone)
	if schedule, err := calendar.ParseAt(t.Timer, t.Anchor()); err == nil {
		r.Zone = calendar.Location(schedule)
		r.Words = explain.Schedule(schedule)
	}
	for i := range f.Runs {
		r.Cells[len(f.Runs)-1-i] = s.run(&f.Runs[i], zone)
	}
	r.Strip = strip(s.prefix, r.ID, r.Cells, shownTicks)
	if n := len(r.Cells); n > 0 {
		r.Last = &r.Cells[n-1]
		r.Last.Slow = unusual(&f.Runs[0], usual(f.Runs))
	}
	return r
}

// attention says in a clause why a task needs attention; empty: it does not.
func (s *source) attention(f *view.Task, zone *time.Location) string {
	said := f.Attention(func(at time.Time) string { return show.Clock(at, f.Now, zone) })
	return show.Shorten(show.Printable(s.mask.Line(said)), 300)
}

// strip draws the newest ticks of a task beside each other, so many of them.
func strip(prefix, id string, cells []shownRun, places int) template.HTML {
	if len(cells) == 0 {
		return ""
	}
	drawn := make([]chart.Cell, places)
	cells = cells[max(len(cells)-places, 0):]
	for i, c := range cells {
		kind := show.Kind(c.State)
		drawn[places-len(cells)+i] = chart.Cell{Class: kind, Title: c.Label, Loud: kind == "bad" || kind == "warn", Hand: c.Hand != "",
			Link: frame.Path(prefix, "run", "id", id, "at", c.Due.Format(time.RFC3339Nano))}
	}
	return template.HTML(chart.Strip("the newest ticks, the oldest first", drawn)) //nolint:gosec // package chart escapes its texts
}

// pauseOf says who has paused a task, until when and why; empty: nobody.
func pauseOf(t *periodic.Task, now time.Time, zone *time.Location) string {
	p, text := t.Pause, "paused"
	if !p.At(now) {
		return ""
	}
	if p.By != "" {
		text += " by " + p.By
	}
	text += " since " + show.Clock(p.Since, now, zone)
	if p.Until.IsZero() {
		text += ", until somebody resumes it"
	} else {
		text += " until " + show.Clock(p.Until, now, zone)
	}
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

// noNext says why a task has no next run, or what becomes of its ticks until it has one; empty: it has one.
func noNext(t *periodic.Task, now time.Time, zone *time.Location) string {
	switch {
	case !t.Enabled:
		return "none while disabled"
	case t.Blocked() != "":
		return "none while blocked"
	case t.Pause.At(now) && t.Pause.Until.IsZero():
		return "skipped until resumed"
	case t.Pause.At(now) && !t.NextRun.After(t.Pause.Until):
		return "skipped until " + show.Clock(t.Pause.Until, now, zone)
	case t.NextRun.Before(periodic.Never):
		return ""
	case !t.Ends.IsZero() && !t.Ends.After(now):
		return "none: it has ended"
	}
	return "none: its timer never elapses again"
}
