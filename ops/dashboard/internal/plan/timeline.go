package plan

import (
	"context"
	"html/template"
	"net/http"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/chart"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Bounds of the pages that look ahead.
const (
	timelineRows    = 40
	timelineRuns    = 2000
	timelinePlanned = 300 // of a task; of one with more, it is looked where they are
	timelineBoxes   = 600
	aheadTasks      = 10_000
)

// timelineView is the page of past and planned runs.
type timelineView struct {
	Days    int            `json:"days"`
	From    time.Time      `json:"from"`
	To      time.Time      `json:"to"`
	Rows    []timelineRow  `json:"rows"`
	Left    int            `json:"left_out"` // tasks
	CutPast bool           `json:"cut_past"` // older runs of the time are left out
	Zone    string         `json:"zone"`
	Drawing template.HTML  `json:"-"`
	Where   *time.Location `json:"-"`
}

// timelineRow are the runs of a task, also for those who cannot see the drawing.
type timelineRow struct {
	ID      string        `json:"id"`
	Runs    []timelineRun `json:"runs"`
	Planned int           `json:"planned"`
	Sampled bool          `json:"sampled"` // there are more planned runs than these
	Failed  int           `json:"failed"`
	Usual   string        `json:"usually_takes,omitempty"`
	task    *periodic.Task
	next    time.Time
}

// Ran is how many runs have begun.
func (r timelineRow) Ran() int { return len(r.Runs) - r.Planned }

// Most is how many planned runs of a task are counted.
func (timelineView) Most() int { return timelinePlanned }

type timelineRun struct {
	JID   string    `json:"jid,omitempty"`
	State string    `json:"state"`
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
}

func (s Pages) Timeline(ctx context.Context, r *http.Request) (any, error) {
	where, err := zoneOf(r)
	if err != nil {
		return nil, err
	}
	d := timelineView{Days: 1, Where: where, Zone: where.String()}
	past, ahead := 12*time.Hour, 12*time.Hour
	if r.URL.Query().Get("days") == "7" {
		d.Days, past, ahead = 7, 84*time.Hour, 84*time.Hour
	}
	now := s.Now().UTC().Truncate(time.Minute)
	d.From, d.To = now.Add(-past), now.Add(ahead)
	runs, err := s.DB.Figures().Runs(ctx, d.From, timelineRuns)
	if err != nil {
		return nil, err
	}
	ended := 0
	for _, run := range runs {
		if !run.Finished.IsZero() {
			ended++
		}
	}
	d.CutPast = ended >= timelineRuns
	tasks, err := s.Tasks.List(ctx, periodic.TaskFilter{State: periodic.TaskEnabled, Limit: aheadTasks})
	if err != nil {
		return nil, err
	}
	d.gather(runs, tasks, now)
	for i := range d.Rows {
		d.Rows[i].plan(now, d.To, d.To.Sub(d.From)/1000)
	}
	usual, err := usualOf(ctx, s.DB, d.Rows)
	if err != nil {
		return nil, err
	}
	d.estimate(usual)
	d.Drawing = d.draw(s.Prefix, now)
	return d, nil
}

// zoneOf is the zone that a page shows times of several tasks in.
func zoneOf(r *http.Request) (*time.Location, error) {
	return frame.Zone(r), nil
}

// usualRuns is how many of the last ticks of a task say how long it usually takes.
const usualRuns = 20

// usualOf is how long the last runs of tasks took in the median, whenever they were.
func usualOf(ctx context.Context, db *store.DB, rows []timelineRow) (map[string]time.Duration, error) {
	var ids []string
	for _, r := range rows {
		if r.Planned > 0 {
			ids = append(ids, r.ID)
		}
	}
	history, err := db.Figures().History(ctx, ids, usualRuns)
	if err != nil {
		return nil, err
	}
	usual := make(map[string]time.Duration, len(ids))
	for _, h := range history {
		var took []time.Duration
		for _, k := range h.Ticks {
			if !k.Started.IsZero() && !k.Finished.IsZero() {
				took = append(took, k.Finished.Sub(k.Started))
			}
		}
		usual[h.ID] = median(took)
	}
	return usual, nil
}

// estimate lets planned runs take as long as those of their task usually do.
func (d *timelineView) estimate(usual map[string]time.Duration) {
	for i := range d.Rows {
		r := &d.Rows[i]
		took := usual[r.ID]
		if took <= 0 {
			continue
		}
		r.Usual = span.Exact(took)
		for n := len(r.Runs) - r.Planned; n < len(r.Runs); n++ { // the planned ones are the last
			run := &r.Runs[n]
			run.To = run.From.Add(took)
			if !r.task.Overlapping() && n+1 < len(r.Runs) && run.To.After(r.Runs[n+1].From) {
				run.To = r.Runs[n+1].From
			}
		}
	}
}

func median(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}

func (d *timelineView) draw(prefix string, now time.Time) template.HTML {
	t := chart.Timeline{From: d.From, To: d.To, Now: now, Zone: d.Where, Most: timelineBoxes}
	for _, r := range d.Rows {
		row := chart.Row{Name: show.Printable(r.ID)}
		for _, run := range r.Runs {
			c := chart.Run{From: run.From, To: run.To, Class: run.State,
				Title: show.Word(run.State) + ", " + show.Moment(run.From, d.Where)}
			if run.To.After(run.From) {
				c.Title += ", " + span.Exact(run.To.Sub(run.From))
			}
			if run.JID != "" {
				c.Link = frame.Path(prefix, "job", "id", run.JID)
			}
			row.Runs = append(row.Runs, c)
		}
		t.Rows = append(t.Rows, row)
	}
	return template.HTML(t.Draw()) //nolint:gosec // package chart escapes its texts
}
