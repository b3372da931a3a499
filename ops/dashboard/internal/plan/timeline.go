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
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

// Sizes of the timeline: its rows on a page, and the cells of each.
const (
	timelineRows  = 40
	timelineCells = 96
)

// zoom is how much time a timeline shows.
type zoom struct {
	Name  string
	Of    time.Duration
	slots int // marks of the axis
}

var zooms = []zoom{{"7 days", 7 * 24 * time.Hour, 7}, {"24 hours", 24 * time.Hour, 8}, {"6 hours", 6 * time.Hour, 6}, {"1 hour", time.Hour, 6}}

// timelineView is the page of past and planned runs: of each task, or of groups of them.
type timelineView struct {
	From    time.Time      `json:"from"`
	To      time.Time      `json:"to"`
	Group   string         `json:"group,omitempty"`
	Grouped bool           `json:"by_group"`
	Rows    []*timelineRow `json:"rows"`
	All     *timelineRow   `json:"at_once"`
	Places  int            `json:"places"`      // of the executors; 0: none runs
	OneIn   float64        `json:"read_one_in"` // of the runs; 1: all were read
	Cut     bool           `json:"cut"`         // there are more tasks than were looked at
	Others  int            `json:"rows_not_listed"`
	Page    int            `json:"page"`
	Change  string         `json:"clock_changes,omitempty"`
	Slots   []timelineLink `json:"-"`
	Zooms   []timelineLink `json:"-"`
	Moves   []timelineLink `json:"-"`

	zoom int
	now  time.Time
	rows map[string]*timelineRow
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
	d := &timelineView{Group: q.Get("group"), Page: 1, zoom: 1, now: s.Now().UTC(), rows: map[string]*timelineRow{}}
	if i := slices.IndexFunc(zooms, func(z zoom) bool { return z.Name == q.Get("show") }); i >= 0 {
		d.zoom = i
	}
	if n, err := strconv.Atoi(q.Get("page")); err == nil && n > 0 {
		d.Page = n
	}
	at := d.now
	if text := q.Get("at"); text != "" {
		var err error
		if at, err = time.Parse(time.RFC3339, text); err != nil {
			return nil, frame.Bad("unknown time %q; use a time such as 2026-03-28T14:30:00Z", show.Printable(text))
		}
	}
	for d.place(at, where); q.Get("show") == "" && d.zoom+1 < len(zooms); d.place(at, where) {
		n, err := s.DB.Figures().Ended(ctx, d.From, d.To)
		if err != nil {
			return nil, err
		}
		if n <= 2*d.most() {
			break
		}
		d.zoom++ // so that the first look misses nothing
	}
	if err := d.fill(ctx, s); err != nil {
		return nil, err
	}
	d.choose()
	d.draw(s.Prefix)
	d.link(s.Prefix, at, where)
	return d, nil
}

// place puts a time into the middle, and begins at a mark of the axis.
func (d *timelineView) place(at time.Time, where *time.Location) {
	z := zooms[d.zoom]
	slot := z.Of / time.Duration(z.slots)
	from := at.Add(-z.Of / 2).Add(slot / 2)
	_, seconds := from.In(where).Zone()
	offset := time.Duration(seconds) * time.Second
	d.From = from.Add(offset).Truncate(slot).Add(-offset).UTC()
	d.To = d.From.Add(z.Of)
}

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
		if row.Ran+row.Planned > 0 || d.Sampled() {
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

// draw draws the rows. Those of tasks are full where one run lasts all of a cell, groups have one
// scale, and the sum is measured by the places.
func (d *timelineView) draw(prefix string) {
	now := float64(d.now.Sub(d.From)) / float64(d.To.Sub(d.From)) * timelineCells
	if now > timelineCells {
		now = 0
	}
	top := 1.0
	for _, row := range d.Rows {
		for _, cell := range row.Cells {
			top = max(top, cell.Value)
		}
	}
	for _, row := range d.Rows {
		name := fmt.Sprintf("%s: %.0f runs, %.0f failed, %.0f to come", show.Printable(row.Name), row.Ran, row.Failed, row.Planned)
		row.Drawing = template.HTML(chart.Lane{Name: name, Cells: row.Cells, Top: top, Now: now}.Draw()) //nolint:gosec // package chart escapes its texts
		if row.Link = frame.Path(prefix, "task", "id", row.Name); d.Grouped {
			row.Link = frame.Path(prefix, "timeline", "group", row.Name, "show", zooms[d.zoom].Name, "at", d.middle())
		}
	}
	most := float64(d.Places)
	for _, cell := range d.All.Cells {
		most = max(most, cell.Value)
	}
	d.All.Drawing = template.HTML(chart.Lane{Name: fmt.Sprintf("at most %.1f runs at once on average", d.Most()), Cells: d.All.Cells, Top: most, Now: now}.Draw()) //nolint:gosec // as above
}

// Most is the greatest number of runs at once, on average of a cell.
func (d *timelineView) Most() (most float64) {
	for _, cell := range d.All.Cells {
		most = max(most, cell.Value)
	}
	return most
}

// Cell is how long a cell is.
func (d *timelineView) Cell() time.Duration { return d.To.Sub(d.From) / timelineCells }

func (d *timelineView) middle() string {
	return d.From.Add(d.To.Sub(d.From) / 2).Format(time.RFC3339)
}

// link leads to more and to less time, and to that before and after.
func (d *timelineView) link(prefix string, at time.Time, where *time.Location) {
	to := func(zoom int, at time.Time) string {
		return frame.Path(prefix, "timeline", "group", d.Group, "show", zooms[zoom].Name, "at", at.UTC().Format(time.RFC3339))
	}
	z := zooms[d.zoom]
	for i := range zooms {
		d.Zooms = append(d.Zooms, timelineLink{zooms[i].Name, to(i, at), i == d.zoom})
	}
	layout := "15:04"
	if d.zoom == 0 {
		layout = "Mon 2 Jan"
	}
	for i := range z.slots {
		begin := d.From.Add(z.Of * time.Duration(i) / time.Duration(z.slots))
		slot := timelineLink{Text: begin.In(where).Format(layout)}
		if d.zoom+1 < len(zooms) {
			slot.Link = to(d.zoom+1, begin.Add(z.Of/time.Duration(2*z.slots)))
		}
		d.Slots = append(d.Slots, slot)
	}
	middle := d.From.Add(z.Of / 2)
	d.Moves = []timelineLink{{"← earlier", to(d.zoom, middle.Add(-z.Of/2)), false}, {"now", to(d.zoom, d.now), false}, {"later →", to(d.zoom, middle.Add(z.Of/2)), false}}
	_, before := d.From.In(where).Zone()
	for hour := d.From; hour.Before(d.To); hour = hour.Add(time.Hour) {
		if _, after := hour.Add(time.Hour).In(where).Zone(); after != before {
			d.Change = fmt.Sprintf("The clock of %s changes at %s.", where, show.Moment(hour.Add(time.Hour).Truncate(time.Hour), where))
			break
		}
	}
}
