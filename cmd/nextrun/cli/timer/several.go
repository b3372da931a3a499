package timer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
)

// placed is a timer with its place in a file, which is empty for an argument.
type placed struct{ timer, place string }

// nextOfSeveral is [next] for timers of the command line or of a file, in one table.
func nextOfSeveral(ctx context.Context, env *ui.Env, args []string, o nextOptions) error {
	timers, err := timersOf(ctx, env, args, o.file)
	if err != nil {
		return err
	}
	results := []nextResult{}
	wrong, never := 0, 0
	for _, one := range timers {
		result, _, err := nextOf(env, one.timer, o)
		switch {
		case err != nil:
			wrong++
			result.Error = err.Error()
			complain(env, one.place, err)
		case len(result.Elapses) == 0:
			never++
		}
		results = append(results, result)
	}
	if o.asJSON {
		err = env.PrintJSON(results)
	} else {
		err = printSeveral(env, results, o)
	}
	switch {
	case err != nil:
		return err
	case wrong > 0:
		return ui.Usagef("wrong timers: %d of %d", wrong, len(timers))
	case never > 0:
		return ui.Foundf("timers that never elapse: %d of %d", never, len(timers))
	}
	return nil
}

// timersOf are the arguments, or the lines of a file but for those that are empty or
// begin with #.
func timersOf(ctx context.Context, env *ui.Env, args []string, file string) (list []placed, err error) {
	for _, timer := range args {
		list = append(list, placed{timer: timer})
	}
	if file == "" {
		return list, nil
	}
	text, err := ui.ReadFile(ctx, env.Stdin, file)
	if err != nil {
		return nil, err
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		timer := strings.TrimSpace(line)
		if timer != "" && timer[0] != '#' {
			list = append(list, placed{timer, fmt.Sprintf("%s:%d: ", file, number)})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no timers; write one on each line", file)
	}
	return list, nil
}

// complain names what is wrong with a timer, and where.
func complain(env *ui.Env, place string, err error) {
	var parseErr *calendar.ParseError
	if !errors.As(err, &parseErr) {
		env.Complain("%s%v", place, err)
		return
	}
	env.Complain("%s%s\n\n  %s\n", place, parseErr.Msg, strings.ReplaceAll(parseErr.Caret(), "\n", "\n  "))
}

func printSeveral(env *ui.Env, results []nextResult, o nextOptions) error {
	header := []string{"TIMER", "ELAPSES", "UTC", "LEFT"}
	if o.explain {
		header = append(header, "MEANING")
	}
	t := ui.NewTable(header...).Least("UTC", "LEFT")
	if o.explain {
		t.Wrap()
	}
	findings := ui.NewTable("TIMER", "CODE", "FINDING").Wrap().IfEmpty("no problems found")
	for _, r := range results {
		for _, f := range r.Lint {
			findings.Add(r.Timer, f.Code, f.Message)
		}
		for i, cells := range lines(env, r) {
			if o.explain && i == 0 {
				cells = append(cells, r.Explanation)
			} else if o.explain {
				cells = append(cells, "")
			}
			t.Add(cells...)
		}
	}
	if err := env.PrintTable(t, nil, false); err != nil || !o.lint {
		return err
	}
	if err := env.Printf("\n"); err != nil {
		return err
	}
	return env.PrintTable(findings, nil, false)
}

// lines are the cells of a timer: one line for each elapse.
func lines(env *ui.Env, r nextResult) (list [][]any) {
	switch {
	case r.Error != "":
		return [][]any{{r.Timer, "wrong", "", ""}}
	case len(r.Elapses) == 0:
		return [][]any{{r.Timer, "never", "", ""}}
	}
	for _, e := range r.Elapses {
		list = append(list, []any{r.Timer, e.Local.Format("2006-01-02 15:04:05 MST"), e.UTC.Format("2006-01-02 15:04:05"), env.Ago(e.UTC)})
	}
	return list
}
