package timer

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/calendar/explain"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// maxElapses is the greatest number of elapses that are listed.
const maxElapses = 10_000

// nextOptions are the flags of `nextrun next`.
type nextOptions struct {
	number        int
	after         ui.TimeFlag
	explain, lint bool
	asJSON        bool
}

// NextCommand returns `nextrun next`.
func NextCommand(env *ui.Env) *cobra.Command {
	var o nextOptions
	command := &cobra.Command{
		Use:   "next 'TIMER'",
		Short: "Show when a timer elapses next",
		Long: `Show when a timer elapses next: a calendar event, a cron expression or an
interval, which counts from --after as it would in a task created then.

Exit code 3: the timer never elapses. Exit code 2: it is wrong.`,
		Example: `  nextrun next 'Mon..Fri 08:30 Europe/Berlin'
  nextrun next '*-*~1 02:00' --explain
  nextrun next '0 2 * * *' -n 3 --after 2026-03-28`,
		Args: ui.Arguments("'TIMER'"),
		RunE: func(_ *cobra.Command, args []string) error {
			if o.number < 1 || o.number > maxElapses {
				return ui.Usagef("-n is %d; use 1 to %d", o.number, maxElapses)
			}
			return next(env, args[0], o)
		},
	}
	flags := command.Flags()
	flags.IntVarP(&o.number, "limit", "n", 5, "how many elapses")
	flags.Var(&o.after, "after", "elapses after this time (default now)")
	flags.BoolVar(&o.explain, "explain", false, "explain the timer in English")
	flags.BoolVar(&o.lint, "lint", false, "point out what may surprise in the next two years")
	ui.JSONFlag(command, &o.asJSON)
	return command
}

// nextElapse is an elapse in the JSON form.
type nextElapse struct {
	Local time.Time `json:"local"`
	UTC   time.Time `json:"utc"`
	Left  float64   `json:"seconds_left"`
}

// nextResult is the JSON form of `nextrun next`.
type nextResult struct {
	Timer       string            `json:"timer"`
	NormalForm  string            `json:"normal_form"`
	Explanation string            `json:"explanation,omitempty"`
	Elapses     []nextElapse      `json:"elapses"`
	Lint        []explain.Finding `json:"lint,omitempty"`
}

func next(env *ui.Env, timer string, o nextOptions) error {
	result, zone, err := nextOf(env, timer, o)
	if err != nil {
		return BadTimer(err)
	}
	if o.asJSON {
		err = env.PrintJSON(result)
	} else {
		err = printNext(env, result, o, zone)
	}
	if err == nil && len(result.Elapses) == 0 {
		return errNever
	}
	return err
}

// nextOf asks a timer, and says in which zone people think of it.
func nextOf(env *ui.Env, timer string, o nextOptions) (nextResult, *time.Location, error) {
	after := o.after.Value
	if after.IsZero() {
		after = env.Now()
	}
	result := nextResult{Timer: timer, Elapses: []nextElapse{}}
	schedule, err := calendar.ParseAt(timer, after)
	if err != nil {
		return result, env.Zone, err
	}
	result.NormalForm = schedule.String()
	zone := ZoneOf(env, schedule)
	for _, t := range elapses(schedule, after, o.number) {
		result.Elapses = append(result.Elapses, nextElapse{t.In(zone), t.UTC(), t.Sub(env.Now()).Seconds()})
	}
	if o.explain {
		result.Explanation = explain.Schedule(schedule)
	}
	if o.lint {
		result.Lint = explain.Lint(schedule, after)
	}
	return result, zone, nil
}

// errNever makes the exit code tell that a timer never elapses.
var errNever = ui.Foundf("the timer never elapses again")

func printNext(env *ui.Env, result nextResult, o nextOptions, zone *time.Location) error {
	lines := [][2]string{{"timer", result.NormalForm}}
	if o.explain {
		lines = append(lines, [2]string{"meaning", result.Explanation})
	}
	for _, f := range result.Lint {
		lines = append(lines, [2]string{f.Code, f.Message})
	}
	if o.lint && len(result.Lint) == 0 {
		lines = append(lines, [2]string{"lint", "no problems found"})
	}
	if err := env.PrintFields(lines); err != nil {
		return err
	}
	var times []time.Time
	for _, e := range result.Elapses {
		times = append(times, e.UTC)
	}
	return PrintElapses(env, times, zone)
}

// ZoneOf is the zone in which people think of a schedule: its own, or theirs if
// it names none.
func ZoneOf(env *ui.Env, schedule calendar.Schedule) *time.Location {
	if zone := calendar.Location(schedule); zone != time.UTC {
		return zone
	}
	return env.Zone
}

// PrintElapses writes when something elapses, in a zone, or that it never does.
func PrintElapses(env *ui.Env, times []time.Time, zone *time.Location) error {
	if len(times) == 0 {
		return env.Printf("\nnever elapses\n")
	}
	if err := env.Printf("\n"); err != nil {
		return err
	}
	t := ui.NewTable("ELAPSES", "LEFT")
	for _, at := range times {
		t.Add(at.In(zone).Format("2006-01-02 15:04:05 MST"), env.Ago(at))
	}
	return env.PrintTable(t, nil, false)
}

// elapses lists the next n elapses of a schedule, fewer if there are fewer.
func elapses(schedule calendar.Schedule, after time.Time, n int) []time.Time {
	var list []time.Time
	for t := schedule.Next(after); !t.IsZero() && len(list) < n; t = schedule.Next(t) {
		list = append(list, t)
	}
	return list
}

// BadTimer is wrong usage that shows the place in a timer.
func BadTimer(err error) error {
	var parseErr *calendar.ParseError
	if !errors.As(err, &parseErr) {
		return err
	}
	return ui.Usagef("%s\n\n  %s\n", parseErr.Msg, strings.ReplaceAll(parseErr.Caret(), "\n", "\n  "))
}
