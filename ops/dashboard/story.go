package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/why"
)

// storyView is the page of what became of a tick, as `nextrun why --at` tells it.
type storyView struct {
	*why.Story

	Bars storyBars      `json:"-"`
	Zone *time.Location `json:"-"`
}

// storyBars are the steps of a story, and how long all of them lasted.
type storyBars struct {
	Bars  []storyBar
	Lasts time.Duration
}

// storyBar is a step, and its time as a part of a width of 1000.
type storyBar struct {
	why.Step

	At   string // when it began; empty: when the step before it did
	Path string
}

func (s *server) storyPage(ctx context.Context, r *http.Request) (any, error) {
	q := r.URL.Query()
	id := q.Get("id")
	if id == "" {
		return nil, frame.Bad("which task? Add ?id=ID to the address")
	}
	d := storyView{Zone: frame.Zone(r)}
	var err error
	at := time.Time{} // the newest tick
	if text := q.Get("at"); text != "" {
		if at, err = momentOf(text, d.Zone); err != nil {
			return nil, err
		}
	}
	if d.Story, err = why.Tell(ctx, s.db, id, at, d.Zone); err != nil {
		return nil, err
	}
	d.Answer = show.Shorten(show.Printable(s.mask.Line(d.Answer)), 600)
	if d.Run != nil && d.Run.Own() && d.Run.State == "success" {
		differs, err := s.unusual(ctx, id, d.Run.Took())
		if err != nil {
			return nil, err
		}
		if differs != "" {
			d.Answer += " It took " + text.Exact(d.Run.Took()) + ", " + differs + "."
		}
	}
	for i, line := range d.Output {
		d.Output[i] = show.Shorten(show.Printable(s.mask.Line(line)), 500)
	}
	d.Bars = s.bars(d.Steps, d.Zone)
	return d, nil
}

// momentOf reads a time as links and forms write it, in a zone if it names none.
func momentOf(text string, zone *time.Location) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at, nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime, "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at, nil
		}
	}
	return time.Time{}, frame.Bad("unknown time %q; use a time such as 2026-03-28 14:30", show.Printable(text))
}

// bars places steps between the first and the end of the last one.
func (s *server) bars(steps []why.Step, zone *time.Location) (bars storyBars) {
	if len(steps) == 0 {
		return bars
	}
	from := steps[0].From
	to := slices.MaxFunc(steps, func(a, b why.Step) int { return a.To.Compare(b.To) }).To
	bars.Lasts = to.Sub(from)
	place := func(at time.Time) int { return int(1000 * at.Sub(from) / max(bars.Lasts, 1)) }
	before := ""
	for i := range steps {
		step := &steps[i]
		step.Text = show.Shorten(show.Printable(s.mask.Line(step.Text)), 500)
		layout, at := "15:04:05.000", step.From.In(zone)
		if at.Format(time.DateOnly) != from.In(zone).Format(time.DateOnly) {
			layout = "2 Jan 15:04:05"
		}
		bar := storyBar{Step: *step, At: at.Format(layout)}
		x := min(place(step.From), 994)
		bar.Path = fmt.Sprintf("M%d 18v-15h%dv15z", x, max(place(step.To)-x, 6))
		if bar.At == before {
			bar.At = ""
		}
		before, bars.Bars = at.Format(layout), append(bars.Bars, bar)
	}
	return bars
}

// Took is how long the step lasted.
func (b storyBar) Took() time.Duration { return b.To.Sub(b.From) }

// Field is a time as the form has it.
func (d storyView) Field(at time.Time) string { return at.In(d.Zone).Format("2006-01-02T15:04:05") }
