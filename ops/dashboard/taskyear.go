package dashboard

import (
	"context"
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/chart"
	"github.com/nextrun/nextrun/internal/figures"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// How many of the past ticks and of those to come are counted, and how long the latter may take.
const (
	monthsBack = 9 // of the year, or more if it has had more; the others are to come
	pastOfYear = 20_000
	mostOfYear = 600_000
	yearTime   = 300 * time.Millisecond
)

// yearDay is a day of the year around now.
type yearDay struct {
	Date   string `json:"date"`
	Ticks  int    `json:"decided"`
	Failed int    `json:"failed"`
	Worst  string `json:"worst,omitempty"` // what became of its ticks
	Coming int    `json:"planned"`
}

// yearKnown are the bounds between which the ticks of a year are known. A zero time is no
// bound.
type yearKnown struct {
	First    string    `json:"first_day_known,omitempty"`    // that has a tick on record
	Known    time.Time `json:"days_known_since,omitzero"`    // ticks decided before it are left out
	Computed time.Time `json:"days_computed_until,omitzero"` // ticks to come after it are left out
}

// year returns the days of a year around now on which a task has ticks.
func year(ctx context.Context, db *store.DB, t *periodic.Task, zone *time.Location, now time.Time) (days []yearDay, known yearKnown, err error) {
	now = now.In(zone)
	first := time.Date(now.Year(), min(now.Month()-monthsBack, time.January), 1, 12, 0, 0, 0, zone)
	last := time.Date(now.Year(), now.Month()+13-monthsBack, 1, 0, 0, 0, 0, zone)
	var past []figures.Period
	for noon := first; midnight(noon).Before(now); noon = noon.AddDate(0, 0, 1) {
		past = append(past, figures.Period{Begin: midnight(noon), End: midnight(noon.AddDate(0, 0, 1))})
	}
	decided, err := figures.Of(db).Outcomes(ctx, []string{t.ID}, past, pastOfYear)
	if err != nil {
		return nil, known, err
	}
	if len(decided) < len(past) {
		known.Known = past[len(past)-len(decided)-1].End
	}
	index := map[string]int{}
	day := func(at time.Time) *yearDay {
		key := at.In(zone).Format(time.DateOnly)
		i, seen := index[key]
		if !seen {
			i = len(days)
			index[key], days = i, append(days, yearDay{Date: key})
		}
		return &days[i]
	}
	for _, o := range decided {
		if o.Ticks > 0 {
			d := day(o.Begin)
			d.Ticks, d.Failed, d.Worst = o.Ticks, o.Failed, o.Worst
			if known.First == "" || d.Date < known.First {
				known.First = d.Date
			}
		}
	}
	n, began := 0, time.Now()
	for u := range periodic.Preview([]periodic.Task{*t}, now, last) {
		if n++; n > mostOfYear || n%1000 == 0 && time.Since(began) > yearTime {
			known.Computed = u.Due
			break
		}
		day(u.Due).Coming++
	}
	return days, known, ctx.Err()
}

// midnight is when the day of a noon begins: where clocks skip midnight, an hour later.
func midnight(noon time.Time) time.Time {
	at := time.Date(noon.Year(), noon.Month(), noon.Day(), 0, 0, 0, 0, noon.Location())
	if at.Day() != noon.Day() {
		return at.Add(time.Hour)
	}
	return at
}

// drawYear draws the days of a year around now, month by month. Those that nothing is known of come first: their months are left out.
func drawYear(prefix, id string, days []yearDay, known yearKnown, zone *time.Location, now time.Time) template.HTML {
	if len(days) == 0 {
		return ""
	}
	of := make(map[string]*yearDay, len(days))
	for i := range days {
		of[days[i].Date] = &days[i]
	}
	now = now.In(zone)
	month := time.Date(now.Year(), now.Month(), 1, 12, 0, 0, 0, zone)
	for known.First != "" && month.Format(time.DateOnly) > known.First {
		month = month.AddDate(0, -1, 0)
	}
	var out strings.Builder
	for ; month.Before(now.AddDate(0, 12-monthsBack, 0)); month = month.AddDate(0, 1, 0) {
		next, ran := month.AddDate(0, 1, 0), false
		drawing := chart.Month(month, now, func(date time.Time) chart.Day {
			key := date.Format(time.DateOnly)
			d := of[key]
			switch {
			case d != nil && d.Worst == "" && d.Coming > 0:
				return chart.Day{Class: "plan"}
			case d != nil:
				ran = true
				return chart.Day{Class: show.Kind(d.Worst), Title: d.words()}
			case !known.Computed.IsZero() && date.After(known.Computed):
				return chart.Day{Class: "unknown", Title: "not computed"}
			case key < known.First, known.First == "" && date.Before(now):
				return chart.Day{Class: "unknown"}
			}
			return chart.Day{Class: "h0"}
		})
		if name := "<b>" + month.Format("Jan 2006") + "</b>" + drawing; ran {
			fmt.Fprintf(&out, `<a href="%s">%s</a>`, template.HTMLEscapeString(frame.Path(prefix, "task", "id", id, "until", next.Add(-12*time.Hour).UTC().Format(time.RFC3339))+"#history"), name)
		} else {
			out.WriteString("<span>" + name + "</span>")
		}
	}
	return template.HTML(out.String()) //nolint:gosec // package chart escapes its texts
}

// words says what is known of a day.
func (d *yearDay) words() string {
	var words []string
	if d.Ticks > 0 {
		words = append(words, fmt.Sprintf("%d decided", d.Ticks))
	}
	switch {
	case d.Failed > 0:
		words = append(words, fmt.Sprintf("%d failed", d.Failed))
	case d.Worst != "":
		words = append(words, "the worst "+d.Worst)
	}
	if d.Coming > 0 {
		words = append(words, fmt.Sprintf("%d planned", d.Coming))
	}
	return strings.Join(words, ", ")
}
