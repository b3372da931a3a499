package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// How much the page names.
const (
	shownPeaks  = 5
	shownCauses = 6
	shownNames  = 4 // of tasks of a timer
	shownTimes  = 6 // of a peak, besides the first

	shownBusiest = 4 // hours
)

// peak is a minute in which many ticks fall due.
type peak struct {
	At     time.Time     `json:"at"`    // the next time
	Times  int           `json:"times"` // in the week: minutes with the same tasks
	Also   []time.Time   `json:"also"`  // the first others of these minutes
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
	Names []string `json:"-"`
}

// heatMinute is a minute of the week to come.
type heatMinute struct {
	ticks int
	work  time.Duration
	tasks uint64 // that are due: a sum of a number of each, which tells other tasks
}

// findPeaks names the minutes in which most ticks fall due. Those of the same tasks are one peak.
func (d *heatView) findPeaks(kins []*kin, from time.Time) {
	var minutes []int
	for i, m := range d.week {
		if m.ticks >= 2 {
			minutes = append(minutes, i)
		}
	}
	slices.SortStableFunc(minutes, func(i, k int) int {
		a, b := d.week[i], d.week[k]
		return cmp.Or(cmp.Compare(b.ticks, a.ticks), cmp.Compare(b.work, a.work), cmp.Compare(i, k))
	})
	found := map[uint64]*peak{}
	for _, i := range minutes {
		m := d.week[i]
		p := found[m.tasks]
		if p == nil {
			if len(d.Peaks) == shownPeaks {
				continue
			}
			p = &peak{At: from.Add(time.Duration(i) * time.Minute), Ticks: m.ticks, Causes: []cause{}}
			if d.Places > 0 && p.Ticks > d.Places { // the first of them have a place at once
				p.Lasts = m.work / time.Duration(d.Places) * time.Duration(p.Ticks-d.Places) / time.Duration(p.Ticks)
			}
			p.explain(kins)
			found[m.tasks], d.Peaks = p, append(d.Peaks, p)
		} else if len(p.Also) < shownTimes {
			p.Also = append(p.Also, from.Add(time.Duration(i)*time.Minute))
		}
		p.Times++
	}
}

// spreads are round numbers of seconds.
var spreads = []int{60, 120, 300, 600, 900, 1800, 3600, 7200, 14400}

// explain names the timers that make the peak, and how far to spread their ticks so that they fit.
func (p *peak) explain(kins []*kin) {
	end := p.At.Add(time.Minute)
	for _, k := range kins {
		if k.often {
			continue
		}
		coming, _ := k.Upcoming(p.At.Add(-k.Jitter-time.Microsecond), 2+int(k.Jitter/time.Minute)) // the timer has been read
		if !slices.ContainsFunc(coming, func(u periodic.Upcoming) bool { return !u.NextRun.Before(p.At) && u.NextRun.Before(end) }) {
			continue
		}
		every := 24 * time.Hour
		if n := len(coming); n > 1 {
			every = coming[n-1].Due.Sub(coming[n-2].Due)
		}
		i := slices.IndexFunc(p.Causes, func(c cause) bool { return c.Timer == k.Timer })
		if i < 0 {
			i, p.Causes = len(p.Causes), append(p.Causes, cause{Timer: k.Timer, ID: k.ID, every: every})
		}
		p.Causes[i].Tasks += len(k.all)
		for _, t := range k.all[:min(len(k.all), shownNames-len(p.Causes[i].Names))] {
			p.Causes[i].Names = append(p.Causes[i].Names, t.ID)
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

// More is how many tasks of the timer are not named.
func (c cause) More() int { return c.Tasks - len(c.Names) }

// Main are the causes that the page names, Rest how many tasks the others have.
func (p *peak) Main() []cause { return p.Causes[:min(len(p.Causes), shownCauses)] }

func (p *peak) Rest() (n int) {
	for _, c := range p.Causes[len(p.Main()):] {
		n += c.Tasks
	}
	return n
}

// Hour is the day of the week, from Monday, and the hour of the peak.
func (p *peak) Hour(zone *time.Location) []int {
	h := int(hourOf(p.At.In(zone)))
	return []int{h / 24, h % 24}
}

// More is how many more times it comes than the page names.
func (p *peak) More() int { return p.Times - 1 - len(p.Also) }

// Busiest names the hours whose cells show as much as the busiest one.
func (d *heatView) Busiest() string {
	var names []string
	for hour := range hourOfWeek(24) {
		before := len(names)
		for i := hour; i < hoursOfWeek; i += 24 {
			if whole(d.hour(i).Load) == whole(d.hour(d.Most).Load) {
				names = append(names, i.String())
			}
		}
		if len(names) == before+len(d.Days) {
			names = append(names[:before], fmt.Sprintf("%02d:00 every day", hour))
		}
	}
	if n := len(names) - shownBusiest; n > 0 {
		names = append(names[:shownBusiest], fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}
