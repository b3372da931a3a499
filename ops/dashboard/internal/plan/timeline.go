package plan

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/nextrun/nextrun/internal/chart"
	"github.com/nextrun/nextrun/internal/figures"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

// timelineRows is how many rows a page has.
const timelineRows = 40

// zoom is how much time a timeline shows: so many marks of the past and of the future, and its cells.
type zoom struct {
	Name        string `json:"shows"`
	past, ahead int
	slot, cell  time.Duration
}

const day = 24 * time.Hour

var zooms = []zoom{{"10 days", 7, 3, day, 2 * time.Hour}, {"36 hours", 8, 4, 3 * time.Hour, 15 * time.Minute},
	{"9 hours", 6, 3, time.Hour, 5 * time.Minute}, {"90 minutes", 6, 3, 10 * time.Minute, time.Minute}}

// slots are the marks of the axis.
func (z zoom) slots() int { return z.past + z.ahead }

func (z zoom) all() time.Duration { return time.Duration(z.slots()) * z.slot }

// timelineView is the page of past and planned runs: of each task, or of groups of them.
type timelineView struct {
	From    time.Time      `json:"from"`
	To      time.Time      `json:"to"`
	Group   string         `json:"group,omitempty"`
	Grouped bool           `json:"by_group"`
	Rows    []*timelineRow `json:"rows"`
	All     *timelineRow   `json:"at_once"`
	Places  int            `json:"places"`       // of the executors; 0: none runs
	Most    float64        `json:"most_at_once"` // estimated on average of a cell if not all runs were read
	OneIn   float64        `json:"read_one_in"`  // of the runs; 1: all were read
	Partly  bool           `json:"ticks_of_other_queues_missing"`
	Cut     bool           `json:"cut"` // there are more tasks than were looked at
	Others  int            `json:"rows_not_listed"`
	Page    int            `json:"page"`
	Change  string         `json:"clock_changes,omitempty"`
	Slots   []timelineLink `json:"-"`
	Zooms   []timelineLink `json:"-"`
	Moves   []timelineLink `json:"-"`

	zoom
	level int // its place among the zooms
	now   time.Time
	rows  map[string]*timelineRow
	edges []edge
}

// timelineLink leads to another part of the timeline.
type timelineLink struct {
	Text, Link string
	Here       bool
}

// Timeline loads the page of past and planned runs.
func (s Pages) Timeline(ctx context.Context, r *http.Request) (any, error) {
	q := r.URL.Query()
	where := frame.Zone(r)
	d := &timelineView{Group: q.Get("group"), Page: 1, level: 1, now: s.Now().UTC(), rows: map[string]*timelineRow{}}
	if i := slices.IndexFunc(zooms, func(z zoom) bool { return z.Name == q.Get("show") }); i >= 0 {
		d.level = i
	}
	if n, err := strconv.Atoi(q.Get("page")); err == nil && n > 0 {
		d.Page = n
	}
	at := time.Time{}
	if text := q.Get("at"); text != "" {
		var err error
		if at, err = time.Parse(time.RFC3339, text); err != nil {
			return nil, frame.Bad("unknown time %q; use a time such as 2026-03-28T14:30:00Z", show.Printable(text))
		}
	}
	for d.place(at, where); q.Get("show") == "" && d.level+1 < len(zooms); d.place(at, where) {
		n, err := figures.Of(s.DB).Ended(ctx, d.From, d.To, 2*d.most()+1)
		if err != nil {
			return nil, err
		}
		if n <= 2*d.most() {
			break
		}
		d.level++ // so that the first look misses nothing
	}
	if err := d.fill(ctx, s); err != nil {
		return nil, err
	}
	d.draw(s.Prefix)
	d.link(s.Prefix, at, where)
	return d, nil
}

// place puts a time into the middle, or without one the present after the past. It begins at a mark of the axis.
func (d *timelineView) place(at time.Time, where *time.Location) {
	d.zoom = zooms[d.level]
	from := d.now.Add(-time.Duration(d.past) * d.slot)
	if !at.IsZero() {
		from = at.Add((d.slot - d.all()) / 2)
	}
	_, seconds := from.In(where).Zone()
	offset := time.Duration(seconds) * time.Second
	d.From = from.Add(offset).Truncate(d.slot).Add(-offset).UTC()
	d.To = d.From.Add(d.all())
	d.All = &timelineRow{Name: "all at once", Cells: make([]chart.Level, d.cells())}
}

func (d *timelineView) cells() int { return int(d.all() / d.cell) }

// most is how many runs are read.
func (d *timelineView) most() int {
	if d.Group != "" {
		return sampledOfGroup
	}
	return sampledRuns
}

// Sampled reports whether the numbers of what ran are estimates.
func (d *timelineView) Sampled() bool { return d.OneIn > 1 }

