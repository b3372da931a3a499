package plan

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/periodic"
)

// How many peaks are named, and how many timers and tasks as their causes.
const (
	shownPeaks  = 5
	shownCauses = 3
	shownTasks  = 40
	mostLooked  = 30 // times of day
)

// heatView is the page of the busy hours of the week to come.
type heatView struct {
	Zone   string     `json:"zone"`
	Places int        `json:"places"` // of the executors; 0: none runs
	Ticks  int        `json:"ticks"`
	Days   [7]heatDay `json:"days"` // Monday first
	Peaks  []*peak    `json:"peaks"`
	Picked string     `json:"day,omitempty"` // of the hour that is shown
	Hour   int        `json:"hour"`
	Cell   []cellTask `json:"in_hour,omitempty"`
	Others int        `json:"in_hour_not_listed,omitempty"`
	Cut    bool       `json:"cut"` // there are more tasks than were counted
	week   [10080]float64
	work   [10080]time.Duration
}

type heatDay struct {
	Name  string       `json:"name"`
	Hours [24]heatHour `json:"hours"`
}

// heatHour is an hour of the week.
type heatHour struct {
	Ticks float64 `json:"ticks"`
	Load  float64 `json:"load"` // the part of the places that its jobs fill; without executors, of the busiest hour
	work  time.Duration
}

// cellTask is a task in an hour.
type cellTask struct {
	ID    string  `json:"id"`
	Ticks float64 `json:"ticks"`
}

// peak is a minute in which many ticks fall due.
type peak struct {
	At     time.Time     `json:"at"`    // the next time
	Times  int           `json:"times"` // in the week, as far as was looked
	Ticks  int           `json:"ticks"`
	Lasts  time.Duration `json:"-"` // until the last of them has begun, if all places are free before
	Causes []cause       `json:"causes"`
	Spread int           `json:"spread_seconds"` // over which its ticks would fit; 0: they do
	After  int           `json:"ticks_after"`
}

// cause are tasks of one timer that are due in a peak.
type cause struct {
	Timer string `json:"timer"`
	Tasks int    `json:"tasks"`
	ID    string `json:"id"` // of one of them
	every time.Duration
}

// Heatmap is the page of the load of the next week.
func (s Pages) Heatmap(ctx context.Context, r *http.Request) (any, error) {
	where := frame.Zone(r)
	now := s.Now().UTC()
	from := now.Truncate(time.Hour).Add(time.Hour) // of the present hour, a part is over
	d := &heatView{Zone: where.String(), Peaks: []*peak{}}
	tasks, err := s.Tasks.List(ctx, periodic.TaskFilter{State: periodic.TaskEnabled, Limit: aheadTasks, Slim: true})
	if err != nil {
		return nil, err
	}
	d.Cut = len(tasks) == aheadTasks
	past, err := s.DB.Figures().Sample(ctx, now.AddDate(0, 0, -1), now, sampledTimes, "")
	if err != nil {
		return nil, err
	}
	if d.Places, err = s.places(ctx); err != nil {
		return nil, err
	}
	day, errDay := strconv.Atoi(r.URL.Query().Get("day"))
	hour, errHour := strconv.Atoi(r.URL.Query().Get("hour"))
	picked := -1
	if errDay == nil && errHour == nil && day >= 0 && day < 7 && hour >= 0 && hour < 24 {
		picked, d.Hour, d.Picked = 24*day+hour, hour, time.Weekday((day+1)%7).String()
	}
	kins := kinOf(tasks, durationsOf(past.Runs), func(*periodic.Task) string { return "" })
	d.count(kins, now, from, where, picked)
	d.measure()
	d.findPeaks(kins, from, where)
	return d, nil
}

// count adds up the ticks of the week to come, by hour and by minute.
func (d *heatView) count(kins []*kin, now, from time.Time, where *time.Location, picked int) {
	until := from.In(where).AddDate(0, 0, 7) // an hour more or less where the clock changes
	var offset time.Duration                 // of the zone, in the hour that was asked for last
	asked := time.Time{}
	for _, k := range kins {
		in := 0.0
		took := k.work / time.Duration(len(k.ids))
		k.each(now, from, until, func(at time.Time, ticks, inMinute float64) {
			if since := at.Sub(asked); since < 0 || since >= time.Minute {
				asked = at.Truncate(time.Minute)
				_, seconds := asked.In(where).Zone()
				offset = time.Duration(seconds) * time.Second
			}
			local := at.Add(offset)
			day := (int(local.Weekday()) + 6) % 7
			hour, n := 24*day+local.Hour(), ticks*float64(len(k.ids))
			d.Days[day].Hours[local.Hour()].Ticks += n
			d.fill(hour, local.Sub(local.Truncate(time.Hour)), took, n)
			minute := max(int(at.Sub(from)/time.Minute), 0) % len(d.week)
			d.week[minute] += inMinute * float64(len(k.ids))
			d.work[minute] += time.Duration(inMinute * float64(k.work))
			if hour == picked {
				in += ticks
			}
		})
		for _, id := range k.ids {
			switch {
			case in > 0 && len(d.Cell) < shownTasks:
				d.Cell = append(d.Cell, cellTask{id, in})
			case in > 0:
				d.Others++
			}
		}
	}
	slices.SortFunc(d.Cell, func(a, b cellTask) int { return cmp.Or(cmp.Compare(b.Ticks, a.Ticks), cmp.Compare(a.ID, b.ID)) })
}

