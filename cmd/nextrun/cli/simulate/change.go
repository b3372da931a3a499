package simulate

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/timer"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/periodic"
)

// columns are the names of those that --set changes.
var columns = []string{
	"catchup", "catchup_delay", "catchup_limit", "deadline", "grace", "jitter", "max_ticks", "overlap", "spread", "timer",
}

// change returns the tasks with other timers or policies.
func change(tasks []periodic.Task, set []string) ([]periodic.Task, error) {
	changed := slices.Clone(tasks)
	standard, command := periodic.NewTask("", "", ""), &cobra.Command{}
	flags := ui.NewColumnFlags(command, slices.DeleteFunc(column.OfUsers(periodic.Columns()), func(c periodic.Column) bool {
		return !slices.Contains(columns, c.Name)
	}), &standard)
	for _, text := range set {
		column, value, found := strings.Cut(text, "=")
		flag := command.Flags().Lookup(strings.ReplaceAll(column, "_", "-"))
		if !found || flag == nil {
			return nil, ui.Usagef("--set %s: use COLUMN=VALUE, where COLUMN is one of %s", text, strings.Join(columns, ", "))
		}
		if err := flag.Value.Set(value); err != nil {
			return nil, ui.Usagef("--set %s: %v", text, err)
		}
		flag.Changed = true
	}
	for i := range changed {
		before, t := changed[i], &changed[i]
		flags.Apply(t)
		if t.Timer != before.Timer || t.Pace.Spread != before.Pace.Spread || t.Pace.MaxTicks != before.Pace.MaxTicks {
			t.Due, t.NextRun = time.Time{}, periodic.Unplanned // as an edit of the row
		}
	}
	validate := func(t periodic.Task) error { t.Args = "{}"; return t.Validate() } // whatever its args are
	for i := range changed {
		if validate(tasks[i]) != nil {
			continue // as it is in the table; the report says so
		}
		if err := validate(changed[i]); err != nil {
			var wrong *calendar.ParseError
			if errors.As(err, &wrong) {
				return nil, timer.BadTimer(err)
			}
			return nil, ui.Usagef("--set: %v", err)
		}
	}
	return changed, nil
}
