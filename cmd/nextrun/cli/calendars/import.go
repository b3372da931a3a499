package calendars

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/cmd/nextrun/ical"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
)

// yearsAhead is for how many years events that recur become rows.
const yearsAhead = 10

func importCommand(env *ui.Env) *cobra.Command {
	var i importing
	command := &cobra.Command{
		Use:   "import FILE.ics",
		Short: "Add the days of an iCalendar file to a calendar",
		Long: `Add the days of an iCalendar file (RFC 5545), such as one of public holidays, to a calendar.
Events that recur become rows from last year on, for ten years to come. What is there
already is left alone, so a second import changes nothing. An event that cannot be read is
named with its line and left out, and the exit code is 1.`,
		Example: `  nextrun calendar import de-BY.ics --dry-run
  nextrun calendar import holidays.ics --name de-BY --replace`,
		Args: ui.Arguments("FILE.ics"),
		RunE: func(c *cobra.Command, args []string) error {
			if i.name == "" {
				i.name = strings.TrimSuffix(filepath.Base(args[0]), filepath.Ext(args[0]))
			}
			return i.file(c.Context(), env, args[0])
		},
	}
	command.Flags().StringVar(&i.name, "name", "", "of the calendar (default that of the file, without .ics)")
	command.Flags().BoolVar(&i.replace, "replace", false, "remove the rows of the calendar that are not in the file")
	command.Flags().BoolVar(&i.dryRun, "dry-run", false, "show what would be added, and change nothing")
	return command
}

// importing is what to do with the calendar of a name.
type importing struct {
	name            string
	replace, dryRun bool
}

// file imports a file.
func (i *importing) file(ctx context.Context, env *ui.Env, path string) error {
	text, err := ui.ReadFile(env.Stdin, path)
	if err != nil {
		return err
	}
	now := env.Now().UTC()
	rows, problems := ical.Read(string(text), i.name, now.AddDate(-1, 0, 0), now.AddDate(yearsAhead, 0, 0))
	for _, p := range problems {
		env.Complain("%s:%d: left out: %v", path, p.Line, p.Err)
	}
	for _, r := range rows {
		if err := r.Validate(); err != nil {
			return ui.Usagef("%v; choose a name with --name", err)
		}
	}
	err = withRows(ctx, env, func(calendars *periodic.Calendars, have []days.Row) error {
		return i.change(ctx, env, calendars, of(have, i.name), rows)
	})
	if err == nil && len(problems) > 0 {
		err = errors.New("some events were left out")
	}
	return err
}

// change adds the rows that a calendar does not have, and removes others.
func (i *importing) change(ctx context.Context, env *ui.Env, calendars *periodic.Calendars, have, rows []days.Row) error {
	add, remove := days.Changes(have, rows)
	if !i.replace || len(rows) == 0 {
		remove = nil
	}
	if !i.dryRun {
		if err := calendars.Change(ctx, add, remove); err != nil {
			return err
		}
		return env.Printf("calendar %s: added %s, removed %d; %d were there already\n", i.name, ui.Counted(len(add), "row"), len(remove), len(rows)-len(add))
	}
	for _, r := range add {
		if err := env.Printf("add %s %s\n", ui.Cell(r.When()), ui.Cell(r.Reason)); err != nil {
			return err
		}
	}
	return env.Printf("calendar %s: %s to add, %d to remove\n", i.name, ui.Counted(len(add), "row"), len(remove))
}
