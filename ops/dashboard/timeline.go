package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard/internal/chart"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
)

// A timeline has 144 cells, of which 96 are of the past. Its axis has a mark every twelve cells.
const (
	timelineCells = 144
	timelinePast  = 96
	timelineMark  = 12
	timelineRows  = 40 // on a page
)

// timelineScale is what a page may show: the name of a time, and how long a cell is.
type timelineScale struct {
	name string
	cell time.Duration
}

var timelineScales = []timelineScale{{"1h", 25 * time.Second}, {"6h", 150 * time.Second}, {"36h", 15 * time.Minute}}

// timelineView is the page of past and planned runs: of each task, or of groups of them.
type timelineView struct {
	From    time.Time      `json:"from"`
	To      time.Time      `json:"to"`
	Group   string         `json:"group,omitempty"`
	Grouped bool           `json:"by_group"`
	Rows    []*timelineRow `json:"rows"`
	All     *timelineRow   `json:"at_once"`
	Places  int            `json:"places"` // of the executors; 0: none runs
	Most    int            `json:"most_at_once"`
	Known   time.Time      `json:"runs_known_since,omitzero"`   // runs that were due before it are left out
	Planned time.Time      `json:"runs_planned_until,omitzero"` // runs to come after it are left out
	Cut     bool           `json:"cut"`                         // there are more tasks than were looked at
	Others  int            `json:"rows_not_listed"`
	Page    int            `json:"page"`
	At      string         `json:"at,omitempty"` // the time in the middle, as it was asked for
	Scale   string         `json:"scale"`
	Earlier string         `json:"-"` // At of the pages beside this one
	Later   string         `json:"-"`
	Change  string         `json:"clock_changes,omitempty"`
	Slots   []string       `json:"-"`

	now    time.Time
	long   time.Duration // a cell
	fits   bool          // it is to be as long as there is something to see
	rows   map[string]*timelineRow
	groups map[string]string // of the tasks
	edges  []edge
}

// timelineRow is a task or a group.
type timelineRow struct {
	Name    string        `json:"name"`
	Ran     int           `json:"runs"`
	Failed  int           `json:"failed"`
	Waiting int           `json:"waiting,omitempty"` // runs that wait for an executor
	Planned int           `json:"planned"`
	Skipped int           `json:"planned_but_skipped,omitempty"` // for the job before will still run
	Out     int           `json:"did_not_run,omitempty"`         // ticks that were skipped, missed or late; of groups, they are not read
	Usual   string        `json:"usually_takes,omitempty"`
	Cells   []chart.Level `json:"cells"` // load is how many run at once, on average
	Link    string        `json:"-"`
	Drawing template.HTML `json:"-"`
}

// timelinePage loads the page of past and planned runs.
func (s *server) timelinePage(ctx context.Context, r *http.Request) (any, error) {
	q := r.URL.Query()
	d := &timelineView{Group: q.Get("group"), At: q.Get("at"), Page: 1, now: time.Now().UTC(), rows: map[string]*timelineRow{}, groups: map[string]string{},
		All: &timelineRow{Name: "all at once", Cells: make([]chart.Level, timelineCells)}}
	if n, err := strconv.Atoi(q.Get("page")); err == nil && n > 0 {
		d.Page = n
	}
	middle := time.Time{}
	if d.At != "" {
		var err error
		if middle, err = time.Parse(time.RFC3339, d.At); err != nil {
			return nil, frame.Bad("unknown time %q; use a time such as 2026-03-28T14:30:00Z", show.Printable(d.At))
		}
	}
	scale := slices.IndexFunc(timelineScales, func(one timelineScale) bool { return one.name == q.Get("scale") })
	d.fits = scale < 0 && d.At == ""
	if scale < 0 {
		scale = len(timelineScales) - 1
	}
	d.place(scale, middle, frame.Zone(r))
	if err := d.fill(ctx, s, frame.Zone(r)); err != nil {
		return nil, err
	}
	d.draw(s.prefix)
	return d, nil
}