// fill adds the work of n jobs to the hours in which they run: from a time within an hour on. What runs beyond the week is at
// its beginning, as what began in the week before.
func (d *heatView) fill(hour int, since, took time.Duration, n float64) {
	for most := len(d.Days) * 24; took > 0 && most > 0; most-- {
		part := min(took, time.Hour-since)
		d.Days[hour/24%7].Hours[hour%24].work += time.Duration(float64(part) * n)
		hour, since, took = hour+1, 0, took-part
	}
}

// measure compares the work of each hour with the places, or without executors its ticks with the
// busiest hour.
func (d *heatView) measure() {
	most := 0.0
	for i := range d.Days {
		d.Days[i].Name = time.Weekday((i + 1) % 7).String()
		for _, h := range d.Days[i].Hours {
			most = max(most, h.Ticks)
		}
	}
	for i := range d.Days {
		for n := range d.Days[i].Hours {
			h := &d.Days[i].Hours[n]
			d.Ticks += int(h.Ticks)
			if d.Places > 0 {
				h.Load = h.work.Hours() / float64(d.Places)
			} else if most > 0 {
				h.Load = h.Ticks / most
			}
		}
	}
}

// Class is the colour of an hour.
func (h heatHour) Class() string {
	switch {
	case h.Ticks < .5:
		return "h0"
	case h.Load < .2:
		return "h1"
	case h.Load < .4:
		return "h2"
	case h.Load < .75:
		return "h3"
	case h.Load <= 1:
		return "h4"
	}
	return "over"
}

// Percent is the load, for a cell.
func (h heatHour) Percent() string {
	switch p := 100 * h.Load; {
	case h.Ticks < .5:
		return ""
	case p < 1:
		return "<1"
	default:
		return fmt.Sprintf("%.0f", p)
	}
}

// Count is how many ticks there are, about.
func (h heatHour) Count() int { return int(h.Ticks + .5) }

// findPeaks names the minutes in which most ticks fall due. Those with the same causes are one peak.
func (d *heatView) findPeaks(kins []*kin, from time.Time, where *time.Location) {
	minutes := make([]int, 0, len(d.week))
	for i, n := range d.week {
		if n >= 2 {
			minutes = append(minutes, i)
		}
	}
	slices.SortStableFunc(minutes, func(a, b int) int {
		return cmp.Or(cmp.Compare(d.week[b], d.week[a]), cmp.Compare(d.work[b], d.work[a]), cmp.Compare(a, b))
	})
	looked := map[string]*peak{} // by time of day
	for _, i := range minutes {
		at := from.Add(time.Duration(i) * time.Minute)
		clock := at.In(where).Format("15:04")
		if p := looked[clock]; p != nil {
			p.Times++
			if at.Before(p.At) {
				p.At = at
			}
			continue
		}
		if len(looked) == mostLooked {
			continue
		}
		p := &peak{At: at, Ticks: int(d.week[i] + .5), Causes: []cause{}}
		if d.Places > 0 && p.Ticks > d.Places { // the first of them have a place at once
			p.Lasts = d.work[i] / time.Duration(d.Places) * time.Duration(p.Ticks-d.Places) / time.Duration(p.Ticks)
		}
		p.explain(kins)
		same := slices.IndexFunc(d.Peaks, func(other *peak) bool { return slices.Equal(other.Causes, p.Causes) })
		if same < 0 {
			d.Peaks, same = append(d.Peaks, p), len(d.Peaks)
		}
		looked[clock] = d.Peaks[same]
		d.Peaks[same].Times++
	}
	d.Peaks = d.Peaks[:min(len(d.Peaks), shownPeaks)]
}

// spreads are round numbers of seconds.
var spreads = []int{60, 120, 300, 600, 900, 1800, 3600, 7200, 14400}

// explain names the timers that make the peak, and how far to spread their ticks so that they fit.
func (p *peak) explain(kins []*kin) {
	end := p.At.Add(time.Minute)
	for _, k := range kins {
		coming, _ := k.Upcoming(p.At.Add(-k.Jitter-time.Microsecond), 2+int(k.Jitter/time.Minute)) // the timer has been read
		if slices.ContainsFunc(coming, func(u periodic.Upcoming) bool { return !u.NextRun.Before(p.At) && u.NextRun.Before(end) }) {
			every := 24 * time.Hour
			if n := len(coming); n > 1 {
				every = coming[n-1].Due.Sub(coming[n-2].Due)
			}
			p.Causes = append(p.Causes, cause{k.Timer, len(k.ids), k.ID, every})
		}
	}
	slices.SortStableFunc(p.Causes, func(a, b cause) int { return cmp.Compare(b.Tasks, a.Tasks) })
	if len(p.Causes) > 0 && p.Lasts > time.Minute {
		for _, p.Spread = range spreads {
			if next := time.Duration(p.Spread) * time.Second; next >= p.Lasts || 2*next > p.Causes[0].every {
				break
			}
		}
		moved := p.Causes[0].Tasks
		p.After = p.Ticks - moved + (60*moved+p.Spread-1)/p.Spread
	}
}

// Main are the causes that the page names, Rest how many tasks the others have.
func (p *peak) Main() []cause { return p.Causes[:min(len(p.Causes), shownCauses)] }

func (p *peak) Rest() (n int) {
	for _, c := range p.Causes[len(p.Main()):] {
		n += c.Tasks
	}
	return n
}
