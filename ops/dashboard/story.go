package dashboard

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/nextrun/nextrun/internal/diagnosis"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

// storyView is the page of what became of a tick, as `nextrun why --at` tells it.
type storyView struct {
	*diagnosis.Story

	Bars []storyBar
	Zone *time.Location
}

// storyBar is a step as a part of a width of 1000.
type storyBar struct {
	diagnosis.Step

	X, Width int
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
	if d.Story, err = diagnosis.Tell(ctx, s.db, id, at, d.Zone); err != nil {
		return nil, err
	}
	d.Answer = show.Shorten(show.Printable(s.mask.Line(d.Answer)), 600)
	for i, line := range d.Output {
		d.Output[i] = show.Shorten(show.Printable(s.mask.Line(line)), 500)
	}
	for i, step := range d.Steps {
		d.Steps[i].Text = show.Shorten(show.Printable(s.mask.Line(step.Text)), 500)
	}
	d.scale()
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

// scale places the steps from the first to the last one.
func (d *storyView) scale() {
	if len(d.Steps) == 0 {
		return
	}
	from, to := d.Steps[0].From, d.Steps[0].To
	for _, step := range d.Steps {
		if step.To.After(to) {
			to = step.To
		}
	}
	place := func(at time.Time) int { return int(1000 * at.Sub(from) / cmp.Or(to.Sub(from), 1)) }
	for _, step := range d.Steps {
		x := min(place(step.From), 994)
		d.Bars = append(d.Bars, storyBar{step, x, max(place(step.To)-x, 6)})
	}
}

// Took is how long the step lasted.
func (b storyBar) Took() time.Duration { return b.To.Sub(b.From) }

// Clock is a time to the millisecond, with the day if that is not the one of the tick.
func (d storyView) Clock(at time.Time) string {
	at = at.In(d.Zone)
	if at.YearDay() != d.Due.In(d.Zone).YearDay() {
		return at.Format("2 Jan 15:04:05")
	}
	return at.Format("15:04:05.000")
}

// Field is a time as the form has it.
func (d storyView) Field(at time.Time) string { return at.In(d.Zone).Format("2006-01-02T15:04:05") }
