package timer

import (
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
)

// previewResult is the JSON form of the preview.
type previewResult struct {
	Ticks   []previewLine `json:"ticks"`
	Total   int           `json:"total"` // ticks, listed or not
	Busiest []busyMinute  `json:"busiest"`
	Skips   []skippedTick `json:"skips"`
}

// previewLine is a tick of the preview, in its JSON form.
type previewLine struct {
	ID      string    `json:"id"`
	NextRun time.Time `json:"nextrun"`
	Due     time.Time `json:"due"`

	repeats int           // how many ticks of a frequent task it stands for; 0: it is one
	every   time.Duration // between them; 0: it differs
}

// text says how often a task runs: every 5 s: 720 times.
func (l *previewLine) text() string {
	times := ui.Counted(l.repeats, "time")
	switch {
	case l.repeats == 0:
		return ""
	case l.every == 0:
		return times
	case l.every%time.Second != 0:
		return "every " + text.Exact(l.every) + ": " + times
	}
	return "every " + text.Text(l.every) + ": " + times
}

// skippedTick is a tick that somebody leaves out, in its JSON form.
type skippedTick struct {
	ID string `json:"id"`
	days.LeftOut
}

// skippedTicks are the ticks of tasks that people leave out before a time.
func skippedTicks(tasks []periodic.Task, now, until time.Time) []skippedTick {
	list := []skippedTick{}
	for i := range tasks {
		for _, s := range tasks[i].SkipsToCome(now) {
			if s.Due.Before(until) {
				list = append(list, skippedTick{tasks[i].ID, s})
			}
		}
	}
	return list
}

// busyMinute is a minute with several ticks, in its JSON form.
type busyMinute struct {
	Minute time.Time `json:"minute"`
	Ticks  int       `json:"ticks"`
}

func printPreview(env *ui.Env, r previewResult, o previewOptions) error {
	if err := env.PrintTable(r.table(env, o), nil, false); err != nil {
		return err
	}
	if more := r.Total - r.listed(); more > 0 {
		if err := env.Printf("and %d more; -n 0 shows all\n", more); err != nil {
			return err
		}
	}
	for i, c := range r.Skips {
		if err := env.Printf("%s%s: tick of %s: %s\n", "\n"[min(i, 1):], ui.Cell(c.ID), env.Moment(c.Due), ui.Cell(view.Because(periodic.CausePerson, c.Reason))); err != nil {
			return err
		}
	}
	if len(r.Busiest) == 0 {
		return nil
	}
	busiest := ui.NewTable("BUSIEST MINUTES", "TICKS")
	for _, b := range r.Busiest {
		busiest.Add(env.Moment(b.Minute), b.Ticks)
	}
	if err := env.Printf("\n"); err != nil {
		return err
	}
	return env.PrintTable(busiest, nil, false)
}

// table has a line for each tick, and for each frequent task.
func (r previewResult) table(env *ui.Env, o previewOptions) *ui.Table {
	isFrequent := slices.ContainsFunc(r.Ticks, func(line previewLine) bool { return line.repeats > 0 })
	header := []string{"NEXT RUN", "LEFT", "TASK"}
	if isFrequent {
		header = append(header, "REPEATS")
	}
	t := ui.NewTable(header...).Least("LEFT").
		IfEmpty(fmt.Sprintf("no ticks in the next %s; --hours looks further", ahead(*o.span.Value)))
	for _, line := range r.Ticks {
		cells := []any{env.Moment(line.NextRun), env.Ago(line.NextRun), line.ID}
		if isFrequent {
			cells = append(cells, line.text())
		}
		t.Add(cells...)
	}
	return t
}

// listed is how many ticks the lines stand for.
func (r previewResult) listed() (n int) {
	for _, line := range r.Ticks {
		n += max(line.repeats, 1)
	}
	return n
}
