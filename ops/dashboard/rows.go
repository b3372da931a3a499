package dashboard

import (
	"context"
	"html/template"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/calendar/explain"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/dashboard/internal/chart"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/figures"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/reasons"
)

// shownTicks is how many of the newest ticks of a task stand in a row of a table.
const shownTicks = 14

// taskRow is a task in a table.
type taskRow struct {
	ID      string         `json:"id"`
	Handler string         `json:"task"`
	Group   string         `json:"group"`
	State   string         `json:"state"`
	Timer   string         `json:"timer"`
	Words   string         `json:"timer_in_words"`
	Problem string         `json:"problem,omitempty"`
	Pause   string         `json:"pause,omitempty"`
	Last    *cell          `json:"last,omitempty"`  // the newest tick
	Wrong   *cell          `json:"wrong,omitempty"` // the newest tick that did not end well, if the task needs attention
	Next    time.Time      `json:"next,omitzero"`
	NoNext  string         `json:"no_next,omitempty"` // why it has none, or what becomes of it
	Cells   []cell         `json:"ticks"`             // the oldest first
	Day     []dayCell      `json:"day,omitempty"`     // what became of the ticks of the last 24 hours
	Strip   template.HTML  `json:"-"`                 // the cells drawn
	Zone    *time.Location `json:"-"`                 // of the timer
	known   int            // cells of the day
}

// cell is a tick in a strip.
type cell struct {
	Due   time.Time `json:"due"`
	State string    `json:"state"` // of its job, otherwise its decision
	Took  string    `json:"took,omitempty"`
	Tries int       `json:"attempts,omitempty"`   // of the job; 0: none failed but the last one
	Lost  int       `json:"interrupts,omitempty"` // how often its executor stopped, died or lost it: then it began anew
	Slow  string    `json:"-"`                    // how its duration differs from the usual one; empty: not much
	Late  string    `json:"-"`                    // when it began, if that was late
	Why   string    `json:"reason,omitempty"`
	JID   string    `json:"jid,omitempty"`
	Own   bool      `json:"-"`                 // the page of that job exists
	Hand  string    `json:"by_hand,omitempty"` // how somebody has asked for it
	Label string    `json:"-"`                 // all of it in words
}

// rows are tasks with their newest ticks.
func (s *source) rows(ctx context.Context, tasks []periodic.Task, ticks int, zone *time.Location) ([]taskRow, error) {
	list := make([]taskRow, len(tasks))
	for i := range tasks {
		list[i].ID = tasks[i].ID
	}
	of, err := s.history(ctx, list, ticks)
	for i := range tasks {
		list[i] = s.row(&tasks[i], of[tasks[i].ID], zone)
	}
	return list, err
}

// history reads the newest ticks of tasks, by their ids.
func (s *source) history(ctx context.Context, rows []taskRow, ticks int) (map[string]figures.History, error) {
	ids := make([]string, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	history, err := figures.Of(s.db).HistoryBefore(ctx, ids, ticks, periodic.Never)
	of := make(map[string]figures.History, len(history))
	for _, h := range history {
		of[h.ID] = h
	}
	return of, err
}

func (s *source) row(t *periodic.Task, h figures.History, zone *time.Location) taskRow {
	r := taskRow{ID: t.ID, Handler: t.Task, Group: t.Group, Timer: t.Timer, Problem: t.Problem, State: stateOf(t, s.now()),
		Pause: pauseOf(t, s.now(), zone), Zone: time.UTC, Next: t.NextRun, Cells: make([]cell, len(h.Ticks))}
	r.NoNext = noNext(r.State, t.Blocked() != "", t.Pause, s.now(), zone)
	if schedule, err := calendar.ParseAt(t.Timer, t.Anchor()); err == nil {
		r.Zone = calendar.Location(schedule)
		r.Words = explain.Schedule(schedule)
	}
	for i, k := range h.Ticks {
		r.Cells[len(h.Ticks)-1-i] = s.cell(k, zone)
	}
	r.Strip = strip(s.prefix, r.ID, r.Cells, shownTicks)
	if n := len(r.Cells); n > 0 {
		r.Last = &r.Cells[n-1]
		r.Last.Slow = unusual(&h.Ticks[0], usual(h.Ticks))
	}
	if !t.Enabled {
		r.Next = time.Time{}
	}
	return r
}

// strip draws the newest ticks of a task beside each other, so many of them.
func strip(prefix, id string, cells []cell, places int) template.HTML {
	drawn := make([]chart.Cell, places)
	cells = cells[max(len(cells)-places, 0):]
	for i, c := range cells {
		kind := show.Kind(c.State)
		drawn[places-len(cells)+i] = chart.Cell{Class: kind, Title: c.Label, Loud: kind == "bad" || kind == "warn", Hand: c.Hand != "",
			Link: frame.Path(prefix, "tick", "id", id, "at", c.Due.Format(time.RFC3339Nano))}
	}
	return template.HTML(chart.Strip("the newest ticks, the oldest first", drawn)) //nolint:gosec // package chart escapes its texts
}

// stateOf is the state of a task, for people.
func stateOf(t *periodic.Task, now time.Time) string {
	switch {
	case !t.Enabled:
		return "disabled"
	case t.Pause.At(now):
		return "paused"
	}
	return "enabled"
}

// cell is a tick as it stands in a strip.
func (s *source) cell(k figures.TickResult, zone *time.Location) cell {
	c := cell{Due: k.Due, State: string(k.Decision), Why: show.Local(reasons.Then(k.Reason), k.Due, zone), JID: k.JID, Own: k.Own, Hand: k.Hand}
	if c.Hand == c.Why {
		c.Why = "" // it is said once
	}
	if k.State != "" {
		c.State = k.State
	}
	if c.Why == "" && (c.State == "failed" || c.State == "stuck" || c.State == "unknown") {
		c.Why = s.mask.Line(k.Result)
	}
	if !k.Started.IsZero() && !k.Finished.IsZero() {
		c.Took = text.Exact(k.Finished.Sub(k.Started))
	}
	if c.Lost = k.Lost; k.Retries > 0 {
		c.Tries = k.Retries + 1
	}
	words := []string{show.Moment(k.Due, zone) + ": " + show.Word(c.State)}
	if k.Missed > 1 {
		words = append(words, count(k.Missed, "tick"))
	}
	if c.Took != "" {
		words = append(words, "took "+c.Took)
	}
	if c.Hand != "" {
		words = append(words, c.Hand)
	}
	if c.Why != "" {
		words = append(words, show.Shorten(show.Printable(c.Why), 200))
	}
	c.Label = strings.Join(words, ", ")
	return c
}
