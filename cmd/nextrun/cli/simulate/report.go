package simulate

import (
	"fmt"
	"io"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/chart"
	"github.com/nextrun/nextrun/internal/explain"
	"github.com/nextrun/nextrun/internal/simulate"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/periodic"
)

// report is what a simulation has shown, and what it has shown with other settings.
type report struct {
	options
	tasks, changed []periodic.Task
	now, then      *simulate.Result // then is nil without --set
	unknown        []string         // of which tasks it is not known how long jobs take
	limits         string           // that there are limits, which the replay does not know
	unseen         []string         // whose queue cannot be asked for jobs that have not ended
}

// last is the result with all that --set says.
func (r *report) last() (*simulate.Result, []periodic.Task) {
	if r.then != nil {
		return r.then, r.changed
	}
	return r.now, r.tasks
}

func (r *report) write(env *ui.Env) error {
	switch {
	case r.asJSON:
		return env.PrintJSON(r.json())
	case r.asSVG:
		return r.draw(env)
	}
	t := ui.NewTable("TASK", "SUBMITTED", "SKIPPED", "MISSED", "LATE", "WAIT AT THE END", "JOBS TAKE", "PROBLEM").IfEmpty("no tasks")
	for i, task := range r.now.Tasks {
		c := func(of func(simulate.Task) string) string { return r.cell(i, of) }
		t.Add(task.ID, c(count(periodic.Submitted)), c(count(periodic.Skipped)), c(count(periodic.Missed)), c(count(periodic.Late)),
			c(func(t simulate.Task) string { return fmt.Sprint(t.Left) }),
			c(func(t simulate.Task) string { return span.Text(t.Busy) }),
			c(func(t simulate.Task) string { return t.Problem }))
	}
	if err := env.PrintTable(t, nil, false); err != nil {
		return err
	}
	if err := r.writeWhole(env); err != nil {
		return err
	}
	return r.writeClocks(env)
}

func count(d periodic.Decision) func(simulate.Task) string {
	return func(t simulate.Task) string { return fmt.Sprint(t.Counts[d]) }
}

// cell is a figure of a task, and what becomes of it with other settings.
func (r *report) cell(i int, of func(simulate.Task) string) string {
	before := of(r.now.Tasks[i])
	if r.then == nil {
		return before
	}
	return arrow(before, of(r.then.Tasks[i]))
}

func arrow(before, after string) string {
	if before == after {
		return before
	}
	return before + " -> " + after
}

// writeWhole writes what is true of all tasks together.
func (r *report) writeWhole(env *ui.Env) error {
	both := func(of func(*simulate.Result) string) string {
		if r.then == nil {
			return of(r.now)
		}
		return arrow(of(r.now), of(r.then))
	}
	if err := env.Printf("\n"); err != nil {
		return err
	}
	return env.PrintFields([][2]string{
		{"from", env.Moment(r.now.From)},
		{"to", env.Moment(r.now.To)},
		{"jobs", both(func(s *simulate.Result) string { return fmt.Sprint(s.Jobs) })},
		{"at a time", both(func(s *simulate.Result) string {
			if s.Most == 0 {
				return "0"
			}
			return fmt.Sprintf("at most %d, first at %s", s.Most, env.Moment(s.At))
		})},
		{"busiest hour", both(func(s *simulate.Result) string {
			hour, jobs := s.Busiest()
			if jobs == 0 {
				return "none"
			}
			return fmt.Sprintf("%s, jobs: %d", env.Moment(hour), jobs)
		})},
		{"unknown", named("how long jobs take of: ", r.unknown, "; they end at once here, see --durations")},
		{"left out", r.limits},
		{"not asked", named("the queues of: ", r.unseen, "; if jobs of theirs run now, this does not count them: "+ui.NameTheFile)},
	})
}

// named is a sentence about some tasks; empty if there are none.
func named(before string, all []string, after string) string {
	if len(all) == 0 {
		return ""
	}
	return before + ui.Named(all) + after
}

// clockChange is what a change of the clock does to a task.
type clockChange struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Message string    `json:"message"`
}

// clocks are the changes of the clock that matter in the time of the simulation.
func (r *report) clocks() []clockChange {
	result, tasks := r.last()
	list := []clockChange{}
	for i := range tasks {
		t := &tasks[i]
		schedule, err := calendar.ParseAt(t.Timer, t.Anchor())
		if err != nil || !t.Enabled {
			continue
		}
		for _, f := range explain.Lint(schedule, result.From, 0) {
			if !f.At.IsZero() && !f.At.Before(result.From) && f.At.Before(result.To) && f.Code != explain.LintNever {
				list = append(list, clockChange{t.ID, f.At, f.Message})
			}
		}
	}
	return list
}

func (r *report) writeClocks(env *ui.Env) error {
	for _, c := range r.clocks() {
		if err := env.Printf("%s: %s\n", ui.Printable(c.ID), c.Message); err != nil {
			return err
		}
	}
	return nil
}

// draw draws the jobs of each day.
func (r *report) draw(env *ui.Env) error {
	result, _ := r.last()
	days := map[string]int{}
	for i, n := range result.Hours {
		days[result.Hour(i).In(env.Zone).Format(time.DateOnly)] += n
	}
	start := result.From.In(env.Zone)
	start = time.Date(start.Year(), start.Month(), start.Day(), 12, 0, 0, 0, env.Zone)
	drawing := chart.Year(start, func(day time.Time) chart.Day {
		n := days[day.Format(time.DateOnly)]
		return chart.Day{Count: n, Title: fmt.Sprintf("jobs: %d", n)}
	})
	if result.To.Sub(result.From) > 366*24*time.Hour {
		env.Complain("only the first year is drawn")
	}
	_, err := io.WriteString(env.Stdout, chart.File(drawing))
	return err
}

// resultJSON is a result as JSON has it: null if there is none.
func resultJSON(s *simulate.Result) any {
	if s == nil {
		return nil
	}
	tasks := []ui.Object{}
	for _, t := range s.Tasks {
		tasks = append(tasks, ui.Object{
			{"id", t.ID}, {"submitted", t.Counts[periodic.Submitted]}, {"skipped", t.Counts[periodic.Skipped]},
			{"missed", t.Counts[periodic.Missed]}, {"late", t.Counts[periodic.Late]}, {"waiting_at_the_end", t.Left},
			{"seconds_busy", t.Busy.Seconds()}, {"problem", ui.OrNull(t.Problem)},
		})
	}
	hour, jobs := s.Busiest()
	return ui.Object{
		{"jobs", s.Jobs}, {"most_at_a_time", s.Most}, {"most_at", ui.OrNull(s.At)}, {"busiest_hour", ui.OrNull(hour)},
		{"busiest_hour_jobs", jobs}, {"tasks", tasks},
	}
}

func (r *report) json() ui.Object {
	return ui.Object{
		{"from", r.now.From.UTC()}, {"to", r.now.To.UTC()}, {"now", resultJSON(r.now)}, {"with_set", resultJSON(r.then)},
		{"unknown_durations", append([]string{}, r.unknown...)}, {"unknown_queues", append([]string{}, r.unseen...)}, {"clock_changes", r.clocks()},
	}
}
