package plan

import (
	"context"
	"fmt"
	"net/http"
	"sort"
	"strconv"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/periodic"
)

// Sizes of a week.
const (
	hoursOfWeek   = 7 * 24
	minutesOfWeek = 60 * hoursOfWeek
)

// roomy is the load up to which nobody notices what else runs.
const roomy = .75

// heatView is the page of the busy hours of the week to come.
type heatView struct {
	Zone   string     `json:"zone"`
	Places int        `json:"places"` // of the executors; 0: none runs
	Ticks  int        `json:"ticks"`
	Days   [7]heatDay `json:"days"` // Monday first
	Peaks  []*peak    `json:"peaks"`
	Most   hourOfWeek `json:"busiest"`
	Least  hourOfWeek `json:"-"`
	Picked hourOfWeek `json:"hour"` // that is shown: that was asked for, or the busiest one
	Cell   []cellTask `json:"in_hour"`
	Others int        `json:"in_hour_not_listed,omitempty"`
	Cut    bool       `json:"cut"` // there are more tasks than were counted
	week   [minutesOfWeek]heatMinute
}

// hourOfWeek counts from Monday, 00:00.
type hourOfWeek int

func (h hourOfWeek) String() string { return fmt.Sprintf("%s %02d:00", dayNames[h/24], int(h)%24) }

var dayNames = [7]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

// MarshalText is for JSON.
func (h hourOfWeek) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

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

// hour is one of the week.
func (d *heatView) hour(h hourOfWeek) *heatHour { return &d.Days[h/24].Hours[h%24] }

// Heatmap is the page of the load of the next week.
func (s Pages) Heatmap(ctx context.Context, r *http.Request) (any, error) {
	where := frame.Zone(r)
	now := s.Now().UTC()
	from := now.Truncate(time.Hour).Add(time.Hour) // of the present hour, a part is over
	d := &heatView{Zone: where.String(), Peaks: []*peak{}, Cell: []cellTask{}}
	tasks, err := s.Tasks.List(ctx, periodic.TaskFilter{State: periodic.TaskEnabled, Limit: aheadTasks, Slim: true})
	if err != nil {
		return nil, err
	}
	d.Cut = len(tasks) == aheadTasks
	if d.Places, err = s.places(ctx); err != nil {
		return nil, err
	}
	usual, _, err := s.durations(ctx, tasks)
	if err != nil {
		return nil, err
	}
	kins := kinOf(tasks, usual, func(*periodic.Task) string { return "" })
	week := zonedWeek{now: now, from: from, where: where}
	d.count(kins, &week)
	d.measure()
	day, errDay := strconv.Atoi(r.URL.Query().Get("day"))
	hour, errHour := strconv.Atoi(r.URL.Query().Get("hour"))
	if d.Picked = d.Most; errDay == nil && errHour == nil && day >= 0 && day < 7 && hour >= 0 && hour < 24 {
		d.Picked = hourOfWeek(24*day + hour)
	}
	d.list(kins, usual, &week)
	d.findPeaks(kins, from)
	return d, nil
}

// zonedWeek is the week to come in a zone.
type zonedWeek struct {
	now, from time.Time
	where     *time.Location
	asked     time.Time // the minute of the last visit, and what the zone was ahead then: to ask for it is slow
	ahead     time.Duration
}

// each visits the ticks of tasks with the time that the clock of the zone shows at the start of their jobs.
func (w *zonedWeek) each(k *kin, do func(v visit, local time.Time)) {
	until := w.from.In(w.where).AddDate(0, 0, 7) // an hour more or less where the clock changes
	k.each(w.now, w.from, until, func(v visit) {
		if since := v.start.Sub(w.asked); since < 0 || since >= time.Minute {
			w.asked = v.start.Truncate(time.Minute)
			_, seconds := w.asked.In(w.where).Zone()
			w.ahead = time.Duration(seconds) * time.Second
		}
		do(v, v.start.Add(w.ahead))
	})
}

func hourOf(local time.Time) hourOfWeek {
	return hourOfWeek((int(local.Weekday())+6)%7*24 + local.Hour())
}

