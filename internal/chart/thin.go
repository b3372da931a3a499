package chart

import (
	"slices"
	"time"
)

// thin returns what to draw of each row: its runs and the times at which two of them run. If
// there are more than Most, those of one class that are near to each other become one, which
// is as long as they are together. What is far from others stays.
func (t Timeline) thin() [][]Run {
	rows := make([][]Run, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = slices.Clone(row.Runs)
		for _, both := range overlaps(row.Runs) {
			both.Class, both.Title = "overlap", "two runs at once"
			rows[i] = append(rows[i], both)
		}
	}
	for gap := t.To.Sub(t.From) / timelineWidth; t.Most > 0; gap *= 2 {
		boxes := 0
		for i := range rows {
			rows[i] = t.join(rows[i], gap)
			boxes += len(rows[i])
		}
		if boxes <= t.Most || gap > t.To.Sub(t.From) {
			break
		}
	}
	return rows
}

// join makes one of the runs of a class that have less than a gap between them.
func (t Timeline) join(runs []Run, gap time.Duration) (joined []Run) {
	slices.SortStableFunc(runs, func(a, b Run) int { return a.From.Compare(b.From) })
	last := map[string]int{} // by class, the index of the last one
	for _, r := range runs {
		i, found := last[r.Class]
		if !found || r.From.Sub(joined[i].To) > gap {
			last[r.Class] = len(joined)
			joined = append(joined, r)
			continue
		}
		one := &joined[i]
		if r.To.After(one.To) {
			one.To = r.To
		}
		one.Many, one.Link = true, ""
		one.Title = "several: " + r.Class + ", from " + t.text(one.From) + " to " + t.text(one.To)
	}
	// What is rare is drawn last, so that nothing hides it, and the pattern of overlaps upon all.
	count := map[string]int{}
	for _, r := range joined {
		count[r.Class]++
	}
	count["overlap"] = -1
	slices.SortStableFunc(joined, func(a, b Run) int { return count[b.Class] - count[a.Class] })
	return joined
}
