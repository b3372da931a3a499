package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/span"
)

// How many tasks of an hour are listed, and of how many of their ticks the minute.
const (
	shownTasks  = 40
	shownStarts = 4
)

// cellTask is a task in an hour.
type cellTask struct {
	ID    string  `json:"id"`
	Ticks float64 `json:"ticks"`
	Times string  `json:"times"` // when they are due
	Takes string  `json:"takes,omitempty"`
	Guess bool    `json:"takes_is_guessed,omitempty"` // it has not run yet
	Share float64 `json:"share"`                      // of the places
}

// Percent is the share, for people.
func (c cellTask) Percent() string { return percent(c.Share) }

// list adds the tasks of the hour that is shown.
func (d *heatView) list(kins []*kin, usual durations, week *zonedWeek) {
	for _, k := range kins {
		in := k.hours[d.Picked]
		if in.ticks == 0 && in.work == 0 {
			continue
		}
		times := d.times(k, week)
		for _, t := range k.all {
			one := cellTask{ID: t.ID, Ticks: in.ticks, Times: times}
			if took, known := usual.of(t); took > 0 {
				one.Takes, one.Guess = span.Exact(took), !known
				if d.Places > 0 {
					one.Share = in.work.Hours() * float64(took) / float64(k.work) / float64(d.Places)
				}
			}
			d.Cell = append(d.Cell, one)
		}
	}
	slices.SortFunc(d.Cell, func(a, b cellTask) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.Ticks, a.Ticks), cmp.Compare(a.ID, b.ID))
	})
	if n := len(d.Cell) - shownTasks; n > 0 {
		d.Cell, d.Others = d.Cell[:shownTasks], n
	}
}

// times says when tasks are due in the hour that is shown, or when what runs in it began.
func (d *heatView) times(k *kin, week *zonedWeek) string {
	var starts []string
	skipped, before := 0.0, time.Time{}
	week.each(k, func(v visit, local time.Time) {
		switch {
		case hourOf(local) != d.Picked:
			since := time.Duration((d.Picked-hourOf(local)+hoursOfWeek)%hoursOfWeek)*time.Hour - local.Sub(local.Truncate(time.Hour))
			if v.runs > 0 && since < k.took() {
				before = local
			}
		case v.runs == 0:
			skipped++
		case len(starts) <= shownStarts:
			if starts = append(starts, local.Format("15:04")); v.ticks > 1 {
				starts = append(starts, make([]string, shownStarts)...)
			}
		}
	})
	text := strings.Join(starts, ", ")
	switch in := k.hours[d.Picked].ticks; {
	case len(starts) > shownStarts:
		text = fmt.Sprintf("%.0f times", in)
	case text == "" && !before.IsZero():
		text = "running since " + before.Format("15:04")
	}
	if skipped > 0 {
		text += fmt.Sprintf(", %.0f skipped because the run before goes on", skipped)
	}
	return strings.TrimPrefix(text, ", ")
}

// Advice says whether it would help to move a task of the hour that is shown.
func (d *heatView) Advice() string {
	load := d.hour(d.Picked).Load
	switch {
	case d.Places == 0:
		return "No executor is known to run, so the page cannot say whether there is room."
	case load <= roomy || len(d.Cell) == 0:
		return fmt.Sprintf("%s %% of the %d places will be taken: there is room.", percent(load), d.Places)
	}
	one, quiet := d.Cell[0], d.hour(d.Least).Load
	if max(load-one.Share, quiet+one.Share) >= load-.01 {
		return fmt.Sprintf("%s %% of the %d places will be taken. Moving one task would not help: start more executors, or give them more places.", percent(load), d.Places)
	}
	return fmt.Sprintf("%s %% of the %d places will be taken. Moving %s to %s, the quietest hour, would leave %s %% here, and make it %s %% there.",
		percent(load), d.Places, one.ID, d.Least, percent(load-one.Share), percent(quiet+one.Share))
}
