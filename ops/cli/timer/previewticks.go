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
	series  map[string]*series
	total   int
	minutes map[time.Time]int
}

// series are the ticks of a task. It forgets the lines of a frequent one.
type series struct {
	lines       []previewLine
	n           int
	first, last previewLine
	every       time.Duration // between all of them; 0: it differs
}

// add adds a tick. Those of a task come in their order.
func (r *previewTicks) add(tick periodic.Upcoming) {
	r.minutes[tick.NextRun.UTC().Truncate(time.Minute)]++
	r.total++
	if r.each && r.most > 0 && r.total > r.most {
		return // it will not be shown
	}
	line := previewLine{ID: tick.Task.ID, NextRun: tick.NextRun, Due: tick.Due}
	s := r.series[line.ID]
	if s == nil {
		s = &series{first: line}
		r.series[line.ID] = s
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

// lines are the ticks and the first ticks of frequent tasks, by time.
func (r *previewTicks) lines() []previewLine {
	lines := []previewLine{}
	for _, s := range r.series {
		if s.lines != nil {
			lines = append(lines, s.lines...)
			continue
		}
		line := s.first
		line.repeats, line.every = s.n, s.every
		lines = append(lines, line)
	}
	slices.SortFunc(lines, func(a, b previewLine) int {
		return cmp.Or(a.NextRun.Compare(b.NextRun), cmp.Compare(a.ID, b.ID))
	})
	if r.most > 0 && len(lines) > r.most {
		lines = lines[:r.most]
	}
	return lines
}

// busiest are the minutes with the most ticks, of those with several.
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
	return busiest[:min(len(busiest), shownMinutes)]
}
