package timer

import (
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
)

// previewResult is the JSON form of the preview.
type previewResult struct {
	Ticks    []previewLine  `json:"ticks"`
	Frequent []frequentTask `json:"frequent"`
	Total    int            `json:"total"` // ticks, listed or not
	Busiest  []busyMinute   `json:"busiest"`
	Changed  []changedTick  `json:"overrides"`

	lines []previewLine // of both, by time; those of frequent tasks are their first ticks
}

// previewLine is a tick of the preview, in its JSON form.
type previewLine struct {
	Change  string    `json:"change,omitempty"` // + or -
	ID      string    `json:"id"`
	NextRun time.Time `json:"nextrun"`
	Due     time.Time `json:"due"`

	frequent *frequentTask // whose first tick this is
}

// changedTick is a tick that somebody has skipped or moved, in its JSON form.
type changedTick struct {
	ID string `json:"id"`
	days.Effect
}

// changedTicks are the ticks of tasks that people have skipped or moved, or have moved to before a time.
func changedTicks(tasks []periodic.Task, now, until time.Time) []changedTick {
	list := []changedTick{}
	for i := range tasks {
		for _, e := range tasks[i].Overridden(now) {
			if e.Due.Before(until) || !e.To.IsZero() && e.To.Before(until) {
				list = append(list, changedTick{tasks[i].ID, e})
			}
		}
	}
	return list
}

// frequentTask stands for many ticks of a task, in its JSON form.
type frequentTask struct {
	Change string    `json:"change,omitempty"` // + or -
	ID     string    `json:"id"`
	Ticks  int       `json:"ticks"`
	Every  *float64  `json:"every"` // seconds; null: they are not evenly spaced
	First  time.Time `json:"first"`
	Last   time.Time `json:"last"`
}

// text says how often a task runs: every 5 s: 720 times.
func (f *frequentTask) text() string {
	times := ui.Counted(f.Ticks, "time")
	if f.Every == nil {
		return times
	}
	every := time.Duration(*f.Every * float64(time.Second))
	if every%time.Second != 0 {
		return "every " + span.Exact(every) + ": " + times
	}
	return "every " + span.Text(every) + ": " + times
}

// busyMinute is a minute with several ticks, in its JSON form.
type busyMinute struct {
	Minute  time.Time    `json:"minute"`
	Ticks   int          `json:"ticks"`
	Spreads []spreadPeak `json:"spreads,omitempty"` // what they would leave
}

func printPreview(env *ui.Env, r previewResult, o previewOptions) error {
	if o.asJSON {
		return env.PrintJSON(r)
	}
	if err := env.PrintTable(r.table(env, o), nil, false); err != nil {
		return err
	}
	if more := r.Total - r.listed(); more > 0 {
		if err := env.Printf("and %d more; -n 0 shows all\n", more); err != nil {
			return err
		}
	}
	for i, c := range r.Changed {
		if err := env.Printf("%s%s: tick of %s: %s\n", "\n"[min(i, 1):], ui.Cell(c.ID), env.Moment(c.Due), ui.Cell(c.Text)); err != nil {
			return err
		}
	}
	if len(r.Busiest) == 0 {
		return nil
	}
	header := []string{"BUSIEST MINUTES", "TICKS", "AT MOST, WITH A SPREAD"}
	if !slices.ContainsFunc(r.Busiest, func(b busyMinute) bool { return len(b.Spreads) > 0 }) {
		header = header[:2]
	}
	busiest := ui.NewTable(header...)
	for _, b := range r.Busiest {
		busiest.Add([]any{env.Moment(b.Minute), b.Ticks, b.spreadText()}[:len(header)]...)
	}
	if err := env.Printf("\n"); err != nil {
		return err
	}
	return env.PrintTable(busiest, nil, false)
}

// table has a line for each tick, and for each frequent task.
func (r previewResult) table(env *ui.Env, o previewOptions) *ui.Table {
	isUTC := !slices.ContainsFunc(r.lines, func(line previewLine) bool { return differsFromUTC(line.NextRun, env.Zone) })
	header := []string{"NEXT RUN", "UTC", "LEFT", "TASK"}
	if isUTC {
		header = slices.Delete(header, 1, 2)
	}
	if len(r.Frequent) > 0 {
		header = append(header, "REPEATS")
	}
	t := ui.NewTable(header...).Least("UTC", "LEFT").
		IfEmpty(fmt.Sprintf("no ticks in the next %s; --hours looks further", o.span.words()))
	for _, line := range r.lines {
		when := env.Moment(line.NextRun)
		if line.Change != "" {
			when = line.Change + " " + when
		}
		cells := []any{when, line.NextRun.UTC().Format(time.DateTime), env.Ago(line.NextRun), line.ID}
		if isUTC {
			cells = slices.Delete(cells, 1, 2)
		}
		switch {
		case line.frequent != nil:
			cells = append(cells, line.frequent.text())
		case len(r.Frequent) > 0:
			cells = append(cells, "")
		}
		t.Add(cells...)
	}
	return t
}

// listed is how many ticks the lines stand for.
func (r previewResult) listed() int {
	n := len(r.Ticks)
	for _, f := range r.Frequent {
		n += f.Ticks
	}
	return n
}