// place has the page begin at a mark of its axis.
func (d *timelineView) place(scale int, middle time.Time, where *time.Location) {
	d.Scale, d.long = timelineScales[scale].name, timelineScales[scale].cell
	mark := timelineMark * d.long
	from := d.now.Add(-timelinePast * d.long)
	if !middle.IsZero() {
		from = middle.Add((mark - timelineCells*d.long) / 2)
	}
	_, seconds := from.In(where).Zone()
	offset := time.Duration(seconds) * time.Second
	d.From = from.Add(offset).Truncate(mark).Add(-offset).UTC()
	d.To = d.From.Add(timelineCells * d.long)
	d.Earlier, d.Later = d.From.Format(time.RFC3339), d.To.Format(time.RFC3339)
	d.Slots, d.Change = nil, ""
	for at := d.From; at.Before(d.To); at = at.Add(mark) {
		layout := "15:04"
		if here := at.In(where); here.Hour()+here.Minute() == 0 {
			layout = "Mon" // a day begins
		}
		d.Slots = append(d.Slots, at.In(where).Format(layout))
	}
	if _, change := d.From.In(where).ZoneBounds(); !change.IsZero() && change.Before(d.To) {
		d.Change = fmt.Sprintf("The clock of %s changes at %s.", where, show.Moment(change, where))
	}
}

// fit takes the shortest time in which all is that has happened since the oldest task is there.
func (d *timelineView) fit(tasks []periodic.Task, runs []view.Run, where *time.Location) {
	since := d.now
	for i := range tasks {
		since = earlier(since, tasks[i].Created)
	}
	if len(runs) > 0 {
		since = earlier(since, runs[len(runs)-1].Due)
	}
	for i, one := range timelineScales {
		if since.After(d.now.Add(-timelinePast * one.cell)) {
			d.place(i, time.Time{}, where)
			return
		}
	}
}

// choose keeps the rows of a page: first those that failed, then those that ran most, then those that will.
func (d *timelineView) choose() {
	d.Rows = []*timelineRow{}
	for _, row := range d.rows {
		if row.Ran+row.Waiting+row.Planned+row.Out > 0 {
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
	d.choose()
	now := float64(d.now.Sub(d.From)) / float64(d.long)
	if now > float64(timelineCells) {
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
		name := fmt.Sprintf("%s: %s ran, %s failed, %s did not run, %s waiting, %s to come", show.Printable(row.Name), show.Number(row.Ran), show.Number(row.Failed),
			show.Number(row.Out), show.Number(row.Waiting), show.Number(row.Planned))
		row.Drawing = template.HTML(chart.Lane{Name: name, Cells: row.Cells, Top: top, Floor: floor, Now: now}.Draw()) //nolint:gosec // package chart escapes its texts
		if row.Link = frame.Path(prefix, "task", "id", row.Name); d.Grouped {
			row.Link = frame.Path(prefix, "timeline", "group", row.Name, "at", d.At, "scale", d.Scale)
		}
	}
	full := float64(d.Places)
	for _, cell := range d.All.Cells {
		full = max(full, cell.Value)
	}
	d.Most = d.mostAtOnce()
	d.All.Drawing = template.HTML(chart.Lane{Name: "at most " + show.Number(d.Most) + " at once", Cells: d.All.Cells, Top: full, Now: now}.Draw()) //nolint:gosec // as above
}

// edge is a time at which a run begins, or ends: then runs is -1.
type edge struct {
	at   time.Time
	runs int
}

// mostAtOnce is the greatest number of runs at the same time.
func (d *timelineView) mostAtOnce() (most int) {
	slices.SortFunc(d.edges, func(a, b edge) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.runs, b.runs)) })
	now := 0
	for _, e := range d.edges {
		now += e.runs
		most = max(most, now)
	}
	return most
}

// Words say which time the page shows.
func (d *timelineView) Words(zone *time.Location) string {
	from, to := show.Range(d.From, d.To, d.now, zone)
	return from + " to " + to + ", " + zone.String() + "."
}