// choose keeps the rows of a page: first those that failed, then those that ran most, then those
// that will. A task or group that a sample has no run of may have run.
func (d *timelineView) choose() {
	d.Rows = []*timelineRow{}
	for _, row := range d.rows {
		if row.Ran+row.Planned > 0 || row.Out > 0 || d.Sampled() {
			d.Rows = append(d.Rows, row)
		}
	}
	slices.SortFunc(d.Rows, func(a, b *timelineRow) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Ran, a.Ran), cmp.Compare(b.Planned, a.Planned), cmp.Compare(a.Name, b.Name))
	})
	from := min((d.Page-1)*timelineRows, len(d.Rows))
	to := min(from+timelineRows, len(d.Rows))
	d.Rows, d.Others = d.Rows[from:to], len(d.Rows)-to
}

// shortRun is how high a run of a task is at least, of 20.
const shortRun = 12

// draw draws the rows. Those of tasks are full where one run lasts all of a cell, groups have one
// scale, and the sum is measured by the places.
func (d *timelineView) draw(prefix string) {
	now := float64(d.now.Sub(d.From)) / float64(d.cell)
	if now > float64(d.cells()) {
		now = 0
	}
	top, floor := 1.0, shortRun
	if d.Grouped {
		floor = 0
	}
	for _, row := range d.Rows {
		for _, cell := range row.Cells {
			top = max(top, cell.Value)
		}
	}
	for _, row := range d.Rows {
		name := fmt.Sprintf("%s: %s ran, %s failed, %s did not run, %s to come", show.Printable(row.Name), show.Number(row.Ran), show.Number(row.Failed), show.Number(row.Out), show.Number(row.Planned))
		row.Drawing = template.HTML(chart.Lane{Name: name, Cells: row.Cells, Top: top, Floor: floor, Now: now}.Draw()) //nolint:gosec // package chart escapes its texts
		if row.Link = frame.Path(prefix, "task", "id", row.Name); d.Grouped {
			row.Link = frame.Path(prefix, "timeline", "group", row.Name, "show", d.Name, "at", d.middle())
		}
	}
	for _, cell := range d.All.Cells {
		d.Most = max(d.Most, cell.Value)
	}
	full := max(d.Most, float64(d.Places))
	if !d.Sampled() {
		d.Most = d.mostAtOnce()
	}
	d.All.Drawing = template.HTML(chart.Lane{Name: "at most " + show.Number(d.Most) + " at once", Cells: d.All.Cells, Top: full, Now: now}.Draw()) //nolint:gosec // as above
}

// edge is a time at which runs begin or, if negative, end.
type edge struct {
	at   int64
	runs float64
}

// mostAtOnce is the greatest number of runs at the same time.
func (d *timelineView) mostAtOnce() (most float64) {
	slices.SortFunc(d.edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.runs, b.runs)) })
	now := 0.0
	for _, e := range d.edges {
		now += e.runs
		most = max(most, now)
	}
	return most
}

// Cell is how long a cell is.
func (d *timelineView) Cell() time.Duration { return d.cell }

// Words say which time the page shows.
func (d *timelineView) Words(zone *time.Location) string {
	return fmt.Sprintf("%s to %s, %s.", d.From.In(zone).Format("Mon 2 Jan 2006, 15:04"), d.To.In(zone).Format("Mon 2 Jan 2006, 15:04"), zone)
}

func (d *timelineView) middle() string {
	return d.From.Add(d.To.Sub(d.From) / 2).Format(time.RFC3339)
}

// link leads to more and to less time, and to that before and after.
func (d *timelineView) link(prefix string, at time.Time, where *time.Location) {
	to := func(level int, at time.Time) string {
		text := ""
		if !at.IsZero() {
			text = at.UTC().Format(time.RFC3339)
		}
		return frame.Path(prefix, "timeline", "group", d.Group, "show", zooms[level].Name, "at", text)
	}
	for i := range zooms {
		d.Zooms = append(d.Zooms, timelineLink{zooms[i].Name, to(i, at), i == d.level})
	}
	layout := "15:04"
	if d.slot == day {
		layout = "Mon 2"
	}
	for i := range d.slots() {
		begin := d.From.Add(time.Duration(i) * d.slot)
		slot := timelineLink{Text: begin.In(where).Format(layout)}
		if d.level+1 < len(zooms) {
			slot.Link = to(d.level+1, begin.Add(d.slot/2))
		}
		d.Slots = append(d.Slots, slot)
	}
	middle, half := d.From.Add(d.all()/2), d.all()/2
	d.Moves = []timelineLink{{"← earlier", to(d.level, middle.Add(-half)), false}, {"now", to(d.level, time.Time{}), false}, {"later →", to(d.level, middle.Add(half)), false}}
	_, before := d.From.In(where).Zone()
	for hour := d.From; hour.Before(d.To); hour = hour.Add(time.Hour) {
		if _, after := hour.Add(time.Hour).In(where).Zone(); after != before {
			d.Change = fmt.Sprintf("The clock of %s changes at %s.", where, show.Moment(hour.Add(time.Hour).Truncate(time.Hour), where))
			break
		}
	}
}
