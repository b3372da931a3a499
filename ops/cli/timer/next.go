// Package timer holds `nextrun next`, about one timer, and `nextrun preview`,
// about those of all tasks. [ZoneOf] and [BadTimer] are for others who show elapses or errors of timers.
package timer

import (
	"cmp"
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

// next is the JSON form of `nextrun next`.
type next struct {
	Timer       string            `json:"timer"`
	NormalForm  string            `json:"normal_form"`
	Explanation string            `json:"explanation"`
	Elapses     []elapse          `json:"elapses"`
	Lint        []explain.Finding `json:"lint,omitempty"`
}

type elapse struct {
	Local time.Time `json:"local"`
	UTC   time.Time `json:"utc"`
	Left  float64   `json:"seconds_left"`
}

// nextOptions are the flags of `nextrun next`.
type nextOptions struct {
	number int
	after  ui.TimeFlag
	asJSON bool
}

// NextCommand returns `nextrun next`.
func NextCommand(env *ui.Env) *cobra.Command {
	var o nextOptions
	command := &cobra.Command{
		Use:   "next 'TIMER'",
		Short: "Show when a timer elapses next, and what it means",
		Long: `Show when a timer elapses next: a calendar event, a cron expression or an
interval, which counts from --after as it would in a task created then. It is
explained in English, with what may surprise in the two years after --after.

Exit code 3: the timer never elapses. Exit code 2: it is wrong.`,
		Example: `  nextrun next 'Mon..Fri 08:30 Europe/Berlin'
  nextrun next '0 2 * * *' -n 3 --after 2026-03-28`,
		Args: ui.Arguments("'TIMER'"),
		RunE: func(_ *cobra.Command, args []string) error {
			if o.number < 1 || o.number > maxElapses {
				return ui.Usagef("-n is %d; use 1 to %d", o.number, maxElapses)
			}
			return o.run(env, args[0])
		},
	}
	flags := command.Flags()
	flags.IntVarP(&o.number, "limit", "n", 5, "how many elapses")
	flags.Var(&o.after, "after", "elapses after this time (default now)")
	ui.JSONFlag(command, &o.asJSON)
	return command
}

// run asks a timer.
func (o *nextOptions) run(env *ui.Env, timer string) error {
	if o.after.Value.IsZero() {
		o.after.Value = env.Now()
	}
	schedule, err := calendar.ParseAt(timer, o.after.Value)
	if err != nil {
		return BadTimer(err)
	}
	n := next{
		Timer: timer, NormalForm: schedule.String(), Elapses: elapses(env, schedule, o.after.Value, o.number),
		Explanation: explain.Schedule(schedule), Lint: explain.Lint(schedule, o.after.Value),
	}
	if o.asJSON {
		err = env.PrintJSON(n)
	} else {
		err = n.print(env)
	}
	if err == nil && len(n.Elapses) == 0 {
		return ui.Foundf("the timer never elapses again")
	}
	return err
}

// elapses are the next ones of a schedule, as many as are wanted if there are so many.
func elapses(env *ui.Env, schedule calendar.Schedule, after time.Time, number int) []elapse {
	list, zone := []elapse{}, ZoneOf(env, schedule)
	for t := schedule.Next(after); !t.IsZero() && len(list) < number; t = schedule.Next(t) {
		list = append(list, elapse{t.In(zone), t.UTC(), t.Sub(env.Now()).Seconds()})
	}
	return list
}

func (n *next) print(env *ui.Env) error {
	lines := [][2]string{{"timer", n.NormalForm}, {"meaning", n.Explanation}}
	for _, f := range n.Lint {
		lines = append(lines, [2]string{f.Code, f.Message})
	}
	t := ui.NewTable("ELAPSES", "LEFT").IfEmpty("never elapses")
	for _, e := range n.Elapses {
		t.Add(e.Local.Format("2006-01-02 15:04:05 MST"), env.Ago(e.UTC))
	}
	return cmp.Or(env.PrintFields(lines), env.Printf("\n"), env.PrintTable(t, nil, false))
}

// ZoneOf is the zone in which people think of a schedule: its own, or theirs if
// it names none.
func ZoneOf(env *ui.Env, schedule calendar.Schedule) *time.Location {
	if zone := calendar.Location(schedule); zone != time.UTC {
		return zone
	}
	return env.Zone
}

// BadTimer is wrong usage that shows the place in a timer.
func BadTimer(err error) error {
	var parseErr *calendar.ParseError
	if !errors.As(err, &parseErr) {
		return err
	}
	return ui.Usagef("%s\n\n  %s\n", parseErr.Msg, strings.ReplaceAll(parseErr.Caret(), "\n", "\n  "))
}
