package timer

import (
	"cmp"
	"slices"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

const (
	shownMinutes = 5  // how many of the busiest minutes are shown
	frequent     = 24 // a task with more ticks than that is one line
)

// previewTicks gathers the ticks of a preview by task, and how many there are in each
// minute.
type previewTicks struct {
	most    int  // lines to show; 0: all
	each    bool // a line for each tick, of frequent tasks, too
	series  map[seriesKey]*series
	total   int
	minutes map[time.Time]int
	tasks   []periodic.Task
}

type seriesKey struct{ change, id string }

// series are the ticks of a task. It forgets the lines of a frequent one.
type series struct {
	lines       []previewLine
	n           int
	first, last previewLine
	every       time.Duration // between all of them; 0: it differs
}

func newPreview(tasks []periodic.Task, most int, each bool) *previewTicks {
	return &previewTicks{tasks: tasks, most: most, each: each, series: map[seriesKey]*series{}, minutes: map[time.Time]int{}}
}

// count counts a tick in its minute.
func (r *previewTicks) count(tick periodic.Upcoming) {
	r.minutes[tick.NextRun.UTC().Truncate(time.Minute)]++
}

// add adds a tick. Those of a task come in their order.
func (r *previewTicks) add(change string, tick periodic.Upcoming) {
	r.total++
	if r.each && r.most > 0 && r.total > r.most {
		return // it will not be shown
	}
	line := previewLine{Change: change, ID: tick.Task.ID, NextRun: tick.NextRun, Due: tick.Due}
	key := seriesKey{change, line.ID}
	s := r.series[key]
	if s == nil {
		s = &series{first: line}
		r.series[key] = s
	}
	if gap := line.Due.Sub(s.last.Due); s.n == 1 {
		s.every = gap
	} else if gap != s.every {
		s.every = 0
	}
	s.n, s.last = s.n+1, line
	if s.lines = append(s.lines, line); s.n > frequent && !r.each {
		s.lines = nil
	}
}

// compare adds the ticks that only one of two lists of tasks has.
func (r *previewTicks) compare(before, after []periodic.Task, now, until time.Time) {
	type key struct {
		id      string
		nextRun time.Time
	}
	type change struct {
		sign string
		tick periodic.Upcoming
	}
	had := map[key]periodic.Upcoming{}
	for tick := range periodic.Preview(before, now, until) {
		had[key{tick.Task.ID, tick.NextRun}] = tick
	}
	var changes []change
	for tick := range periodic.Preview(after, now, until) {
		k := key{tick.Task.ID, tick.NextRun}
		if _, kept := had[k]; kept {
			delete(had, k)
			continue
		}
		changes = append(changes, change{"+", tick})
	}
	for _, tick := range had {
		changes = append(changes, change{"-", tick})
	}
	slices.SortFunc(changes, func(a, b change) int { return a.tick.NextRun.Compare(b.tick.NextRun) })
	for _, c := range changes {
		r.add(c.sign, c.tick)
	}
}

// result is the preview with the busiest minutes, of those with several ticks.
func (r *previewTicks) result() previewResult {
	result := previewResult{Ticks: []previewLine{}, Frequent: []frequentTask{}, Total: r.total, Busiest: r.busiest(), lines: r.lines()}
	for _, line := range result.lines {
		if line.frequent != nil {
			result.Frequent = append(result.Frequent, *line.frequent)
		} else {
			result.Ticks = append(result.Ticks, line)
		}
	}
	return result
}

// lines are the ticks and the first ticks of frequent tasks, by time.
func (r *previewTicks) lines() []previewLine {
	var lines []previewLine
	for _, s := range r.series {
		if s.lines != nil {
			lines = append(lines, s.lines...)
			continue
		}
		line := s.first
		line.frequent = &frequentTask{Change: line.Change, ID: line.ID, Ticks: s.n, First: line.NextRun, Last: s.last.NextRun}
		if s.every > 0 {
			seconds := s.every.Seconds()
			line.frequent.Every = &seconds
		}
		lines = append(lines, line)
	}
	slices.SortFunc(lines, func(a, b previewLine) int {
		return cmp.Or(a.NextRun.Compare(b.NextRun), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Change, b.Change))
	})
	if r.most > 0 && len(lines) > r.most {
		lines = lines[:r.most]
	}
	return lines
}

func (r *previewTicks) busiest() []busyMinute {
	busiest := []busyMinute{}
	for minute, n := range r.minutes {
		if n > 1 {
			busiest = append(busiest, busyMinute{Minute: minute, Ticks: n})
		}
	}
	slices.SortFunc(busiest, func(a, b busyMinute) int {
		return cmp.Or(cmp.Compare(b.Ticks, a.Ticks), a.Minute.Compare(b.Minute))
	})
	busiest = busiest[:min(len(busiest), shownMinutes)]
	for i := range busiest {
		if b := &busiest[i]; b.Ticks >= worthSpreading {
			b.Spreads = r.spreads(b.Minute, r.tasks)
		}
	}
	return busiest
}
