package timer

import (
	"cmp"
	"slices"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// shownMinutes is how many of the busiest minutes are shown.
const shownMinutes = 5

// previewTicks gathers the ticks of a preview: the first of them, and how many
// there are in each minute.
type previewTicks struct {
	most    int // lines to keep; 0: all
	lines   []previewLine
	total   int
	minutes map[time.Time]int
}

func newPreview(most int) *previewTicks {
	return &previewTicks{most: most, lines: []previewLine{}, minutes: map[time.Time]int{}}
}

// count counts a tick in its minute.
func (r *previewTicks) count(tick periodic.Upcoming) {
	r.minutes[tick.NextRun.UTC().Truncate(time.Minute)]++
}

// line adds a line for a tick.
func (r *previewTicks) line(change string, tick periodic.Upcoming) {
	r.total++
	if r.most == 0 || len(r.lines) < r.most {
		r.lines = append(r.lines, previewLine{change, tick.Task.ID, tick.NextRun, tick.Due})
	}
}

// compare adds the ticks that only one of two lists of tasks has.
func (r *previewTicks) compare(before, after []periodic.Task, now, until time.Time) {
	type key struct {
		id      string
		nextRun time.Time
	}
	had := map[key]periodic.Upcoming{}
	for tick := range periodic.Preview(before, now, until) {
		had[key{tick.Task.ID, tick.NextRun}] = tick
	}
	for tick := range periodic.Preview(after, now, until) {
		k := key{tick.Task.ID, tick.NextRun}
		if _, kept := had[k]; kept {
			delete(had, k)
			continue
		}
		r.lines = append(r.lines, previewLine{"+", tick.Task.ID, tick.NextRun, tick.Due})
	}
	for _, tick := range had {
		r.lines = append(r.lines, previewLine{"-", tick.Task.ID, tick.NextRun, tick.Due})
	}
	slices.SortFunc(r.lines, byTime)
	if r.total = len(r.lines); r.most > 0 && r.total > r.most {
		r.lines = r.lines[:r.most]
	}
}

// result is the preview with the busiest minutes, of those with several ticks.
func (r *previewTicks) result() previewResult {
	busiest := []busyMinute{}
	for minute, n := range r.minutes {
		if n > 1 {
			busiest = append(busiest, busyMinute{minute, n})
		}
	}
	slices.SortFunc(busiest, func(a, b busyMinute) int {
		return cmp.Or(cmp.Compare(b.Ticks, a.Ticks), a.Minute.Compare(b.Minute))
	})
	return previewResult{Ticks: r.lines, Total: r.total, Busiest: busiest[:min(len(busiest), shownMinutes)]}
}