// heatShare is what tasks add to an hour.
type heatShare struct {
	ticks float64       // of each
	work  time.Duration // of all
}

// count adds up the ticks of the week to come, by hour and by minute.
func (d *heatView) count(kins []*kin, week *zonedWeek) {
	for i, k := range kins {
		var minutes []int
		k.hours = make([]heatShare, hoursOfWeek)
		week.each(k, func(v visit, local time.Time) {
			hour := hourOf(local)
			k.hours[hour].ticks += v.ticks
			k.fill(hour, local.Sub(local.Truncate(time.Hour)), v.runs)
			minutes = append(minutes, max(int(v.at.Sub(week.from)/time.Minute), 0)%minutesOfWeek)
		})
		for hour, share := range k.hours {
			h := d.hour(hourOfWeek(hour))
			h.Ticks += share.ticks * float64(len(k.all))
			h.work += share.work
		}
		if k.often = len(minutes) >= aheadTicks; k.often { // not all were visited; what is due so often makes no peak
			continue
		}
		mark := uint64(i+1) * 0x9E3779B97F4A7C15
		for _, i := range minutes {
			d.week[i].ticks += len(k.all)
			d.week[i].work += k.work
			d.week[i].tasks += mark ^ mark>>29
		}
	}
}

// fill adds the work of n jobs of each task to the hours in which they run: from a time within an hour on. What runs beyond the
// week is at its beginning, as what began in the week before.
func (k *kin) fill(hour hourOfWeek, since time.Duration, n float64) {
	took, each := k.took(), n*float64(len(k.all))
	for most := hoursOfWeek; took > 0 && most > 0; most-- {
		part := min(took, time.Hour-since)
		k.hours[hour%hoursOfWeek].work += time.Duration(float64(part) * each)
		hour, since, took = hour+1, 0, took-part
	}
}

// measure compares the work of each hour with the places, or without executors its ticks with the
// busiest hour.
func (d *heatView) measure() {
	most := 0.0
	for i := range d.Days {
		d.Days[i].Name = dayNames[i]
		for _, h := range d.Days[i].Hours {
			most = max(most, h.Ticks)
		}
	}
	for i := range hourOfWeek(hoursOfWeek) {
		h := d.hour(i)
		d.Ticks += int(h.Ticks)
		if d.Places > 0 {
			h.Load = h.work.Hours() / float64(d.Places)
		} else if most > 0 {
			h.Load = h.Ticks / most
		}
		if h.Load > d.hour(d.Most).Load {
			d.Most = i
		}
		if h.Load < d.hour(d.Least).Load {
			d.Least = i
		}
	}
}

// Steps are the percents up to which a colour goes, so that all are used between the quietest and the busiest hour. Two may be alike.
func (d *heatView) Steps() (steps [4]int) {
	low, high := whole(d.hour(d.Least).Load), min(whole(d.hour(d.Most).Load), 100)
	for i := range steps {
		steps[i] = low + (high-low)*(i+1)/len(steps)
	}
	return steps
}

// Class is the colour of an hour: by the percent that its cell shows.
func (d *heatView) Class(h heatHour) string {
	switch {
	case h.Load > 1:
		return "over"
	case h.Ticks < .5 && h.Load <= 0:
		return "h0"
	}
	steps := d.Steps()
	return fmt.Sprintf("h%d", 1+min(sort.SearchInts(steps[:], whole(h.Load)), len(steps)-1))
}

// Highest is the load of the busiest hour, for people.
func (d *heatView) Highest() string { return percent(d.hour(d.Most).Load) }

// percent is a part of a whole, for people.
func percent(part float64) string {
	switch {
	case part <= 0:
		return "0"
	case part < .01:
		return "<1"
	}
	return fmt.Sprint(whole(part))
}

// whole is a part in percent.
func whole(part float64) int { return int(100*part + .5) }

// Percent is the load, for a cell.
func (h heatHour) Percent() string {
	if h.Ticks < .5 && h.Load <= 0 {
		return ""
	}
	return percent(h.Load)
}

// Count is how many ticks there are, about.
func (h heatHour) Count() int { return int(h.Ticks + .5) }
