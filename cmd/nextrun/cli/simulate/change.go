package simulate

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/timer"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

// columns are those that --set changes.
var columns = map[string]func(t *periodic.Task, value string) error{
	"timer": func(t *periodic.Task, value string) error {
		if t.Timer != value {
			t.Timer, t.Due, t.NextRun = value, time.Time{}, periodic.Unplanned
		}
		return nil
	},
	"overlap":  func(t *periodic.Task, value string) error { t.Overlap = periodic.Overlap(value); return nil },
	"catchup":  func(t *periodic.Task, value string) error { t.Catchup = periodic.Catchup(value); return nil },
	"grace":    func(t *periodic.Task, value string) error { return seconds(&t.Grace, value) },
	"jitter":   func(t *periodic.Task, value string) error { return seconds(&t.Jitter, value) },
	"deadline": deadline,
}

// change returns the tasks with other timers or policies.
func change(tasks []periodic.Task, set []string) ([]periodic.Task, error) {
	changed := slices.Clone(tasks)
	for _, text := range set {
		column, value, found := strings.Cut(text, "=")
		edit, known := columns[column]
		if !found || !known {
			return nil, ui.Usagef("--set %s: use COLUMN=VALUE, where COLUMN is one of %s", text,
				strings.Join(slices.Sorted(maps.Keys(columns)), ", "))
		}
		for i := range changed {
			if err := edit(&changed[i], value); err != nil {
				return nil, ui.Usagef("--set %s: %v", text, err)
			}
		}
	}
	for i := range changed {
		if tasks[i].ValidateArgs(periodic.ArgsAny) != nil {
			continue // as it is in the table; the report says so
		}
		if err := changed[i].ValidateArgs(periodic.ArgsAny); err != nil {
			var wrong *calendar.ParseError
			if errors.As(err, &wrong) {
				return nil, timer.BadTimer(err)
			}
			return nil, ui.Usagef("--set: %v", err)
		}
	}
	return changed, nil
}

func seconds(into *time.Duration, value string) error {
	var f ui.SecondsFlag
	if err := f.Set(value); err != nil {
		return err
	}
	*into = *f.Value
	return nil
}

func deadline(t *periodic.Task, value string) error {
	f := ui.SecondsFlag{AllowNone: true}
	err := f.Set(value)
	t.Deadline = f.Value
	return err
}
